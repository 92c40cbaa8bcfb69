"""The answer to a PROPFIND, written page by page: a folder of any size takes the memory of one page."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final, Literal, NamedTuple

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a compiled module without stubs
from wsgidav.dav_error import DAVError
from wsgidav.util import add_property_response, parse_xml_body
from wsgidav.xml_tools import make_multistatus_el

from drive_server.http.dav.call import DavCall, DavLocation
from drive_server.http.dav.described import CHECKSUMS, DAV, LOCK_PROPERTIES, Described
from drive_server.http.dav.places import children_of
from drive_server.http.dav.resources import resource_at

HEAD: Final = b'<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:">\n'
TAIL: Final = b"</D:multistatus>\n"
MAX_PROPERTIES: Final = 500
"""Properties that a request may name."""

Mode = Literal["allprop", "name", "named"]


class Wanted(NamedTuple):
    """The properties asked for: named ones, all (and the `names` included), or only the names of all."""

    mode: Mode
    names: tuple[str, ...] = ()

    @property
    def has_locks(self) -> bool:
        """Return whether locks are described."""
        return self.mode == "allprop" or f"{DAV}{LOCK_PROPERTIES[0]}" in self.names

    @property
    def has_dead(self) -> bool:
        """Return whether clients' own properties of items are needed."""
        return self.mode != "named" or any(not name.startswith(DAV) and name != CHECKSUMS for name in self.names)

    @property
    def has_checksums(self) -> bool:
        """Return whether checksums of contents are asked for: by name alone, as they take time the first time."""
        return CHECKSUMS in self.names


def multistatus(call: DavCall, environ: Any, place: DavLocation, *, with_members: bool) -> Iterator[bytes]:
    """Return the answer's pieces. Raises 400 for a body that is none of PROPFIND."""
    wanted = _wanted(parse_xml_body(environ, allow_empty=True))
    return _pieces(call, environ, place, wanted, with_members=with_members)


def _pieces(call: DavCall, environ: Any, place: DavLocation, wanted: Wanted, *, with_members: bool) -> Iterator[bytes]:
    pages = children_of(call, place) if with_members else None
    page: list[DavLocation] | None = call.wait(anext, pages, None) if pages else None
    yield HEAD + b"".join(_described(call, environ, [place, *(page or ())], wanted, above=place))
    while pages and page is not None and (page := call.wait(anext, pages, None)) is not None:
        yield b"".join(_described(call, environ, page, wanted, above=place))
    yield TAIL


def _described(
    call: DavCall, environ: Any, places: list[DavLocation], wanted: Wanted, above: DavLocation
) -> Iterator[bytes]:
    resources: list[Any] = [resource_at(place, environ) for place in places]
    if not call.is_guest:
        _prefetch(call, resources, wanted, above)
    for resource in resources:
        found = make_multistatus_el()
        properties = [] if wanted.mode == "named" else resource.get_properties(wanted.mode)
        there = {name for name, _ in properties}
        asked = [name for name in wanted.names if name not in there]
        properties += resource.get_properties("named", name_list=asked)
        add_property_response(found, resource.get_href(), properties)
        yield etree.tostring(found[0], encoding="utf-8")


def _prefetch(call: DavCall, resources: list[Described], wanted: Wanted, above: DavLocation) -> None:
    """Read the locks, dead properties and checksums of a place and its members at once."""
    ids = [resource.place.item.id for resource in resources if resource.place.item]
    above_id = above.item.id if above.item else None
    if wanted.has_locks or wanted.has_dead:
        facts = call.wait(
            call.drive.dav_facts.of, above_id, ids, with_locks=wanted.has_locks, with_dead=wanted.has_dead
        )
        deep = [lock for lock in facts.around.covering if lock.is_deep]
        for resource in resources:
            item_id = resource.place.item.id if resource.place.item else ""
            if wanted.has_locks and item_id and above_id:
                is_above = item_id == above_id
                resource.locks = [*facts.around.covering] if is_above else [*facts.locks.get(item_id, ()), *deep]
            if wanted.has_dead:
                resource.dead = facts.properties.get(item_id, {})
    if wanted.has_checksums:
        sums = call.wait(call.drive.dav_checksums.of, ids)
        for resource in resources:
            resource.sums = sums


def _wanted(body: Any) -> Wanted:
    if body is None:
        return Wanted("allprop")
    if body.tag != f"{DAV}propfind":
        raise DAVError(HTTPStatus.BAD_REQUEST)
    parts = {child.tag: child for child in body if isinstance(child.tag, str)}
    choices = parts.keys() & {f"{DAV}allprop", f"{DAV}propname", f"{DAV}prop"}
    if len(choices) != 1:
        raise DAVError(HTTPStatus.BAD_REQUEST)
    if f"{DAV}propname" in choices:
        return Wanted("name")
    if f"{DAV}allprop" in choices:
        return Wanted("allprop", _names(parts.get(f"{DAV}include", ())))
    return Wanted("named", _names(parts[f"{DAV}prop"]))


def _names(elements: Any) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(child.tag for child in elements if isinstance(child.tag, str)))
    if len(names) > MAX_PROPERTIES:
        raise DAVError(HTTPStatus.BAD_REQUEST)
    return names
