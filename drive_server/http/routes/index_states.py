"""`GET /api/drive/items/{id}/index`: whether a file can be searched, or why not; of a folder, how many files can."""

from typing import Final, Literal

from fastapi import Request
from pydantic import BaseModel

from drive_server.http.access import ActorDep, DriveDep
from drive_server.http.items.routers import DriveRouter
from drive_server.http.items.routes import ItemRoute
from drive_server.kernel.http.languages import language_of
from drive_server.kernel.http.problem import problem_responses
from drive_server.kernel.messages import Language, Message, render
from drive_server.knowledge.text.omissions import OMISSION_KINDS, omission_message
from drive_server.knowledge.text.unreadable import unreadable_sentence
from drive_server.models.items import IndexState
from drive_server.models.search import IndexStatus
from drive_server.services.search.folder_index import FileState

router = DriveRouter(prefix="/items", tags=["drive"], route_class=ItemRoute)

Summary = Literal["pending", "indexing", "indexed", "skipped", "failed"]
PARTLY: Final = "index.partly"
CODES: Final = {
    "pending": "index.pending",
    "indexing": "index.indexing",
    "ready": "index.ready",
    "unsupported": "index.unsupported",
    "needs_password": "index.needs_password",
    "needs_ocr": "index.needs_ocr",
    "failed": "index.failed",
}


class OmissionResult(BaseModel):
    """Things of one kind that were met in a file and not read."""

    kind: str
    count: int
    text: str


class ItemIndexResult(BaseModel):
    """The index of an item.

    Of a file: `state`, with `index_state` as items have it, and in the caller's language a `sentence` and a `hint` at
    the next step; `reason` says why it was not read, or not whole, and `omissions` the parts of the file left out, by
    kind (`count`, and a `text` in the caller's language); `properties` of a photo are `taken_at`, `place` and `camera`;
    null in the trash, where files are not in the index. Of a folder: the number of all files below it by `state`, in
    `counts`.
    """

    id: str
    kind: Literal["file", "folder"]
    state: Summary | None = None
    index_state: IndexState | None = None
    sentence: str = ""
    hint: str = ""
    reason: str = ""
    omissions: list[OmissionResult] = []
    properties: dict[str, str] = {}
    counts: dict[Summary, int] | None = None


@router.get("/{item_ref:path}/index", name="item_index", responses=problem_responses(403, 404))
async def item_index(item_ref: str, request: Request, drive: DriveDep, actor: ActorDep) -> ItemIndexResult:
    """Tell whether the text of a file can be searched, or why not; of a folder, how many files below it can."""
    item = await drive.files.get(actor, item_ref)
    if item.kind == "folder":
        status = await drive.folder_index.status(actor, item.id)
        return ItemIndexResult.model_validate({"id": item.id, "kind": item.kind, "counts": status.summary})
    found = await drive.folder_index.of_file(actor, item.id)
    return _of_file(item.id, found, language_of(request))


def _of_file(file_id: str, found: FileState, language: Language) -> ItemIndexResult:
    if found.state is None:
        return ItemIndexResult(id=file_id, kind="file")
    code = PARTLY if found.is_partial else CODES[found.state]
    hint = f"{code}.hint"
    (state,) = (name for name, count in IndexStatus({found.state: 1}).summary.items() if count)
    return ItemIndexResult.model_validate(
        {
            "id": file_id,
            "kind": "file",
            "state": state,
            "index_state": found.state,
            "sentence": render(Message.of(code), language),
            "hint": render(Message.of(hint), language),
            "reason": unreadable_sentence(found.omissions, language) or found.reason,
            "omissions": [
                {"kind": kind, "count": count, "text": render(omission_message(kind, count), language)}
                for kind, count in found.omissions.items()
                if kind in OMISSION_KINDS
            ],
            "properties": found.properties,
        }
    )
