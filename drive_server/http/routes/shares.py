"""Routes for shares of an item: people by email, and links."""

from typing import Annotated

from fastapi import Query, Response, status
from pydantic import BaseModel, ConfigDict, Field, Strict

from drive_server.http.access import ActorDep, DriveDep, WriterDep
from drive_server.http.items.routers import DriveRouter
from drive_server.http.items.routes import ItemRoute
from drive_server.http.items.writes import CHANGE_ID
from drive_server.http.lists import ShareList
from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.http.problem import problem_responses
from drive_server.mcp.results import ShareResult
from drive_server.mcp.tools.definition.arguments import MAX_EMAIL_CHARACTERS, GivenRole, OptionalRole
from drive_server.mcp.tools.sharing import SharingTools
from drive_server.services.sharing.link_passwords import MAX_CHARACTERS, MIN_CHARACTERS
from drive_server.services.sharing.links import MAX_DOWNLOADS, MAX_HOURS, TERMS, LinkTerms, Term
from drive_server.services.tree.grantees import is_group
from drive_server.services.tree.items import MAX_CURSOR_CHARACTERS, MAX_LIMIT

router = DriveRouter(prefix="/items", tags=["drive"], route_class=ItemRoute)


class Terms(BaseModel):
    """The terms of a link. `expires_in_hours` counts from now, `max_downloads` from the link's beginning."""

    model_config = ConfigDict(extra="forbid")

    expires_in_hours: Annotated[int | None, Strict(), Field(ge=1, le=MAX_HOURS)] = None
    password: Annotated[str | None, Field(min_length=MIN_CHARACTERS, max_length=MAX_CHARACTERS)] = None
    max_downloads: Annotated[int | None, Strict(), Field(ge=1, le=MAX_DOWNLOADS)] = None


class NewShare(Terms):
    """With an `email`, a role for that person, or for a group as `group:NAME`; without one a link.

    A link alone has the other terms.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"email": "ada@example.com", "role": "editor"}, {"role": "viewer", "expires_in_hours": 72}]
        },
    )

    email: Annotated[str | None, Field(max_length=MAX_EMAIL_CHARACTERS)] = None
    role: GivenRole = "viewer"


class ShareChange(Terms):
    """A change of a share: the role; of a link also its terms, and the ones to `remove`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"role": "viewer"}, {"expires_in_hours": 24, "remove": ["password"]}]},
    )

    role: OptionalRole = None
    remove: Annotated[list[Term], Field(max_length=len(TERMS))] = []


@router.get("/{item_ref:path}/shares", name=SharingTools.list_shares.__name__)
async def list_shares(
    item_ref: str,
    drive: DriveDep,
    actor: ActorDep,
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = 100,
    cursor: Annotated[str | None, Query(max_length=MAX_CURSOR_CHARACTERS)] = None,
) -> ShareList:
    """List who has access to an item besides its owner: people, then links."""
    return ShareList.of(await drive.links.list_access(actor, item_ref, limit, cursor))


@router.post(
    "/{item_ref:path}/shares",
    name=SharingTools.share_item.__name__,
    status_code=status.HTTP_201_CREATED,
    responses=problem_responses(409),
)
async def create_share(item_ref: str, new: NewShare, drive: DriveDep, actor: WriterDep) -> ShareResult:
    """Give a person a role on an item, or make a link to it."""
    terms = LinkTerms(new.role, new.expires_in_hours, new.password, new.max_downloads)
    if new.email is None:
        return ShareResult.of((await drive.links.create(actor, item_ref, terms)).value)
    _require_role_only(terms)
    return ShareResult.of((await drive.sharing.share(actor, item_ref, new.email, new.role)).value)


@router.patch(
    "/{item_ref:path}/shares/{who}", name=SharingTools.update_share.__name__, responses=problem_responses(409)
)
async def update_share(item_ref: str, who: str, change: ShareChange, drive: DriveDep, actor: WriterDep) -> ShareResult:
    """Change the role of a person or group, named as in the list, or the role and terms of a link, named by id."""
    terms = LinkTerms(
        change.role, change.expires_in_hours, change.password, change.max_downloads, frozenset(change.remove)
    )
    if not _is_person(who):
        return ShareResult.of((await drive.links.update(actor, item_ref, who, terms)).value)
    _require_role_only(terms)
    return ShareResult.of((await drive.sharing.update(actor, item_ref, who, change.role or "")).value)


@router.delete(
    "/{item_ref:path}/shares/{who}",
    name=SharingTools.revoke_share.__name__,
    response_model=ShareResult,
    responses={**problem_responses(409), status.HTTP_204_NO_CONTENT: {"description": "The caller's own share ended"}},
)
async def revoke_share(item_ref: str, who: str, drive: DriveDep, actor: WriterDep) -> ShareResult | Response:
    """Revoke the role of a person or group, named as in the list, or end a link, named by id; return its last state.

    Whoever names their own email leaves the share, and gets no content.
    """
    if not _is_person(who):
        return ShareResult.of((await drive.links.revoke(actor, item_ref, who)).value)
    outcome = await drive.sharing.revoke(actor, item_ref, who)
    if outcome.value.email != actor.principal.email:
        return ShareResult.of(outcome.value)
    headers = {CHANGE_ID: str(outcome.change_id)} if outcome.change_id is not None else {}
    return Response(status_code=status.HTTP_204_NO_CONTENT, headers=headers)


def _is_person(who: str) -> bool:
    return "@" in who or is_group(who)


def _require_role_only(terms: LinkTerms) -> None:
    if terms != LinkTerms(terms.role):
        raise InvalidInputError("A person's access has a role and nothing else.", hint="Leave the other terms out.")
