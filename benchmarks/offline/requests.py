"""The requests as data (`open.tsv`, `held_out.tsv`, `fresh.tsv`), and the drives that they are made in.

A row has the message, the place it is sent from (`file:`, `folder:` or `attach:` and paths), a pattern that the answer
has to match, and one that the proposed changes have to match, each written as its tool and arguments. `NONE`: nothing
may be proposed. `ABSENT`: the drive has no answer, and the model has to say so. `-` for the answer: the message only
begins a conversation, and is not judged. Rows of one thread are one conversation. Rules are never written by the rows
of `held_out.tsv`; `fresh.tsv` was written before the rules that it measures were known to its author.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from benchmarks.evaluation.task import EVERYDAY, LANGUAGES, drive_files

FOLDER: Final = Path(__file__).parent
OPEN, HELD_OUT, FRESH = "open", "held_out", "fresh"
HALVES: Final = (OPEN, HELD_OUT, FRESH)
NONE, ABSENT, UNJUDGED = "NONE", "ABSENT", "-"


@dataclass(frozen=True, slots=True)
class Request:
    """One message; `drive` is H, the home of the everyday tasks in both languages, C, a club's, or S, a shop's."""

    id: str
    drive: str
    language: str
    thread: str
    place: str
    message: str
    expect: str
    changes: str

    @property
    def judged(self) -> bool:
        """Say whether the answer counts."""
        return self.expect != UNJUDGED

    @property
    def sort(self) -> str:
        """Return the kind of request, for the table of the results."""
        if self.thread:
            return "conversation"
        return "changing" if self.changes != NONE else "place" if self.place else "reading"


def load_requests(half: str) -> list[Request]:
    """Return the rows of a half, in order."""
    with (FOLDER / f"{half}.tsv").open(encoding="utf-8", newline="") as file:
        return [Request(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


@cache
def files_of(drive: str) -> Mapping[str, str]:
    """Return the texts of a drive's files by path."""
    if drive == "H":
        return {path: text for language in LANGUAGES for path, text in drive_files(EVERYDAY, language).items()}
    root = FOLDER / {"C": "drive", "S": "shop"}[drive]
    return {f"/{path.relative_to(root).as_posix()}": path.read_text("utf-8") for path in _files(root)}


def _files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())
