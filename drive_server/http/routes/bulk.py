"""`POST /api/drive/items/bulk`: one action on many items, with a result for each."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from fastapi import Request, Response
from pydantic import BaseModel, ConfigDict, Field

from drive_server.drive import Drive
from drive_server.http.access import DriveDep, WriterDep
from drive_server.http.items.routers import DriveRouter
from drive_server.http.items.views import ItemView, views_of
from drive_server.http.items.writes import MAX_ETAG_CHARACTERS, reply
from drive_server.kernel.access import Actor
from drive_server.kernel.errors import DriveError
from drive_server.kernel.http.languages import language_of
from drive_server.kernel.http.problem import Problem, problem_body, problem_responses
from drive_server.kernel.messages import Language
from drive_server.models.items import BulkEntry, BulkOutcome, OnConflict
from drive_server.services.files.bulk import MAX_ITEMS, BulkChange, BulkItem
from drive_server.services.tree.nodes import MAX_REF_CHARACTERS

router = DriveRouter(prefix="/items", tags=["drive"])

Ref = Annotated[str, Field(min_length=1, max_length=MAX_REF_CHARACTERS)]


class BulkItemBody(BaseModel):
    """An item, and the etag at which it was seen: if it changed since, its result is `etag_mismatch`."""

    model_config = ConfigDict(extra="forbid")

    id: Ref
    if_match: Annotated[str | None, Field(max_length=MAX_ETAG_CHARACTERS)] = None


class BulkBody(BaseModel):
    """An action on each of the items. `parent_id` is where to move or copy to, or to restore to if not to before."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "action": "move",
                    "items": [{"id": "7b1c..."}, {"id": "90fe...", "if_match": "90fe2c11-4"}],
                    "parent_id": "root",
                    "on_conflict": "rename",
                }
            ]
        },
    )

    action: Literal["move", "copy", "trash", "restore", "delete", "star", "unstar"]
    items: Annotated[list[BulkItemBody], Field(min_length=1, max_length=MAX_ITEMS)]
    parent_id: Ref | None = None
    on_conflict: OnConflict = "fail"


class BulkItemResult(BaseModel):
    """The outcome for one item, which `id` names as the request did: the item as it is now, or the problem."""

    id: str
    item: ItemView | None
    problem: Problem | None

    @classmethod
    def of(cls, entry: BulkEntry, items: Iterator[ItemView], language: Language) -> "BulkItemResult":
        """Return the outcome as it is on the wire; if it has an item, that is the next one of `items`."""
        found = problem_body(entry.problem, language) if entry.problem else None
        return cls(id=entry.ref, item=next(items) if entry.item else None, problem=found)


class BulkResult(BaseModel):
    """The outcomes in the order of the request. `changed` items have no problem; `change_id` undoes them as one."""

    results: list[BulkItemResult]
    changed: int
    change_id: int | None


@router.post("/bulk", name="change_items", responses=problem_responses(403, 404, 409, 507))
async def change_items(
    body: BulkBody, drive: DriveDep, actor: WriterDep, request: Request, response: Response
) -> BulkResult:
    """Move, copy, trash, restore, delete for good, star or unstar up to 500 items, each for itself.

    An item that the action fails for stays as it is and has its problem; the rest is done, as one change that one undo
    takes back. Stars are no changes: they are a mark of the caller's own. With an `Idempotency-Key` the whole request
    happens once.
    """
    if body.action in ("star", "unstar"):
        done, change_id = await _starred(drive, actor, body), None
    else:
        items = [BulkItem(item.id, item.if_match) for item in body.items]
        wanted = BulkChange(body.action, items, body.parent_id, body.on_conflict)
        outcome = await drive.bulk.change(actor, wanted)
        done, change_id = reply(response, outcome), outcome.change_id
    language = language_of(request)
    items = iter(await views_of(drive, actor, [entry.item for entry in done.results if entry.item]))
    results = [BulkItemResult.of(entry, items, language) for entry in done.results]
    return BulkResult(results=results, changed=done.changed, change_id=change_id)


async def _starred(drive: Drive, actor: Actor, body: BulkBody) -> BulkOutcome:
    mark = drive.stars.star if body.action == "star" else drive.stars.unstar
    entries: list[BulkEntry] = []
    for item in body.items:
        try:
            entries.append(BulkEntry(ref=item.id, item=await mark(actor, item.id)))
        except DriveError as error:
            if error.status >= 500:
                raise
            found: dict[str, Any] = {"status": error.status, **error.to_dict()}
            entries.append(BulkEntry(ref=item.id, problem=found))
    return BulkOutcome(results=tuple(entries), changed=sum(entry.problem is None for entry in entries))
