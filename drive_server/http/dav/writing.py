"""The body of a PUT on its way into the drive: streamed to the blobs by the event loop, then recorded."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from wsgidav.dav_error import DAVError

from drive_server.access import Scope, require_scope
from drive_server.errors import NameConflictError
from drive_server.http.dav.call import DavCall
from drive_server.http.dav.sign_in import sign_in
from drive_server.http.headers.bytes import chosen_type
from drive_server.http.headers.dates import date_of_headers
from drive_server.http.items.contents import require_upload_fits, store_body
from drive_server.models.changes import Outcome
from drive_server.models.items import Item
from drive_server.services.saves.recognition import Destination
from drive_server.services.tree.names import clean_name
from drive_server.storage.blobs import Blob

LENGTHS: Final = ("content-length", "x-expected-entity-length")
"""The second is macOS's, whose bodies come in chunks without a length."""
MOST_DIGITS: Final = 18
ACCEPTED: Final = {"X-OC-MTime": "accepted"}
"""The answer to a client whose date the content got."""


@dataclass(frozen=True, slots=True)
class Target:
    """The file to write: the item if there is one already, its folder if the caller sees that, its name.

    `if_match` is the etag that the item must still have; `is_new`: the client wants to make a file, not to replace one.
    """

    item: Item | None
    folder_id: str | None
    name: str
    if_match: str | None
    is_new: bool


class Writer:
    """Takes the body as wsgidav's request server hands it on: `writelines`, then `close`.

    `check` is called once the body is there, before it counts: the locks may have changed; `recorded` after that.
    """

    def __init__(
        self, call: DavCall, target: Target, check: Callable[[], None], recorded: Callable[[Item], None]
    ) -> None:
        self._call = call
        self._target = target
        self._check = check
        self._recorded = recorded
        self._blob: Blob | None = None
        self._date = date_of_headers(call.request.headers)

    def writelines(self, lines: Iterable[Any]) -> None:
        """Store the body. `lines` is wsgidav's reader of it, which finds it read."""
        self._blob = self._call.wait(self._store)
        for _ in lines:
            pass

    def close(self) -> None:
        """Record the content."""
        self._check()
        self._recorded(self._call.wait(self._record).value)
        if self._date is not None:
            self._call.headers |= ACCEPTED

    async def _store(self) -> Blob:
        call, target, declared = self._call, self._target, self._declared()
        require_upload_fits(call.drive, declared)
        documents, room = call.drive.documents, None
        if target.item is not None:
            room = await documents.check_file(call.actor, target.item.id, declared, if_match=target.if_match)
        elif target.folder_id is not None:
            room = await documents.check_place(call.actor, target.folder_id, target.name, declared)
        blob = await store_body(call.request, call.drive, room)
        if call.visit is None:  # the bytes may have come for hours
            require_scope((await sign_in(call.drive, call.request)).principal, Scope.WRITE)
        return blob

    async def _record(self) -> Outcome[Item]:
        call, target, documents = self._call, self._target, self._call.drive.documents
        blob = self._blob or await call.drive.blobs.put_bytes(b"")
        media_type = chosen_type(call.request.headers.get("content-type", "")) if self._blob else None
        item = target.item
        if target.folder_id is not None and (item is None or item.size == 0):
            to = Destination(target.folder_id, clean_name(target.name))
            saves = call.drive.saves
            if saved := await saves.write(call.actor, to, blob, media_type, began=call.began, modified_at=self._date):
                return saved
        # Of a file that was made empty first, only the content tells the type.
        is_first = item is not None and item.size == 0 and target.if_match is None
        if target.folder_id is not None and (item is None or is_first):
            choice = "fail" if target.is_new else "replace"
            try:
                return await documents.create_from_blob(
                    call.actor, target.folder_id, target.name, blob, media_type, choice, modified_at=self._date
                )
            except NameConflictError as error:
                raise DAVError(HTTPStatus.PRECONDITION_FAILED) from error
        if item is None:
            raise DAVError(HTTPStatus.CONFLICT)
        return await documents.replace_from_blob(
            call.actor, item.id, blob, media_type, if_match=target.if_match, modified_at=self._date
        )

    def _declared(self) -> int:
        headers = self._call.request.headers
        values = (headers.get(name, "") for name in LENGTHS)
        return max((int(value[:MOST_DIGITS]) for value in values if value.isdecimal()), default=0)
