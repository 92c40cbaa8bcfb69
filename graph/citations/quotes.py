"""The quotations in an answer, and the numbers of their sources. Pure.

A model writes the words of a passage in quotation marks (or as a block quote) and a number after them, `“...” [1]`, and
may end with a line for each number: `[1] /HR/Handbook.md`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

ENOUGH_TO_COUNT: Final = 24
"""Characters from which words in quotation marks are taken for a quotation without a number; one in Chinese is two."""
MAX_QUOTATIONS: Final = 50
NEAR: Final = 80
_MARK: Final = r"[\[【［](?P<number>[1-9]\d{0,2})[\]】］](?!\()"
_MARKER = re.compile(_MARK)
_LAST_MARK = re.compile(rf"\s*{_MARK}[.。]?\Z")
_SOURCE_LINE = re.compile(rf"^[ \t]*(?:[-*•][ \t]+)?{_MARK}[:：]?(?P<rest>[^\n]*)$", re.MULTILINE)
_QUOTED = re.compile(
    r"“(?P<curly>[^“”]+)”|「(?P<corner>[^「」]+)」|『(?P<double>[^『』]+)』|«(?P<angle>[^«»]+)»"
    r"|„(?P<low>[^„“”]+)[“”]|\"(?P<straight>(?:[^\"\n]|\n(?!\s*\n))+)\""
)
_BLOCK = re.compile(r"(?:^[ \t]*>[^\n]*(?:\n|\Z))+", re.MULTILINE)
_BLOCK_SIGN = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
_CODE = re.compile(r"`[^`\n]*`")
_EMPHASIS = re.compile(r"\A(?P<sign>\*{1,3}|_{1,3})(?P<inside>.+)(?P=sign)\Z", re.DOTALL)
_TAIL = ",，.。;；"
_HAN = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Quotation:
    """A quotation: its words (empty for a bare number), its number, and the source that the answer names."""

    words: str
    number: int | None
    source: str


def quotations_of(answer: str, familiar: Sequence[str] = ()) -> list[Quotation]:
    """Return the quotations in order, at most 50, then the numbers that stand without one.

    Words in quotation marks without a number count if they are long, and not part of `familiar` texts: the person's
    words, search queries, names.
    """
    lines = {int(line["number"]): line["rest"] for line in _SOURCE_LINE.finditer(answer)}
    found: list[Quotation] = []
    for words, number, near in _quoted(answer):
        if number is None and (_weight(words) < ENOUGH_TO_COUNT or any(words in text for text in familiar)):
            continue
        quotation = Quotation(words, number, f"{near} {lines.get(number, '')}" if number else near)
        if all((other.words, other.number) != (words, number) for other in found):
            found.append(quotation)
    quoted = {one.number for one in found}
    unquoted = _QUOTED.sub(_blanks, _without_blocks(answer))
    bare = dict.fromkeys(int(mark["number"]) for mark in _MARKER.finditer(unquoted))
    found += [Quotation("", number, lines.get(number, "")) for number in bare if number not in quoted]
    return found[:MAX_QUOTATIONS]


def has_marks(answer: str) -> bool:
    """Say whether the answer refers to a source by number."""
    return _MARKER.search(answer) is not None


def _quoted(answer: str) -> Iterator[tuple[str, int | None, str]]:
    """Yield the words, the number and the line of each quotation."""
    for block in _BLOCK.finditer(answer):
        text = _BLOCK_SIGN.sub("", block[0]).rstrip()
        mark = _LAST_MARK.search(text)
        words = text[: mark.start()] if mark else text
        yield _plain(words), int(mark["number"]) if mark else None, _line_before(answer, block)
    plain = _without_blocks(answer)
    for match in _QUOTED.finditer(plain):
        words = answer[slice(*match.span(match.lastgroup or 0))]
        yield _plain(words), _number_of(plain, match), _line(answer, match)


def _number_of(text: str, match: re.Match[str]) -> int | None:
    line = _SOURCE_LINE.match(text, text.rfind("\n", 0, match.start()) + 1)
    if line:
        return int(line["number"])
    behind = text[match.end() : match.end() + NEAR].partition("\n\n")[0]
    mark = _MARKER.search(behind)
    return int(mark["number"]) if mark and not _QUOTED.search(behind, 0, mark.start()) else None


def _without_blocks(answer: str) -> str:
    return _BLOCK.sub(_blanks, _CODE.sub(_blanks, answer))


def _plain(words: str) -> str:
    """Return the words without emphasis and quotation marks around all of them, and without a comma at their end."""
    text = _EMPHASIS.sub(r"\g<inside>", words.strip())
    if pair := _QUOTED.fullmatch(text):
        text = _EMPHASIS.sub(r"\g<inside>", pair[pair.lastgroup or 0].strip())
    return text[:-1].rstrip() if text[-1:] and text[-1] in _TAIL and not text.endswith("..") else text


def _blanks(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _line(text: str, match: re.Match[str]) -> str:
    end = text.find("\n", match.end())
    return text[text.rfind("\n", 0, match.start()) + 1 : end if end >= 0 else len(text)]


def _line_before(text: str, match: re.Match[str]) -> str:
    return text[: match.start()].rstrip().rpartition("\n")[2]


def _weight(words: str) -> int:
    return len(words) + len(_HAN.findall(words))
