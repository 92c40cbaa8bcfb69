"""The hits of a search, and the state of the index."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from drive_server.models.items import Item

IndexHealthState = Literal["ok", "rebuilding", "degraded"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage (or a name) that matches a query. `score` is comparable within one answer only, higher is better.

    `start` and `end` are character offsets into the text of this `version` as `read_file` counts them; `place` is where
    a person would look for the passage, as in `slide=3`. A name has neither. `omissions` counts the unreadable parts of
    the file by kind.
    """

    item: Item
    score: float
    text: str
    start: int = 0
    end: int = 0
    heading: str = ""
    page: int | None = None
    version: int = 0
    place: str = ""
    omissions: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The state of the index: files by state, and those that could not be read with the reason (`reason_zh` too).

    `awaiting_vectors` is the number of passages that can be found by their words, and by their meaning only later.
    `health` says of the whole index if it was damaged: it is being built anew, or that failed too often.
    """

    counts: dict[str, int] = field(default_factory=dict[str, int])
    problems: tuple[dict[str, str], ...] = ()
    awaiting_vectors: int = 0
    health: IndexHealthState = "ok"

    @property
    def summary(self) -> dict[str, int]:
        """Return how many files are pending, indexing, indexed, failed, or skipped, which is every other state."""
        names = {"pending": "pending", "indexing": "indexing", "ready": "indexed", "failed": "failed"}
        summary = dict.fromkeys((*names.values(), "skipped"), 0)
        for state, count in self.counts.items():
            summary[names.get(state, "skipped")] += count
        return summary

    @property
    def unfinished(self) -> int:
        """Return how many files wait to be read, or are being read."""
        return sum(self.counts.get(state, 0) for state in ("pending", "indexing"))
