"""The text of a file as its readers extract it, a part of it at a time, with a passage to mark."""

from dataclasses import dataclass
from typing import Annotated, Final, Self

from fastapi import Depends, Query
from pydantic import BaseModel

from drive_server.drive import Drive
from drive_server.kernel.access import Actor
from drive_server.kernel.http.problem import problem_responses
from drive_server.mcp.tools.definition.arguments import MAX_INTEGER, MAX_VERSION
from drive_server.models.contents import TextRange

MAX_CHARACTERS: Final = 200_000
DEFAULT_CHARACTERS: Final = 100_000
MAX_MARKED: Final = 50_000


TEXT_PROBLEMS: Final = problem_responses(403, 404, 409, 413, 415)

VersionQuery = Annotated[int | None, Query(ge=1, le=MAX_VERSION, description="By default the newest.")]


@dataclass(frozen=True, slots=True)
class TextPart:
    """The requested part: a passage from `start` to `end`, and the text that begins at `offset`."""

    start: int | None
    end: int | None
    offset: int | None
    limit: int


async def get_part(
    start: Annotated[int | None, Query(ge=0, le=MAX_INTEGER, description="Where the passage begins.")] = None,
    end: Annotated[int | None, Query(ge=0, le=MAX_INTEGER, description="Where it ends, exclusive.")] = None,
    offset: Annotated[
        int | None, Query(ge=0, le=MAX_INTEGER, description="Where the text begins; without it, before the passage.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_CHARACTERS, description="Characters at most.")] = DEFAULT_CHARACTERS,
) -> TextPart:
    """Return the part that the query asks for."""
    return TextPart(start, end, offset, limit)


PartDep = Annotated[TextPart, Depends(get_part)]


class PassageResult(BaseModel):
    """A passage: its offsets in the whole text, and its `place` as in citations (`page=2`, `line=10-20`)."""

    start: int
    end: int
    place: str


class TextResult(BaseModel):
    """A part of a file's text: the characters from `start` to `end` (exclusive) of `total_characters`.

    `truncated` says that there is more after it (ask with `offset`). `passage` is the one that was asked for.
    """

    file_id: str
    name: str
    media_type: str
    version: int
    newest_version: int
    text: str
    start: int
    end: int
    first_line: int
    total_characters: int
    truncated: bool
    passage: PassageResult | None

    @classmethod
    def of(cls, shown: TextRange, passage: TextRange | None) -> Self:
        """Return the text as it is on the wire."""
        return cls(
            file_id=shown.item.id,
            name=shown.item.name,
            media_type=shown.item.media_type,
            version=shown.version,
            newest_version=shown.item.version,
            text=shown.text,
            start=shown.start,
            end=shown.end,
            first_line=shown.first_line,
            total_characters=shown.total_characters,
            truncated=shown.end < shown.total_characters,
            passage=PassageResult(start=passage.start, end=passage.end, place=passage.place) if passage else None,
        )


async def text_of(drive: Drive, actor: Actor, ref: str, part: TextPart, version: int | None = None) -> TextResult:
    """Return the text of a file around a passage. Raises as `DocumentService.read_text` does."""
    read, passage = drive.documents.read_text, None
    if part.start is not None or part.end is not None:
        passage = await read(
            actor, ref, start=part.start or 0, end=part.end, limit=min(MAX_MARKED, part.limit), version=version
        )
        version = passage.version
    begin = _begin(part, passage)
    return TextResult.of(await read(actor, ref, start=begin, limit=part.limit, version=version), passage)


def _begin(part: TextPart, passage: TextRange | None) -> int:
    """Return where the text begins: at the file's own beginning if the passage is in sight from there."""
    if part.offset is not None:
        return part.offset
    if passage is None or passage.end <= part.limit:
        return 0
    return max(0, passage.start - (part.limit - (passage.end - passage.start)) // 2)
