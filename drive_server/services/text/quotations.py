"""Finding quotations in a text, word for word. Pure.

Both sides are brought to one form before they are compared: any run of blanks and line breaks counts as one blank, and
as none beside characters of scripts that write without blanks; full-width forms, typographic quotation marks and
characters composed in another way (NFC) are the same; marks that can't be seen and Markdown's for code, bold text and
links count for nothing. Letters, upper and lower case, traditional and simplified characters, digits and all other
punctuation have to be the same. A quotation stands there only as whole words and numbers: `10 days` does not stand in
`110 days` or in `10 dayswork`. A word that an omission cuts, as in `10 days of lea…`, counts for nothing.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

SHORTEST_PART: Final = 8
"""The least weight of a part between two omissions, as anything can be put together out of single words. A
character of a script without blanks weighs more, see `CHARACTER_WEIGHT`."""
CHARACTER_WEIGHT: Final = 2
MAX_PLACES: Final = 1_000
MAX_TRIED: Final = 20_000
"""A text of one letter over and over has a part of it at every place."""

_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_COMBINING = "\u0300-\u036f\u0483-\u0487\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
_HIDDEN = "\u00ad\u200b\u200e\u200f\u2060\ufeff" + "".join(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_GONE = "\0"
_SAME: Final = {
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys(map(ord, "“”„‟″«»「」『』＂"), '"'),
    **dict.fromkeys(map(ord, "‘’‚‛′＇´"), "'"),
    **dict.fromkeys(map(ord, _BLANKS), " "),
    **dict.fromkeys(map(ord, f"{_HIDDEN}`ˋ"), _GONE),
}
_CHANGES = re.compile(
    rf"[ {_GONE}]*{_GONE}[ {_GONE}]*| {{2,}}|(?<=[{_SPACELESS}]) | (?=[{_SPACELESS}])"
    rf"|[^ {_GONE}{_COMBINING}][{_COMBINING}]+"
    r"|(?<![0-9A-Za-z])\*\*|\*\*(?![0-9A-Za-z])|\[(?=[^\[\]]{1,300}\] ?\()|\] ?\([^()\s]{0,2000}\)"
)
_MARKUP = "*[]"
_IS_SPACELESS = re.compile(f"[{_SPACELESS}]")
_CUT_WORD = re.compile(rf"(?<!\S)[^\s…{_SPACELESS}]+(?=\.{{3}}|…)|(?:(?<=\.{{3}})|(?<=…))[^\s….{_SPACELESS}]+")
_OMISSION = re.compile(r"\s*(?:[\[(]\s*(?:\.{3,}|…+)\s*[\])]|\.{3,}|…+)\s*")


@dataclass(frozen=True, slots=True)
class Found:
    """The place of a quotation: offsets into the text as it was given, `end` exclusive."""

    start: int
    end: int


class QuotableText:
    """A text in which quotations are looked for; the data to compare is worked out once. Blocks on long ones."""

    def __init__(self, text: str) -> None:
        self._text, self._shifts = _folded(text)
        self._ends = [shift.folded_end for shift in self._shifts]

    def find(self, quote: str, near: tuple[int, int] | None = None) -> Found | None:
        """Return where the quotation stands; None if it does not, or if there is nothing to look for.

        Of several places it is the first one that touches `near`, else the first. Where the quotation as it is stands
        nowhere, `...` and `…` (also in brackets) stand for an omission: the parts have to follow in order.
        """
        found = self._whole(quote, near) or self._parts(quote, near) or self._parts(_CUT_WORD.sub("", quote), near)
        return Found(self._start_of(found[0]), self._end_of(found[1])) if found else None

    def _whole(self, quote: str, near: tuple[int, int] | None) -> tuple[int, int] | None:
        wanted = _folded(quote)[0].strip()
        return self._best(self._places(wanted, 0), near)

    def _parts(self, quote: str, near: tuple[int, int] | None) -> tuple[int, int] | None:
        parts = [part for part in (_folded(part)[0].strip() for part in _OMISSION.split(quote)) if part]
        if len(parts) == 1 and parts[0] != quote.strip():
            return self._best(self._places(parts[0], 0), near)
        if len(parts) < 2 or any(_weight(part) < SHORTEST_PART for part in parts):
            return None
        return self._best(self._sequences(parts), near)

    def _sequences(self, parts: Sequence[str]) -> Iterator[tuple[int, int]]:
        for first in self._places(parts[0], 0):
            end: int | None = first[1]
            for part in parts[1:]:
                following = next(self._places(part, end), None)
                if following is None:
                    return
                end = following[1]
            yield first[0], end

    def _places(self, wanted: str, start: int) -> Iterator[tuple[int, int]]:
        """Yield where it stands as whole words. A part of a word or number found first does not hide a later one."""
        if not wanted:
            return
        at = start - 1
        for _ in range(MAX_TRIED):
            at = self._text.find(wanted, at + 1)
            if at < 0:
                return
            end = at + len(wanted)
            if not _cuts(self._text, at) and not _cuts(self._text, end):
                yield at, end

    def _best(self, places: Iterator[tuple[int, int]], near: tuple[int, int] | None) -> tuple[int, int] | None:
        first = next(places, None)
        if first is None or near is None or self._touches(first, near):
            return first
        for _, place in zip(range(MAX_PLACES), places, strict=False):
            if self._touches(place, near):
                return place
        return first

    def _touches(self, place: tuple[int, int], near: tuple[int, int]) -> bool:
        return self._start_of(place[0]) < near[1] and near[0] < self._end_of(place[1])

    def _start_of(self, position: int) -> int:
        index = bisect_right(self._ends, position)
        if index < len(self._shifts) and self._shifts[index].folded_start < position:
            return self._shifts[index].start
        return self._unshifted(index, position)

    def _end_of(self, position: int) -> int:
        last = position - 1
        index = bisect_right(self._ends, last)
        if index < len(self._shifts) and self._shifts[index].folded_start <= last:
            return self._shifts[index].end
        return self._unshifted(index, last) + 1

    def _unshifted(self, index: int, position: int) -> int:
        before = self._shifts[index - 1] if index else _NO_SHIFT
        return before.end + position - before.folded_end


class _Shift(NamedTuple):
    """A stretch that has another length in its folded form. A long text has a million: this is quickly made."""

    start: int
    end: int
    folded_start: int
    folded_end: int


_NO_SHIFT = _Shift(0, 0, 0, 0)


def _folded(text: str) -> tuple[str, list[_Shift]]:
    """Return the form in which texts are compared, and where offsets into it differ from those into the text."""
    alike = text.translate(_SAME)
    pieces: list[str] = []
    shifts: list[_Shift] = []
    copied = length = 0
    for match in _CHANGES.finditer(alike):
        becomes = _becomes(alike, match)
        pieces += (alike[copied : match.start()], becomes)
        begin = length + match.start() - copied
        copied, length = match.end(), begin + len(becomes)
        shifts.append(_Shift(match.start(), match.end(), begin, length))
    pieces.append(alike[copied:])
    return "".join(pieces), shifts


def _becomes(alike: str, match: re.Match[str]) -> str:
    run = match[0]
    if run[0] in _MARKUP and run[-1] in "*[)":
        return ""
    if run == " ":  # one alone changes only beside a script without blanks
        return ""
    if run[0] not in {" ", _GONE}:
        return unicodedata.normalize("NFC", run)
    beside = alike[max(0, match.start() - 1) : match.start()] + alike[match.end() : match.end() + 1]
    return "" if " " not in run or _IS_SPACELESS.search(beside) else " "


def _weight(part: str) -> int:
    return len(part) + (CHARACTER_WEIGHT - 1) * len(_IS_SPACELESS.findall(part))


def _cuts(text: str, at: int) -> bool:
    """Say whether a place is inside a word or a number."""
    if at <= 0 or at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if _is_of_word(before) and _is_of_word(after):
        return not (_IS_SPACELESS.match(before) or _IS_SPACELESS.match(after))
    if before in ".," and after.isdigit():
        return text[at - 2 : at - 1].isdigit()
    return before.isdigit() and after in ".," and text[at + 1 : at + 2].isdigit()


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_" or unicodedata.category(character).startswith("M")
