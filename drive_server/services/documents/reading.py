"""The text of a version of a file: as a whole, a part of it by offsets or lines, or the element at a place."""

from dataclasses import dataclass, replace

import anyio
from sqlalchemy import Connection

from drive_server.kernel.access import Actor, Principal, Role, Scope, require_role, require_scope
from drive_server.kernel.errors import InvalidInputError, NotFoundError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.database import Database
from drive_server.knowledge.location import find_place, find_span
from drive_server.knowledge.media_types import is_text
from drive_server.knowledge.text.elements import Extraction
from drive_server.knowledge.text.place import SourceRange, parse_place
from drive_server.models.contents import TextRange, VersionDiff
from drive_server.models.items import Item
from drive_server.services.files.versions import describe_with_content_sync, require_version_sync
from drive_server.services.journal.effects import MAX_DIFF_CHARACTERS, unified_text_diff
from drive_server.services.text.contents import Contents
from drive_server.services.text.excerpts import Span, Wanted, cut, run_in_thread
from drive_server.services.tree.nodes import locate_file_sync
from drive_server.storage.tables.items import VersionRow


@dataclass(frozen=True, slots=True)
class Reading:
    """The text of one version, with the places in it. `item` is the file as it is now."""

    item: Item
    version: int
    extraction: Extraction

    @property
    def text(self) -> str:
        """The text, as offsets count it."""
        return self.extraction.text


class Readings:
    """Reads versions for those who may: viewers the newest one, editors the earlier ones too."""

    def __init__(self, database: Database, contents: Contents) -> None:
        self._database = database
        self._contents = contents

    async def open(self, actor: Actor, ref: str, version: int | None = None, *, placed: bool = True) -> Reading:
        """Return the text of a version, of the newest one without a number.

        `placed` asks for headings and places of plain text as well, which takes reading it once more. Raises
        `NotFoundError`, `ForbiddenError` for an earlier version to a viewer, `UnsupportedContentError` without text.
        """
        item, found = await self.locate(actor, ref, version)
        return Reading(item, found.number, await self._contents.extraction_of(item.name, found, placed=placed))

    async def locate(self, actor: Actor, ref: str, version: int | None = None) -> tuple[Item, VersionRow]:
        """Return a file with the row of a version of it, of the newest one without a number. Raises as `open` does."""
        require_scope(actor.principal, Scope.READ)

        return await self._database.read_sync(lambda connection: _version_of(connection, actor.principal, ref, version))

    async def part(
        self, actor: Actor, ref: str, wanted: Wanted, version: int | None = None, place: str = ""
    ) -> TextRange:
        """Return the wanted part of a version's text, or of the element at a place. Raises as `open` does.

        Raises `InvalidInputError` for a malformed place, and for a place together with offsets or lines;
        `NotFoundError` for a place that the text has not.
        """
        wanted.check()
        sought = _checked(place, wanted) if place else None
        reading = await self.open(actor, ref, version, placed=sought is not None)
        size = len(reading.text)
        if sought is not None:
            wanted = await run_in_thread(size, _at, reading.extraction, sought, wanted)
        span = await run_in_thread(size, cut, reading.text, wanted)
        return _range(reading, span, await run_in_thread(size, find_place, reading.extraction, span.start, span.end))


def _version_of(connection: Connection, principal: Principal, ref: str, version: int | None) -> tuple[Item, VersionRow]:
    node = locate_file_sync(connection, principal, ref)
    item, newest = describe_with_content_sync(connection, node)
    if version is None or version == newest.number:
        return item, newest
    require_role(node.role, Role.EDITOR, ref)
    return item, require_version_sync(connection, node.row, version)


def _checked(place: str, wanted: Wanted) -> SourceRange:
    if (wanted.start, wanted.end, wanted.first_line, wanted.last_line) != (None, None, None, None):
        raise InvalidInputError("Ask for a place, or for characters or lines.", hint="Leave one of them out.")
    found = parse_place(place)
    if found is None:
        raise InvalidInputError(
            "That is not how a place is written.",
            hint="Write it as the hits do: page=2, page=2-3, slide=3, sheet=Budget!A2:D15, part=4, line=10-20.",
        )
    return found


def _at(extraction: Extraction, place: SourceRange, wanted: Wanted) -> Wanted:
    stretch = find_span(extraction, place)
    if stretch is None:
        raise NotFoundError(Message.of("no_place"))
    return replace(wanted, start=stretch[0], end=stretch[1])


def _range(reading: Reading, span: Span, place: str) -> TextRange:
    return TextRange(
        item=reading.item,
        text=reading.text[span.start : span.end],
        start=span.start,
        end=span.end,
        total_characters=len(reading.text),
        first_line=span.first_line,
        last_line=span.last_line,
        total_lines=span.total_lines,
        version=reading.version,
        place=place,
        omissions=reading.extraction.omissions,
        recognized=reading.extraction.recognized,
    )


async def diff_of(contents: Contents, item: Item, before: VersionRow, after: VersionRow) -> VersionDiff:
    """Return the diff between the texts of two versions of the file, cut at 20,000 characters."""
    old, new = await _text_of(contents, item.name, before), await _text_of(contents, item.name, after)
    labels = [f"{item.name} (version {version.number})" for version in (before, after)]
    diff = await anyio.to_thread.run_sync(unified_text_diff, labels[0], old, new, labels[1], abandon_on_cancel=True)
    return VersionDiff(
        file=item,
        from_version=before.number,
        to_version=after.number,
        diff=diff[:MAX_DIFF_CHARACTERS],
        truncated=len(diff) > MAX_DIFF_CHARACTERS,
    )


async def _text_of(contents: Contents, name: str, version: VersionRow) -> str:
    """Text files, html too, are compared as they are written, others by their extracted text."""
    if is_text(version.media_type):
        return (await contents.editable_text_of(name, version)).text
    return await contents.text_of(name, version)
