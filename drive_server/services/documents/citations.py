"""Checks citations: whether a quotation stands in the cited version of its file."""

from collections.abc import Sequence

from drive_server.kernel.access import Actor, Scope, require_scope
from drive_server.kernel.errors import (
    DriveError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    StateConflictError,
    TooLargeError,
    UnsupportedContentError,
)
from drive_server.knowledge.location import find_headings, find_place, find_span
from drive_server.knowledge.text.place import parse_place
from drive_server.models.contents import CheckedCitation, Citation
from drive_server.services.documents.reading import Reading, Readings
from drive_server.services.text.excerpts import run_in_thread
from drive_server.services.text.quotations import QuotableText

MAX_CITATIONS = 200
MAX_QUOTE_CHARACTERS = 100_000
ABSENT = "absent"
_OF_ONE_FILE: tuple[type[DriveError], ...] = (
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    StateConflictError,
    TooLargeError,
    UnsupportedContentError,
)
"""Errors about one file, which do not stop the check of the others."""


class Citations:
    """Checks citations with the rights of the caller; reads each quoted version once."""

    def __init__(self, readings: Readings) -> None:
        self._readings = readings

    async def check(self, actor: Actor, citations: Sequence[Citation]) -> list[CheckedCitation]:
        """Return the checked citations, in the same order.

        A file that the caller can't see is `not_found` like one that is not there, an earlier version is `forbidden` to
        viewers. Raises `InvalidInputError` for more than 200 at once, and for quotations over 100,000 characters.
        """
        require_scope(actor.principal, Scope.READ)
        _require_bounded(citations)
        checked: dict[int, CheckedCitation] = {}
        for (file, version), places in _by_version(citations).items():
            asked = [citations[place] for place in places]
            checked |= dict(zip(places, await self._of_version(actor, file, version, asked), strict=True))
        return [checked[place] for place in range(len(citations))]

    async def _of_version(
        self, actor: Actor, file: str, version: int | None, citations: Sequence[Citation]
    ) -> list[CheckedCitation]:
        try:
            reading = await self._readings.open(actor, file, version)
        except _OF_ONE_FILE as error:
            return [CheckedCitation(citation, error.code) for citation in citations]
        return await run_in_thread(len(reading.text), _checked, reading, citations)


def _checked(reading: Reading, citations: Sequence[Citation]) -> list[CheckedCitation]:
    text = QuotableText(reading.text)
    return [_checked_one(reading, text, citation) for citation in citations]


def _checked_one(reading: Reading, text: QuotableText, citation: Citation) -> CheckedCitation:
    sought = parse_place(citation.place)
    stretch = find_span(reading.extraction, sought) if sought else None
    found = text.find(citation.quote, stretch)
    if found is None:
        return CheckedCitation(citation, ABSENT, reading.item, reading.version)
    is_there = stretch is not None and found.start < stretch[1] and stretch[0] < found.end
    return CheckedCitation(
        citation,
        "",
        reading.item,
        reading.version,
        found.start,
        found.end,
        find_place(reading.extraction, found.start, found.end),
        find_headings(reading.extraction, found.start),
        is_there if citation.place else None,
    )


def _by_version(citations: Sequence[Citation]) -> dict[tuple[str, int | None], list[int]]:
    found: dict[tuple[str, int | None], list[int]] = {}
    for place, citation in enumerate(citations):
        found.setdefault((citation.file, citation.version), []).append(place)
    return found


def _require_bounded(citations: Sequence[Citation]) -> None:
    if len(citations) > MAX_CITATIONS:
        raise InvalidInputError("These are too many citations.", hint=f"Check at most {MAX_CITATIONS} at once.")
    if any(len(citation.quote) > MAX_QUOTE_CHARACTERS for citation in citations):
        raise InvalidInputError(
            "A quotation is too long.", hint=f"Quote at most {MAX_QUOTE_CHARACTERS:,} characters of a passage."
        )
