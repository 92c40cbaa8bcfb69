"""Questions to tables in files: asked in a reader's process, answered with the version and the place of the cells."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from drive_server.kernel.access import Actor
from drive_server.kernel.errors import (
    DriveError,
    InvalidInputError,
    NotFoundError,
    TooLargeError,
    UnsupportedContentError,
)
from drive_server.kernel.messages import Message
from drive_server.knowledge.formats import format_of
from drive_server.knowledge.location import find_span
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.knowledge.tables.query import query_table
from drive_server.knowledge.tables.request import Refusal, TableAnswer, TableQuery
from drive_server.knowledge.text.elements import Extraction
from drive_server.knowledge.text.place import parse_place
from drive_server.knowledge.text.unreadable import UnreadableKind
from drive_server.models.items import Item
from drive_server.services.documents.reading import Readings
from drive_server.services.text.addresses import Passage
from drive_server.services.tree.names import display_name

MAX_TABLE_BYTES: Final = 50_000_000
QUERY_SECONDS: Final = 30.0
_FORMATS: Final = frozenset({"csv", "sheets", "xls"})
_TOO_LARGE: Final = frozenset({"table_too_large", "table_too_slow"})
_UNUSABLE: Final = frozenset({"table_damaged", "table_locked", "table_empty"})


@dataclass(frozen=True, slots=True)
class AnsweredTable:
    """The answer of a table: the file as it is now, the version that was asked, and the passage with the cells.

    `omissions` counts the unreadable parts of the file by kind.
    """

    item: Item
    version: int
    answer: TableAnswer
    passage: Passage
    omissions: Mapping[str, int] = field(default_factory=dict[str, int])


class TableService:
    """Asks tables with the rights of the caller."""

    def __init__(self, readings: Readings, text_source: TextSource) -> None:
        self._readings = readings
        self._text_source = text_source

    async def query(self, actor: Actor, ref: str, query: TableQuery, version: int | None = None) -> AnsweredTable:
        """Return the answer to a question.

        Raises `UnsupportedContentError` for a file that is no table, `InvalidInputError` where the question does not
        fit it or its cells do not allow an exact answer, `TooLargeError` beyond 50 MB, 200,000 rows, or 30 seconds, and
        as `Readings.open` does.
        """
        item, found = await self._readings.locate(actor, ref, version)
        if format_of(item.name, found.media_type).name not in _FORMATS:
            raise UnsupportedContentError(
                Message.of("not_a_table", name=display_name(item.name)), details={"media_type": found.media_type}
            )
        if found.size > MAX_TABLE_BYTES:
            raise TooLargeError(Message.of("table_file_too_large"), details={"limit": MAX_TABLE_BYTES})
        work = partial(query_table, query)
        answer = await self._text_source.run(work, _unanswered, found.blob, item.name, found.media_type, QUERY_SECONDS)
        if isinstance(answer, Refusal):
            raise _error(answer, item, found.number)
        extraction = await self._extraction(actor, item, found.number)
        passage = _passage(item, found.number, answer, extraction)
        return AnsweredTable(item, found.number, answer, passage, extraction.omissions if extraction else {})

    async def _extraction(self, actor: Actor, item: Item, version: int) -> Extraction | None:
        """Return the text that people and quotations read, None where the file has none."""
        try:
            return (await self._readings.open(actor, item.id, version)).extraction
        except (UnsupportedContentError, TooLargeError):
            return None


def _passage(item: Item, version: int, answer: TableAnswer, extraction: Extraction | None) -> Passage:
    """Return where the cells are in the text, from the first to the last."""
    places = [place for place in map(parse_place, answer.cells) if place]
    if not places:
        return Passage(item.id, version, 0, 0)
    place = places[0].until(places[-1])
    start, end = (find_span(extraction, place) if extraction else None) or (0, 0)
    return Passage(item.id, version, start, end, str(place))


def _unanswered(kind: UnreadableKind, count: int) -> TableAnswer | Refusal:
    del kind, count
    return Refusal("table_too_slow")


def _error(refusal: Refusal, item: Item, version: int) -> DriveError:
    """Return the error. It may show words of the file, so it says whose they are."""
    message = Message.of(refusal.code, **refusal.params)
    table = {"id": item.id, "name": item.name, "path": item.path, "owner": item.owner}
    details = {**refusal.details, "table": table, "version": version}
    if refusal.code in _UNUSABLE:
        return UnsupportedContentError(message, details=details)
    if refusal.code in _TOO_LARGE:
        return TooLargeError(message, details=details)
    if refusal.code == "table_no_sheet":
        return NotFoundError(message, details=details)
    return InvalidInputError(message, details=details)
