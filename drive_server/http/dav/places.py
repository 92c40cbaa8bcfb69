"""From a path to the item: in a person's own tree, among items that others share with them, or below a guest's link."""

import unicodedata
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from drive_server.http.dav.call import DavCall, DavLocation
from drive_server.kernel.errors import DriveError, NotFoundError
from drive_server.models.items import Item
from drive_server.services.saves.departures import DELETED
from drive_server.services.tree.nodes import SHARED_FOLDER
from drive_server.services.webdav.locks import LocksAround

PAGE_ITEMS: Final = 500
MOUNT_DEPTH: Final = 2
LENGTHS: Final = ("content-length", "x-expected-entity-length")
"""The second is macOS's, whose bodies come in chunks without a length."""
MAX_DIGITS: Final = 18
WITH_FOLDER: Final = frozenset({"PUT", "MKCOL", "DELETE", "MOVE", "COPY", "LOCK"})


def names_in(path: str) -> list[str]:
    """Return the names that a path is made of, in NFC as the drive has them."""
    return [name for name in unicodedata.normalize("NFC", path).split("/") if name]


def path_of(names: Sequence[str]) -> str:
    """Return the path of the names."""
    return "/" + "/".join(names)


def is_mount_of_share(path: str) -> bool:
    """Return whether the path is that of a thing directly among the shared ones, unless an own folder hides those."""
    names = names_in(path)
    return len(names) == MOUNT_DEPTH and names[0] == SHARED_FOLDER


async def prefetch(session: AsyncSession, call: DavCall) -> None:
    """Read the place, its room and its locks in the transaction that looks up the key: another costs more than that.

    Find the place, for changes also its folder and its locks, and for a body the room.

    An error is left to whoever asks again: it is told in its own place.
    """
    names = names_in(call.path)
    has_folder = call.request.method in WITH_FOLDER and bool(names)
    await session.run_sync(_find, call, [names, names[:-1]] if has_folder else [names])
    if call.request.method == "PUT":
        await _prepare_body(session, call, names)


def declared_size(call: DavCall) -> int:
    """Return how many bytes the client says that it sends, 0 if it does not say."""
    values = (call.request.headers.get(name, "") for name in LENGTHS)
    return max((int(value[:MAX_DIGITS]) for value in values if value.isdecimal()), default=0)


async def rejoin(call: DavCall, path: str) -> None:
    """Take back that the caller just left the shared file at the path: a program deleted it, to write it anew."""
    names = names_in(path)
    if not is_mount_of_share(path) or await find_place(call, path) is not None:
        return
    change_id = await call.drive.sharing.rejoin(call.actor, names[1], call.began - DELETED)
    if change_id is not None:
        await call.drive.undo.undo(call.actor, change_id=change_id)
        call.places.clear()


def place_at(call: DavCall, path: str) -> DavLocation | None:
    """Return the place as `find_place` does, for the call's own thread, which waits only for one that is not known."""
    where = path_of(names_in(path))
    return call.places[where] if where in call.places else call.wait(find_place, call, path)


async def find_place(call: DavCall, path: str) -> DavLocation | None:
    """Return the place at the path, None if there is nothing, or nothing that the caller sees."""
    names = names_in(path)
    where = path_of(names)
    if where not in call.places:
        try:
            call.places[where] = DavLocation(where, await _item_at(call, names))
        except NotFoundError:
            call.places[where] = None
    return call.places[where]


async def children_of(call: DavCall, place: DavLocation) -> AsyncIterator[list[DavLocation]]:
    """Yield the items of a folder, in lists of bounded length."""
    if place.item is None:
        shown = await _shared(call) if not call.is_guest else {(top := await _top(call)).name: top}
        yield [DavLocation(f"{place.path.rstrip('/')}/{name}", item) for name, item in shown.items()]
        return
    cursor, has_shared = None, place.path != "/" or call.is_guest
    while True:
        page = await call.drive.files.list_folder(call.actor, place.item.id, limit=PAGE_ITEMS, cursor=cursor)
        has_shared = has_shared or any(item.name == SHARED_FOLDER for item in page.items)
        yield [DavLocation(f"{place.path.rstrip('/')}/{item.name}", item) for item in page.items]
        cursor = page.cursor
        if cursor is None:
            break
    if not has_shared and await _is_shared_with(call):
        yield [DavLocation(f"/{SHARED_FOLDER}", None)]


async def _item_at(call: DavCall, names: Sequence[str]) -> Item | None:
    if call.is_guest:
        return await _item_of_link(call, names)
    try:
        return await call.drive.files.find(call.actor, call.top, names)
    except NotFoundError:
        if not names or names[0] != SHARED_FOLDER or not await _is_shared_with(call):
            raise
    if len(names) == 1:
        return None
    shared = (await _shared(call)).get(names[1])
    if shared is None:
        raise NotFoundError("There is no such item.")
    return await call.drive.files.find(call.actor, shared.id, names[2:])


async def _item_of_link(call: DavCall, names: Sequence[str]) -> Item | None:
    """A link to a file shows a folder with the file in it: programs mount folders only."""
    top = await _top(call)
    if top.kind == "folder":
        return await call.drive.files.find(call.actor, top.id, names)
    if names and list(names) != [top.name]:
        raise NotFoundError("There is no such item.")
    return top if names else None


async def _top(call: DavCall) -> Item:
    return await call.drive.files.get(call.actor, call.top)


async def _is_shared_with(call: DavCall) -> bool:
    return bool((await call.drive.sharing.shared_with_me(call.actor, limit=1)).items)


async def _shared(call: DavCall) -> dict[str, Item]:
    """Return the items shared with the caller by their names here: equal names get a part of the item's id."""
    items: list[Item] = []
    cursor: str | None = None
    while True:
        page = await call.drive.sharing.shared_with_me(call.actor, limit=PAGE_ITEMS, cursor=cursor)
        items += page.items
        cursor = page.cursor
        if cursor is None:
            break
    counts = Counter(item.name for item in items)
    return {item.name if counts[item.name] == 1 else _distinct(item): item for item in items}


def _distinct(item: Item) -> str:
    stem, dot, suffix = item.name.rpartition(".")
    mark = f" ({item.id[:8]})"
    return f"{stem}{mark}{dot}{suffix}" if stem else f"{item.name}{mark}"


def _find(session: Session, call: DavCall, places: list[list[str]]) -> None:
    for names in places:
        where = path_of(names)
        try:
            item = call.drive.files.find_sync(session.connection(), call.actor, call.top, names)
        except NotFoundError:
            if not names or names[0] != SHARED_FOLDER:  # which may be that of other people
                call.places[where] = None
        except DriveError:
            continue
        else:
            call.places[where] = DavLocation(where, item)


async def _prepare_body(session: AsyncSession, call: DavCall, names: Sequence[str]) -> None:
    documents, size = call.drive.documents, declared_size(call)
    place, folder = (call.places.get(path_of(part)) for part in (names, names[:-1]))
    found = place or folder
    if found is None or found.item is None:
        return
    try:
        if place is not None:
            room = await documents.check_file_in(session, call.actor, found.item.id, size)
        else:
            room = await documents.check_place_in(session, call.actor, found.item.id, names[-1], size)
    except DriveError:
        return
    call.rooms[found.item.id] = room
    call.locks[found.item.id] = await session.run_sync(_locks_around, call, found.item.id)


def _locks_around(session: Session, call: DavCall, item_id: str) -> LocksAround:
    return call.drive.dav_locks.around_sync(session.connection(), item_id)
