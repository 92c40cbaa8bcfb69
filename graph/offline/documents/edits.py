"""Edits for `patch_file`: each `find` stands exactly once in the text as it is by then."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

Edit = dict[str, str]


@dataclass(frozen=True, slots=True)
class Planned:
    """Edits as the tool takes them, the text that they lead to, and how many places each wish changed."""

    edits: tuple[Edit, ...]
    text: str
    counts: tuple[int, ...]


def plan_edits(text: str, wishes: Sequence[tuple[str, str]], within: tuple[int, int] | None = None) -> Planned:
    """Return the edits that replace every occurrence of each wish's first text by its second, from the end on.

    With `within`, only occurrences in that part of the text. See `places_of` for what counts as an occurrence.
    """
    edits: list[Edit] = []
    counts: list[int] = []
    for find, replacement in wishes:
        places = places_of(text, find)
        places = [one for one in places if within is None or within[0] <= one[0] < within[1]]
        for start, end in reversed(places):
            left, right = _unique_around(text, start, end)
            changed = text[left:start] + replacement + text[end:right]
            edits.append({"find": text[left:right], "replace": changed})
            text = text[:left] + changed + text[right:]
        counts.append(len(places))
    return Planned(tuple(edits), text, tuple(counts))


def places_of(text: str, find: str) -> list[tuple[int, int]]:
    """Return where a text stands, as (start, end), the strictest reading that matches anything.

    Inside a longer word or number ("30 days" in "130 days") it counts only if there is no other place; letters' case,
    and white space instead of a space, are forgiven if nothing matches exactly.
    """
    literal, loose = re.escape(find), r"\s+".join(map(re.escape, find.split()))
    before = r"(?<![A-Za-z0-9_])" if re.match(r"\w", find, re.ASCII) else ""
    after = r"(?![A-Za-z0-9_])" if re.search(r"\w$", find, re.ASCII) else ""
    readings = (
        (before + literal + after, 0),
        (before + loose + after, re.IGNORECASE),
        (literal, 0),
        (loose, re.IGNORECASE),
    )
    found = (
        [match.span() for match in re.finditer(pattern, text, flags)] for pattern, flags in readings if find.strip()
    )
    return next((spans for spans in found if spans), [])


def insertion(text: str, content: str, anchor: str = "") -> Edit | None:
    """Return the edit that adds a paragraph after the line with the anchor, else at the start; None if it can't."""
    places = places_of(text, anchor) if anchor else []
    if not text.strip() or (anchor and not places):
        return None
    gap = "\n\n" if "\n\n" in text.strip() else "\n"
    start = places[0][0] if places else len(text) - len(text.lstrip())
    end = text.find("\n", places[0][1] if places else start)
    left, right = _unique_around(text, start, end if end >= 0 else len(text))
    at = (end if end >= 0 else len(text)) if anchor else start
    added = gap + content if anchor else content + gap
    return {"find": text[left:right], "replace": text[left:at] + added + text[at:right]}


def _unique_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a range, first to its line and then line by line, until its text stands only once."""
    while text.count(text[start:end]) != 1 and (start > 0 or end < len(text)):
        left, right = text.rfind("\n", 0, max(start - 1, 0)) + 1, text.find("\n", end + 1)
        start, end = left if start else 0, right if right >= 0 else len(text)
    return start, end
