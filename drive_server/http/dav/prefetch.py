"""Read what a call needs first in the transaction that finds out who makes it: each other one costs more than that."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from drive_server.errors import DriveError, NotFoundError
from drive_server.http.dav.call import DavCall, Place
from drive_server.http.dav.places import names_in, path_of
from drive_server.services.tree.nodes import SHARED_FOLDER
from drive_server.services.webdav.locks import LocksAround

LENGTHS: Final = ("content-length", "x-expected-entity-length")
"""The second is macOS's, whose bodies come in chunks without a length."""
MOST_DIGITS: Final = 18
WITH_FOLDER: Final = frozenset({"PUT", "MKCOL", "DELETE", "MOVE", "COPY", "LOCK"})


async def prefetch(session: AsyncSession, call: DavCall) -> None:
    """Find the place, for changes also its folder and its locks, and for a body the room.

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
    return max((int(value[:MOST_DIGITS]) for value in values if value.isdecimal()), default=0)


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
            call.places[where] = Place(where, item)


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
