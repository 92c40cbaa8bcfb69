"""The difference of two files: of their texts, with the place of each change in both."""

import re
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

import anyio

from drive_server.kernel.access import Actor
from drive_server.knowledge.location import find_place
from drive_server.models.contents import ChangedPlace, FileDiff
from drive_server.services.documents.reading import Reading, Readings
from drive_server.services.journal.effects import MAX_DIFF_CHARACTERS, unified_text_diff

MAX_PLACES: Final = 50
_HUNK: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class FileComparison:
    """Compares files with the rights of the caller."""

    def __init__(self, readings: Readings) -> None:
        self._readings = readings

    async def compare(
        self, actor: Actor, ref: str, other: str, version: int | None = None, other_version: int | None = None
    ) -> FileDiff:
        """Return the unified diff between the texts of two files or versions, 20,000 characters at most.

        Files that are not plain text are compared as the text that is read of them. Raises as `Readings.open` does.
        """
        before = await self._readings.open(actor, ref, version)
        after = await self._readings.open(actor, other, other_version)
        return await anyio.to_thread.run_sync(_difference, before, after, abandon_on_cancel=True)


def _difference(before: Reading, after: Reading) -> FileDiff:
    diff = unified_text_diff(_label(before), before.text, after.text, _label(after))
    is_cut = len(diff) > MAX_DIFF_CHARACTERS
    diff = diff[: diff.rfind("\n", 0, MAX_DIFF_CHARACTERS) + 1 or MAX_DIFF_CHARACTERS] if is_cut else diff
    runs = _runs(diff)
    places = [
        ChangedPlace(place=_place(before, run.old), other_place=_place(after, run.new)) for run in runs[:MAX_PLACES]
    ]
    return FileDiff(
        file=before.item,
        version=before.version,
        other=after.item,
        other_version=after.version,
        diff=diff,
        truncated=is_cut,
        places=tuple(places),
        changes=len(runs),
    )


@dataclass(slots=True)
class _Run:
    """Lines that changed together, by their numbers from 1: those that went and those that came."""

    old: list[int] = field(default_factory=list[int])
    new: list[int] = field(default_factory=list[int])


def _label(reading: Reading) -> str:
    return f"{reading.item.path} (version {reading.version})"


def _runs(diff: str) -> list[_Run]:
    """Return the changes of a unified diff."""
    runs: list[_Run] = []
    old = new = 0
    is_open = False
    for line in diff.split("\n")[2:]:
        if match := _HUNK.match(line):
            old, new, is_open = int(match[1]), int(match[2]), False
            continue
        if line[:1] not in ("-", "+"):
            is_open = is_open and line.startswith("\\")
            old, new = (old, new) if line.startswith("\\") else (old + 1, new + 1)
            continue
        if not is_open:
            runs.append(_Run())
            is_open = True
        if line[0] == "-":
            runs[-1].old.append(old)
            old += 1
        else:
            runs[-1].new.append(new)
            new += 1
    return runs


def _place(reading: Reading, lines: list[int]) -> str:
    """Return where a person finds the lines; empty without any."""
    if not lines:
        return ""
    ends = [0, *accumulate(len(line) + 1 for line in reading.text.split("\n"))]
    last = min(lines[-1], len(ends) - 1)
    start, end = ends[min(lines[0], len(ends) - 1) - 1], max(0, ends[last] - 1)
    return find_place(reading.extraction, start, max(start, end))
