"""The body of a PUT on its way into the drive: streamed to the blobs by the event loop, then recorded."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session
from wsgidav.dav_error import DAVError

from drive_server.http.dav.call import DavCall
from drive_server.http.dav.places import declared_size
from drive_server.http.dav.sign_in import key_of
from drive_server.http.headers.bytes import chosen_type
from drive_server.http.headers.dates import date_of_headers
from drive_server.http.items.contents import require_upload_fits, store_body
from drive_server.kernel.access import Actor, Guard, Scope
from drive_server.kernel.errors import NameConflictError
from drive_server.models.changes import Outcome
from drive_server.models.items import Item
from drive_server.services.quota import Room
from drive_server.services.saves.recognition import Destination
from drive_server.services.tree.names import clean_name
from drive_server.storage.blobs import Blob

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


class _CloserLookError(Exception):
    """Raised in a change that locks, or a save that it may be part of, stand against."""


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
        self._locked_id = target.item.id if target.item is not None else target.folder_id or ""
        self._date = date_of_headers(call.request.headers)

    def writelines(self, lines: Iterable[Any]) -> None:
        """Store the body. `lines` is wsgidav's reader of it, which finds it read."""
        self._blob = self._call.wait(self._store)
        for _ in lines:
            pass

    def close(self) -> None:
        """Record the content."""
        outcome = self._call.wait(self._record_unchanged)
        if outcome is None:
            self._check()
            outcome = self._call.wait(self._record)
        self._recorded(outcome.value)
        if self._date is not None:
            self._call.headers |= ACCEPTED

    async def _store(self) -> Blob:
        call, declared = self._call, declared_size(self._call)
        require_upload_fits(call.drive, declared)
        return await store_body(call.request, call.drive, await self._room(declared))

    async def _room(self, declared: int) -> Room | None:
        call, target, documents = self._call, self._target, self._call.drive.documents
        place_id = target.item.id if target.item is not None else target.folder_id
        if place_id is None:
            return None
        if (room := call.rooms.pop(place_id, None)) is not None:
            return room
        if target.item is not None:
            return await documents.check_file(call.actor, place_id, declared, if_match=target.if_match)
        return await documents.check_place(call.actor, place_id, target.name, declared)

    async def _record_unchanged(self) -> Outcome[Item] | None:
        """Record the content in one transaction with all checks; None if that takes a closer look at its place."""
        proof, missed = await self._proof(), self._missed()

        async def check(session: AsyncSession) -> None:
            if proof is not None:
                await proof(session)
            if not await session.run_sync(self._is_unlocked) or (missed is not None and await missed(session)):
                raise _CloserLookError

        try:
            return await self._keep(replace(self._call.actor, guard=check))
        except _CloserLookError:
            return None

    def _is_unlocked(self, session: Session) -> bool:
        around = self._call.drive.dav_locks.around_sync(session.connection(), self._locked_id)
        return not around.covering

    def _missed(self) -> Callable[[AsyncSession], Awaitable[bool]] | None:
        """Return the check whether a file is missed at the name; None where that can't be."""
        call, target = self._call, self._target
        if self._blob is None or self._blob.size == 0 or target.folder_id is None or (target.item and target.item.size):
            return None
        to = Destination(target.folder_id, clean_name(target.name))
        return lambda session: call.drive.saves.is_save(session, call.actor, to, began=call.began)

    async def _proof(self) -> Guard | None:
        """Return the check whether the key still holds: the bytes may have come for hours."""
        call = self._call
        return None if call.visit else await call.drive.identity.guard(key_of(call.request), Scope.WRITE)

    async def _record(self) -> Outcome[Item]:
        call, target = self._call, self._target
        actor, item = replace(call.actor, guard=await self._proof()), target.item
        if self._blob is not None and target.folder_id is not None and (item is None or item.size == 0):
            to = Destination(target.folder_id, clean_name(target.name))
            saves, media_type = call.drive.saves, self._media_type()
            if saved := await saves.write(actor, to, self._blob, media_type, began=call.began, modified_at=self._date):
                return saved
        return await self._keep(actor)

    def _media_type(self) -> str | None:
        return chosen_type(self._call.request.headers.get("content-type", "")) if self._blob else None

    async def _keep(self, actor: Actor) -> Outcome[Item]:
        """Make the file, or its new content."""
        call, target, documents = self._call, self._target, self._call.drive.documents
        blob, media_type, item = self._blob or await call.drive.blobs.put_bytes(b""), self._media_type(), target.item
        # Of a file that was made empty first, only the content tells the type.
        is_first = item is not None and item.size == 0 and target.if_match is None
        if target.folder_id is not None and (item is None or is_first):
            choice = "fail" if target.is_new else "replace"
            try:
                return await documents.create_from_blob(
                    actor, target.folder_id, target.name, blob, media_type, choice, modified_at=self._date
                )
            except NameConflictError as error:
                raise DAVError(HTTPStatus.PRECONDITION_FAILED) from error
        if item is None:
            raise DAVError(HTTPStatus.CONFLICT)
        return await documents.replace_from_blob(
            actor, item.id, blob, media_type, if_match=target.if_match, modified_at=self._date
        )
