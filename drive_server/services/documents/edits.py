"""Edits of a text: find and replace, each exactly once or refused with the nearest candidates; append."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from drive_server.kernel.errors import EditMismatchError, InvalidInputError
from drive_server.kernel.messages import Message

MAX_EDITS = 100
MAX_CANDIDATES = 3
MAX_COUNTED = 1000
MAX_LINE_CHARACTERS = 200
MAX_SCORED = 60
MAX_COMPARED_CHARACTERS = 20_000_000
MAX_PIECES = 14
MAX_PLACES_PER_PIECE = 20
MIN_LIKENESS = 0.5


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the one place that reads `find` by `replace`."""

    find: str
    replace: str


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """Return the text after the edits, each applied to the result of the earlier ones. Blocks; time is bounded.

    Where every line ends in CR LF, a plain line feed in an edit means CR LF. Raises `InvalidInputError` for no edits or
    an empty `find`, and `EditMismatchError` whose details name the `edit` (from 1), its number of `matches`
    (counted up to 1000) and the nearest `candidates`, each with `line` (from 1) and `text`.
    """
    _check(edits)
    has_crlf = _has_crlf(text)
    for number, edit in enumerate(edits, start=1):
        find, replacement = (_as_crlf(edit.find), _as_crlf(edit.replace)) if has_crlf else (edit.find, edit.replace)
        matches = _places(text, find)
        if len(matches) != 1:
            raise _mismatch(text, find, number, matches)
        text = text[: matches[0]] + replacement + text[matches[0] + len(find) :]
    return text


def appended(text: str, addition: str) -> str:
    """Return the text with the addition at its end, on a line of its own."""
    has_crlf = _has_crlf(text)
    line_end = "\r\n" if has_crlf else "\n"
    between = line_end if text and not text.endswith(("\n", "\r")) else ""
    return text + between + (_as_crlf(addition) if has_crlf else addition)


def nearest_lines(text: str, find: str) -> list[dict[str, Any]]:
    """Return the lines most like the longest line of `find`, best first: {"line", "text"}; of a long line, a part."""
    wanted = max(find.splitlines() or [""], key=lambda line: len(line.strip())).strip()[:MAX_LINE_CHARACTERS]
    if not wanted:
        return []
    scored = [(_likeness(wanted, _excerpt(text, place)), place) for place in _probable_places(text, wanted)]
    best = sorted((entry for entry in scored if entry[0] >= MIN_LIKENESS), key=lambda entry: (-entry[0], entry[1]))
    return [_line_at(text, place) for _, place in best[:MAX_CANDIDATES]]


def _check(edits: Sequence[Edit]) -> None:
    if not 0 < len(edits) <= MAX_EDITS:
        raise InvalidInputError(f"Give 1 to {MAX_EDITS} edits.", hint="Split them over several calls.")
    for number, edit in enumerate(edits, start=1):
        if not edit.find:
            raise InvalidInputError(Message.of("nothing_to_find", number=number))


def _has_crlf(text: str) -> bool:
    return "\r\n" in text and text.count("\r\n") == text.count("\n")


def _as_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _places(text: str, find: str) -> list[int]:
    """Return the places that an edit finds, also overlapping ones: `aa` is in `aaa` twice."""
    places: list[int] = []
    enough = max(2, min(MAX_COUNTED, MAX_COMPARED_CHARACTERS // len(find)))
    start = text.find(find)
    while start >= 0 and len(places) < enough:
        places.append(start)
        start = text.find(find, start + 1)
    return places


def _mismatch(text: str, find: str, number: int, matches: list[int]) -> EditMismatchError:
    if matches:
        candidates = [_line_at(text, place) for place in matches[:MAX_CANDIDATES]]
        message = Message.of("edit_ambiguous", number=number, count=len(matches))
    else:
        candidates = nearest_lines(text, find)
        message = Message.of("edit_unmatched", number=number)
    return EditMismatchError(message, details={"edit": number, "matches": len(matches), "candidates": candidates})


def _line_at(text: str, place: int) -> dict[str, Any]:
    return {"line": text.count("\n", 0, place) + 1, "text": _excerpt(text, place)}


def _excerpt(text: str, place: int) -> str:
    """Return the line at the place; of a long line, the part around the place."""
    line_start = text.rfind("\n", 0, place) + 1
    start = line_start if place - line_start < MAX_LINE_CHARACTERS // 2 else place - MAX_LINE_CHARACTERS // 4
    end = text.find("\n", place, start + MAX_LINE_CHARACTERS)
    return text[start : end if end >= 0 else start + MAX_LINE_CHARACTERS].rstrip("\r")


def _probable_places(text: str, wanted: str) -> list[int]:
    """Return where the text has the most pieces of the wanted line: only there it is compared closely."""
    hits: Counter[int] = Counter()
    for piece in _pieces(wanted):
        place, found = text.find(piece), 0
        while place >= 0 and found < MAX_PLACES_PER_PIECE:
            hits[_region(text, place)] += 1
            found += 1
            place = text.find(piece, _region_end(text, place))
    return sorted(hits, key=lambda place: (-hits[place], place))[:MAX_SCORED]


def _region(text: str, place: int) -> int:
    """Return the line of a place, or the hundreds of characters in a long line, to count pieces of a match as one."""
    line_start = text.rfind("\n", 0, place) + 1
    step = MAX_LINE_CHARACTERS // 2
    return line_start + (place - line_start) // step * step


def _region_end(text: str, place: int) -> int:
    limit = _region(text, place) + MAX_LINE_CHARACTERS // 2
    line_end = text.find("\n", place, limit)
    return (line_end if line_end >= 0 else limit - 1) + 1


def _pieces(wanted: str) -> list[str]:
    """Return the longest words and, for a misspelt word or Chinese, short runs of characters."""
    words = sorted(set(wanted.split()), key=lambda word: (-len(word), word))
    step = max(1, len(wanted) // (MAX_PIECES // 2))
    size = 3 if len(wanted) <= MAX_LINE_CHARACTERS // 10 else 4
    runs = [wanted[start : start + size] for start in range(0, len(wanted), step)]
    return [piece for piece in dict.fromkeys([*words[: MAX_PIECES // 2], *runs]) if piece.strip()][:MAX_PIECES]


def _likeness(wanted: str, shown: str) -> float:
    """Return how much of the wanted line is there in its order, 0 to 1; single characters that agree don't count."""
    blocks = SequenceMatcher(None, wanted, shown, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks if block.size > 1) / len(wanted)
