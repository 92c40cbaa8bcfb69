"""The header `If` (RFC 4918, section 10.4): true if all conditions of one of its lists are, wherever they lead."""

from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote_to_bytes, urlsplit

from wsgidav.dav_error import DAVError
from wsgidav.util import parse_if_header_dict

from drive_server.http.dav.call import DavCall, DavLocation
from drive_server.http.dav.places import names_in, path_of, place_at
from drive_server.services.saves.recognition import Destination

Condition = tuple[bool, str, str]
MAX_CHARACTERS: Final = 8192
PARSED: Final = "wsgidav.conditions.if"


def require_conditions(call: DavCall, environ: Any) -> None:
    """Raise 412 unless the header is true, or missing; 400 if it can't be read. The lock tokens that were sent stay."""
    if len(environ.get("HTTP_IF", "")) > MAX_CHARACTERS:
        raise DAVError(HTTPStatus.BAD_REQUEST)
    parse_if_header_dict(environ)
    lists: dict[str, list[list[Condition]]] | None = environ[PARSED]
    if lists is None:
        return
    if not any(lists.values()):
        raise DAVError(HTTPStatus.BAD_REQUEST)
    environ[PARSED] = {}
    if not any(_holds(call, tag, one) for tag, several in lists.items() for one in several):
        raise DAVError(HTTPStatus.PRECONDITION_FAILED)


def path_below(mount: str, address: str) -> str | None:
    """Return the path of an address below the mount, None for one that is elsewhere. Raises 400 if it is no UTF-8."""
    try:
        raw = urlsplit(address).path if "://" in address else address.partition("#")[0].partition("?")[0]
        path = unquote_to_bytes(raw).decode()
    except ValueError as error:
        raise DAVError(HTTPStatus.BAD_REQUEST) from error
    if path != mount and not path.startswith(f"{mount}/"):
        return None
    return path[len(mount) :] or "/"


def _holds(call: DavCall, tag: str, conditions: list[Condition]) -> bool:
    path = call.path if tag == "*" else path_below(call.mount, tag)
    place = place_at(call, path) if path is not None else None
    if path is not None and place is None:
        return all(_was_met(call, path, kind, value) == expected for expected, kind, value in conditions)
    return all(_is_met(call, place, kind, value) == expected for expected, kind, value in conditions)


def _was_met(call: DavCall, path: str, kind: str, value: str) -> bool:
    """Return whether a file had this lock at the path, from which a program took it away for a moment to save it."""
    *above, name = names_in(path) or [""]
    folder = place_at(call, path_of(above))
    if kind == "entity" or folder is None or folder.item is None:
        return False
    return call.wait(call.drive.saves.holds_lock, call.actor, Destination(folder.item.id, name), value)


def _is_met(call: DavCall, place: DavLocation | None, kind: str, value: str) -> bool:
    if place is None or place.item is None:
        return False
    if kind == "entity":
        return value == place.item.etag
    covering = call.wait(call.drive.dav_locks.around, place.item.id).covering
    return any(lock.token == value for lock in covering)
