"""The text of pages that are pictures, as OCR read it: stored by content, and put into its place in the file's text."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.sql.database import Database
from drive_server.knowledge.text.elements import Element, Extraction, Part, Recognized, join
from drive_server.knowledge.text.omissions import reason_with
from drive_server.storage.tables.index import RecognizedPageRow
from drive_server.storage.tables.items import VersionRow

END = 0
"""The number of the row that says that all pages of the content are there."""

Pages = Mapping[int, Sequence[Part] | None]
"""By number from 1; None for a page that OCR could not read."""


def has_ocr() -> bool:
    """Return whether the package with the models of OCR is installed: some machines have none of its wheels."""
    return find_spec("rapidocr") is not None


class RecognizedTexts:
    """The pages that OCR has read, in the drive's database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def complete(self, blob: str) -> Pages | None:
        """Return all pages of a content that are pictures; None until OCR has been through it."""
        async with self._database.read() as session:
            rows = await _rows(session, blob)
        if END not in rows:
            return None
        return {number: _parts(number, stored) for number, stored in rows.items() if number != END}

    async def last(self, blob: str) -> int:
        """Return the number of the last page that is stored, 0 for none."""
        async with self._database.read() as session:
            return max(await _rows(session, blob), default=0)

    async def add(self, blob: str, recognized: Recognized) -> None:
        """Store further pages of a content, in place of those of the same numbers; none of one that no file has now."""
        rows: list[dict[str, Any]] = [
            {"blob": blob, "page": page.number, "parts": None if page.parts is None else _stored(page.parts)}
            for page in recognized.pages
        ]
        rows += [{"blob": blob, "page": END, "parts": []}] if recognized.is_complete else []
        async with self._database.write() as session:
            if await session.scalar(select(VersionRow.blob).where(VersionRow.blob == blob).limit(1)) is None:
                return
            numbers = [row["page"] for row in rows]
            earlier = delete(RecognizedPageRow).where(
                RecognizedPageRow.blob == blob, RecognizedPageRow.page.in_(numbers)
            )
            await session.execute(earlier)
            if rows:
                await session.execute(insert(RecognizedPageRow), rows)


def awaits_ocr(state: str, omissions: Collection[str]) -> bool:
    """Return whether a file has pages that are pictures and were not read yet."""
    return state == "needs_ocr" or "scan" in omissions


def with_recognized(extraction: Extraction, pages: Pages) -> Extraction:
    """Return the extraction with the pages in their places: it is ready, and pages that OCR missed are counted."""
    # A page that OCR has read is read whole, the stamp or title included that stands on it as text.
    kept = (element for element in extraction.elements if not pages.get(element.page or 0))
    own = [(element.page or 1, _as_part(element)) for element in kept]
    found = [(number, part) for number, parts in pages.items() for part in parts or ()]
    joined = join(part for _, part in sorted((*own, *found), key=lambda one: one[0]))
    # A page that crashed OCR ended it for the file: those behind it are in no row.
    read = sum(parts is not None for parts in pages.values())
    unread = max(len(pages), extraction.omissions.get("scan", 0)) - read
    omissions = {kind: count for kind, count in extraction.omissions.items() if kind != "scan"}
    omissions |= {**joined.omissions, **({"page": unread} if unread else {})}
    note = "" if extraction.state == "needs_ocr" else extraction.reason
    reason = reason_with(note, extraction.omissions, omissions)
    recognized = sum(bool(parts) for parts in pages.values())
    return replace(joined, reason=reason, omissions=omissions, properties=extraction.properties, recognized=recognized)


def _as_part(element: Element) -> Part:
    return Part(element.kind, element.text, element.page, element.level, element.place)


async def _rows(session: AsyncSession, blob: str) -> dict[int, list[Any] | None]:
    row = RecognizedPageRow
    found = await session.execute(select(row.page, row.parts).where(row.blob == blob))
    return dict(found.all())


def _stored(parts: Sequence[Part]) -> list[Any]:
    return [[part.kind, part.text, part.level] for part in parts]


def _parts(number: int, stored: list[Any] | None) -> list[Part] | None:
    return None if stored is None else [Part(kind, text, number, level) for kind, text, level in stored]
