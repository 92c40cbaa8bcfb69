"""Routes for search and its index."""

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request, status

from drive_server.drive import Drive
from drive_server.http.access import ActorDep, DriveDep
from drive_server.http.lists import HitList
from drive_server.kernel.access import Actor, Scope, require_scope
from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.http.languages import language_of
from drive_server.kernel.messages import Language
from drive_server.mcp.tools.definition.arguments import MAX_EMAIL_CHARACTERS, MAX_HITS
from drive_server.mcp.tools.index import IndexResult
from drive_server.models.base import Page
from drive_server.models.search import Hit
from drive_server.services.journal.changes import MAX_MOMENT_CHARACTERS
from drive_server.services.search.filters import MAX_TYPES, SearchFilter
from drive_server.services.search.service import MAX_QUERY_CHARACTERS, with_nothing_found
from drive_server.services.tree.items import MAX_CURSOR_CHARACTERS
from drive_server.services.tree.nodes import MAX_REF_CHARACTERS

router = APIRouter(tags=["drive"])

Mode = Literal["name", "text", "hybrid"]
BELOW_NAMES = 0.6
MAX_WAIT_SECONDS = 30


async def _filter(
    types: Annotated[list[str], Query(alias="type", max_length=MAX_TYPES)] = [],  # noqa: B006 - never changed
    modified_after: Annotated[str | None, Query(max_length=MAX_MOMENT_CHARACTERS)] = None,
    modified_before: Annotated[str | None, Query(max_length=MAX_MOMENT_CHARACTERS)] = None,
    belongs_to: Annotated[str | None, Query(max_length=MAX_EMAIL_CHARACTERS)] = None,
) -> SearchFilter:
    return SearchFilter(tuple(types), modified_after, modified_before, belongs_to)


@router.get("/search", name="search")
async def search(
    request: Request,
    drive: DriveDep,
    actor: ActorDep,
    q: Annotated[str, Query(max_length=MAX_QUERY_CHARACTERS)] = "",
    mode: Mode = "hybrid",
    kind: Literal["file", "folder"] | None = None,
    folder_id: Annotated[str | None, Query(max_length=MAX_REF_CHARACTERS)] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_HITS)] = 20,
    cursor: Annotated[str | None, Query(max_length=MAX_CURSOR_CHARACTERS)] = None,
    *,
    only: Annotated[SearchFilter, Depends(_filter)],
) -> HitList:
    """Find by names, by names and exact words (`text`), or by names and meaning (`hybrid`, which has no pages).

    Without `q`, list the items that the folder, kind and other filters leave, the last changed first. A kind searches
    names and exact words.
    """
    language = language_of(request)
    if mode == "hybrid" and q.strip() and kind is None:
        if cursor is not None:
            raise InvalidInputError("A hybrid search has no pages.", hint="Leave the cursor out, or raise the limit.")
        page = await _hybrid(drive, actor, q, folder_id, only, limit, language)
    else:
        page = await drive.search.find(
            actor, q, folder=folder_id, kind=kind, only=only, limit=limit, cursor=cursor, language=language
        )
        page = _names_of(page) if mode == "name" else page
    found = page if cursor is not None else with_nothing_found(page, q, language)
    return HitList.of(found, drive.address)


@router.get("/index", name="index_status")
async def index_status(
    drive: DriveDep, actor: ActorDep, wait_seconds: Annotated[float, Query(ge=0, le=MAX_WAIT_SECONDS)] = 0
) -> IndexResult:
    """Tell how far the caller's files can be searched; while some are unfinished, wait for progress that long."""
    require_scope(actor.principal, Scope.READ)
    return IndexResult.of(await drive.ingester.status(actor.user_id, wait_seconds))


@router.post("/index/rebuild", name="rebuild_index", status_code=status.HTTP_202_ACCEPTED)
async def rebuild_index(drive: DriveDep, actor: ActorDep) -> IndexResult:
    """Read all files of the caller anew, in the background.

    An administrator's call, or anybody's after a damaged index could not be built anew, drops it unread and builds all
    of it.
    """
    require_scope(actor.principal, Scope.WRITE)
    await drive.ingester.rebuild(None if actor.principal.is_admin else actor.user_id)
    return IndexResult.of(await drive.ingester.status(actor.user_id))


async def _hybrid(
    drive: Drive, actor: Actor, query: str, folder: str | None, only: SearchFilter, limit: int, language: Language
) -> Page[Hit]:
    """Find passages by meaning, and before them items by name: a picture has a name but no passages."""
    named, fitting = await drive.search.hybrid(actor, query, folder=folder, only=only, limit=limit, language=language)
    best = max((hit.score for hit in fitting.items), default=0.0) or 1.0
    passages = [replace(hit, score=BELOW_NAMES * hit.score / best) for hit in fitting.items]
    return Page((*named, *passages)[:limit], note=fitting.note)


def _names_of(page: Page[Hit]) -> Page[Hit]:
    """Return the hits by name: those before the first passage, as only passages have a length."""
    names = tuple(hit for hit in page.items if hit.end == 0)
    return replace(page, items=names, cursor=page.cursor if len(names) == len(page.items) else None)
