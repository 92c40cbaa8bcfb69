"""The lock manager that wsgidav asks, over the drive's locks: in the database, so that all processes agree."""

from collections.abc import Collection, Generator, Iterable
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Final, TypedDict

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a compiled module without stubs
from wsgidav.dav_error import (
    DAVError,
    DAVErrorCondition,
    PRECONDITION_CODE_LockConflict,
    PRECONDITION_CODE_MissingLockToken,
)
from wsgidav.xml_tools import string_to_xml

from drive_server.http.dav.call import DavCall, RefusedError
from drive_server.http.dav.href import href_of
from drive_server.kernel.clock import utc_now
from drive_server.kernel.errors import NotFoundError, TooLargeError
from drive_server.kernel.messages import Message
from drive_server.services.webdav.locks import DavLock, DavLockConflictError

MAX_OWNER_CHARACTERS: Final = 4096


class LockEntry(TypedDict):
    """A lock as wsgidav reads it."""

    token: str
    root: str
    principal: str


class CallLocks:
    """The locks for one call, with the methods of wsgidav's `LockManager`. Items are named by `/` and their id."""

    def __init__(self, call: DavCall) -> None:
        self._call = call
        self._locks = call.drive.dav_locks

    def check_write_permission(self, *, url: str, depth: str, token_list: Collection[str], principal: str) -> None:
        """Raise 423 if a lock covers the item whose token was not sent; with infinite depth, or one below it."""
        item_id = _id_of(url)
        around = self._call.locks.pop(item_id, None) or self._call.wait(self._locks.around, item_id)
        found = (*around.covering, *around.inside) if depth == "infinity" else around.covering
        against = [lock for lock in found if lock.user_id != principal or lock.token not in token_list]
        if against:
            raise self._locked(PRECONDITION_CODE_MissingLockToken, against)

    @contextmanager
    def write_transaction(self, *, url: str, token_list: Collection[str], principal: str) -> Generator[None]:
        """Do nothing: the check is repeated right before a content is recorded, see `FileResource`."""
        del url, token_list, principal
        yield

    def get_indirect_url_lock_list(self, url: str, *, principal: str | None = None) -> list[LockEntry]:
        """Return the locks that cover the item, of everybody or one person."""
        covering = self._call.wait(self._locks.around, _id_of(url)).covering
        return [_entry(lock) for lock in covering if principal in (None, lock.user_id)]

    def acquire(
        self,
        *,
        url: str,
        lock_type: str,
        lock_scope: str,
        lock_depth: str,
        lock_owner: bytes,
        timeout: int | None,
        principal: str,
        token_list: Collection[str],
    ) -> LockEntry:
        """Lock the item. Raises 423 if other locks stand against it."""
        del lock_type, token_list
        owner = lock_owner.decode(errors="replace")
        if len(owner) > MAX_OWNER_CHARACTERS:
            raise RefusedError(TooLargeError(Message.of("property_too_large", limit=MAX_OWNER_CHARACTERS)))
        try:
            lock = self._call.wait(
                self._locks.create,
                principal,
                _id_of(url),
                is_shared=lock_scope == "shared",
                is_deep=lock_depth == "infinity",
                owner=owner,
                seconds=timeout,
            )
        except DavLockConflictError as error:
            raise self._locked(PRECONDITION_CODE_LockConflict, error.locks) from error
        return _entry(lock)

    def refresh(self, token: str, *, timeout: int | None = None) -> LockEntry:
        """Let the lock hold anew. Raises 412 if it holds no more."""
        lock = self._call.wait(self._locks.refresh, token, timeout)
        if lock is None:
            raise DAVError(HTTPStatus.PRECONDITION_FAILED)
        return _entry(lock)

    def is_url_locked_by_token(self, url: str, lock_token: str) -> bool:
        """Return whether the lock covers the item."""
        covering = self._call.wait(self._locks.around, _id_of(url)).covering
        return any(lock.token == lock_token for lock in covering)

    def is_token_locked_by_user(self, token: str, principal: str) -> bool:
        """Return whether the lock is the person's."""
        lock = self._call.wait(self._locks.find, token)
        return lock is not None and lock.user_id == principal

    def release(self, token: str) -> None:
        """End the lock."""
        self._call.wait(self._locks.release, token)

    def describe(self, locks: Iterable[DavLock]) -> Any:
        """Return the locks as the element `lockdiscovery`."""
        found = etree.Element("{DAV:}lockdiscovery")
        for lock in locks:
            self._describe(etree.SubElement(found, "{DAV:}activelock"), lock)
        return found

    def root_of(self, lock: DavLock) -> str:
        """Return the address of the locked item, that of the root if the caller does not see it."""
        try:
            item = self._call.wait(self._call.drive.files.get, self._call.actor, lock.node_id)
        except RefusedError as error:
            if not isinstance(error.error, NotFoundError):
                raise
            return href_of(self._call.mount, "/", is_folder=True)
        return href_of(self._call.mount, item.path, is_folder=item.kind == "folder")

    def _describe(self, active: Any, lock: DavLock) -> None:
        etree.SubElement(etree.SubElement(active, "{DAV:}locktype"), "{DAV:}write")
        scope = "shared" if lock.is_shared else "exclusive"
        etree.SubElement(etree.SubElement(active, "{DAV:}lockscope"), f"{{DAV:}}{scope}")
        etree.SubElement(active, "{DAV:}depth").text = "infinity" if lock.is_deep else "0"
        if lock.owner:
            active.append(string_to_xml(lock.owner.encode()))
        left = max(1, int((lock.expires_at - utc_now()).total_seconds()))
        etree.SubElement(active, "{DAV:}timeout").text = f"Second-{left}"
        etree.SubElement(etree.SubElement(active, "{DAV:}locktoken"), "{DAV:}href").text = lock.token
        etree.SubElement(etree.SubElement(active, "{DAV:}lockroot"), "{DAV:}href").text = self.root_of(lock)

    def _locked(self, code: str, locks: Iterable[DavLock]) -> DAVError:
        condition = DAVErrorCondition(code)
        for lock in locks:
            condition.add_href(self.root_of(lock))
        self._call.refusal = DAVError(HTTPStatus.LOCKED, err_condition=condition)
        return self._call.refusal


def _entry(lock: DavLock) -> LockEntry:
    return LockEntry(token=lock.token, root=f"/{lock.node_id}", principal=lock.user_id)


def _id_of(url: str) -> str:
    return url.strip("/")
