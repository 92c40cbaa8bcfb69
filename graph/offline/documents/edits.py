"""Edits for `patch_file`: every occurrence gets a `find` that stands exactly once in the text as it is by then."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MOST_EDITS: Final = 100
WIDEST: Final = 400
_WORD = re.compile(r"[A-Za-z0-9_]")


@dataclass(frozen=True, slots=True)
class Planned:
    """Edits as the tool takes them, the text that they lead to, and how many places each wish changed."""

    edits: tuple[dict[str, str], ...]
    text: str
    counts: tuple[int, ...]


def plan_edits(text: str, wishes: Sequence[tuple[str, str]]) -> Planned:
    """Return the edits that replace every occurrence of each wish's first text by its second.

    An occurrence inside a longer word or number ("30 days" in "130 days") counts only if there is no other. Letters'
    case, and white space instead of a space, are forgiven if nothing matches exactly.
    """
    edits: list[dict[str, str]] = []
    counts: list[int] = []
    for find, replacement in wishes:
        made, text = _replace_all(text, find, replacement)
        edits += made
        counts.append(len(made))
    return Planned(tuple(edits), text, tuple(counts))


def places_of(text: str, find: str) -> list[tuple[int, int]]:
    """Return where a text stands, as (start, end), the strictest reading that matches anything."""
    if not find.strip():
        return []
    literal = re.escape(find)
    loose = r"\s+".join(re.escape(word) for word in find.split())
    before = r"(?<![A-Za-z0-9_])" if _WORD.match(find[0]) else ""
    after = r"(?![A-Za-z0-9_])" if _WORD.match(find[-1]) else ""
    for pattern, flags in (
        (before + literal + after, 0),
        (before + loose + after, re.IGNORECASE),
        (literal, 0),
        (loose, re.IGNORECASE),
    ):
        found = [match.span() for match in re.finditer(pattern, text, flags)]
        if found:
            return found
    return []


def _replace_all(text: str, find: str, replacement: str) -> tuple[list[dict[str, str]], str]:
    edits: list[dict[str, str]] = []
    shift = 0
    for place in places_of(text, find):
        start, end = place[0] + shift, place[1] + shift
        left, right = unique_around(text, start, end)
        wide = text[left:start] + replacement + text[end:right]
        edits.append({"find": text[left:right], "replace": wide})
        text = text[:left] + wide + text[right:]
        shift += len(replacement) - (end - start)
    return edits, text


def unique_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a range, word by word and at first within its line, until its text stands only once."""
    left, right = start, end
    while not _is_unique(text, left, right) and (left > 0 or right < len(text)):
        if right - left > WIDEST:
            left, right = max(0, left - WIDEST), min(len(text), right + WIDEST)
            continue
        left, right = _wider(text, left, right)
    return left, right


def _wider(text: str, left: int, right: int) -> tuple[int, int]:
    at_line_start = left == 0 or text[left - 1] == "\n"
    at_line_end = right == len(text) or text[right] == "\n"
    if at_line_start and at_line_end:
        return max(0, left - 1), min(len(text), right + 1)
    return (left if at_line_start else _word_start(text, left)), (right if at_line_end else _word_end(text, right))


def _word_start(text: str, at: int) -> int:
    at -= 1
    while at > 0 and _WORD.match(text[at]) and _WORD.match(text[at - 1]):
        at -= 1
    return at


def _word_end(text: str, at: int) -> int:
    at += 1
    while at < len(text) and _WORD.match(text[at - 1]) and _WORD.match(text[at]):
        at += 1
    return at


def _is_unique(text: str, left: int, right: int) -> bool:
    part = text[left:right]
    first = text.find(part)
    return bool(part) and text.find(part, first + 1) < 0


def append_edit(text: str, content: str) -> dict[str, str] | None:
    """Return the edit that adds a paragraph at the end; None for a text without anything to hold on to."""
    end = len(text.rstrip())
    if not end:
        return None
    start = text.rfind("\n", 0, end) + 1
    left, right = unique_around(text, start, end)
    tail = text[left:right]
    return {"find": tail, "replace": tail[: end - left] + _separator(text) + content + tail[end - left :]}


def prepend_edit(text: str, content: str) -> dict[str, str] | None:
    """Return the edit that adds a paragraph at the start."""
    if not text.strip():
        return None
    start = len(text) - len(text.lstrip())
    end = text.find("\n", start)
    left, right = unique_around(text, start, end if end >= 0 else len(text))
    head = text[left:right]
    return {"find": head, "replace": head[: start - left] + content + _separator(text) + head[start - left :]}


def after_edit(text: str, anchor: str, content: str) -> dict[str, str] | None:
    """Return the edit that adds a paragraph after the line with the anchor; None if the anchor is not there."""
    places = places_of(text, anchor)
    if not places:
        return None
    heading = re.search(rf"^#+[ \t]*{re.escape(anchor)}[ \t]*$", text, re.MULTILINE | re.IGNORECASE)
    start, end = heading.span() if heading else places[0]
    line_end = text.find("\n", end)
    left, right = unique_around(text, start, line_end if line_end >= 0 else len(text))
    at = (line_end if line_end >= 0 else len(text)) - left
    part = text[left:right]
    return {"find": part, "replace": part[:at] + _separator(text) + content + part[at:]}


def _separator(text: str) -> str:
    return "\n\n" if "\n\n" in text.strip() else "\n"
