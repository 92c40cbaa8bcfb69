"""The answers of the tools that read many files, on the wire."""

import re
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Final

from mcp.types import ResourceTemplate
from pydantic import BaseModel

from drive_server.knowledge.text.omissions import omission_sentence
from drive_server.mcp.icons import STACK
from drive_server.mcp.results import MissingResult, Result
from drive_server.services.map_reduce.findings import Finding, Outcome, Status
from drive_server.services.map_reduce.stored_results import StoredResult
from drive_server.services.text.addresses import Passage
from drive_server.services.tree.names import display_name

RESULTS: Final = "drive://results/"
_RESULT: Final = re.compile(rf"{RESULTS}([0-9a-f]{{1,64}})(?:\?first=(\d{{1,4}}))?")
MAX_IN_RESOURCE: Final = 100
MAX_SHOWN: Final = 20
MAX_SHOWN_CHARACTERS: Final = 8_000
FRAME_CHARACTERS: Final = 400
"""So much of the findings, each with its frame, is in the first answer: with the text it stays below the 20,000
characters that the assistant shows its models of a result."""


TEMPLATE: Final = ResourceTemplate(
    name="result",
    title="What many files said",
    uriTemplate=f"{RESULTS}{{result_id}}{{?first}}",
    description=f"What map_reduce_files found, {MAX_IN_RESOURCE} files at a time from the one numbered `first` on, "
    "for whoever asked, until it expires.",
    mimeType="application/json",
    icons=[STACK],
)


class FindingResult(BaseModel):
    """The answer of one file, or why it was not read. `quote` is in `version` from `start` to `end`, on line `line`.

    `uri` opens the file there. `note` and `missing` name the unreadable parts of the file.
    """

    path: str
    status: Status
    file_id: str | None
    version: int | None
    answer: str
    quote: str
    uri: str | None
    start: int | None
    end: int | None
    line: int | None
    read_characters: int
    characters: int
    code: str
    reason: str
    note: str = ""
    missing: MissingResult | None = None

    @classmethod
    def of(cls, finding: Finding) -> "FindingResult":
        """Return the finding as it is on the wire."""
        note, missing = omission_sentence(finding.omissions), MissingResult.of(finding.omissions)
        return cls(**asdict(finding), uri=_address(finding), note=note, missing=missing)

    @property
    def as_line(self) -> str:
        """The finding as a line for people."""
        said = self.answer or ("nothing on this" if self.status == "nothing" else f"not read: {self.reason}")
        where = f" [version {self.version}" + (f", line {self.line}]" if self.line else "]") if self.version else ""
        return f"- {display_name(self.path)}{where}: {said}" + (f' ("{self.quote}")' if self.quote else "")


class BulkResult(Result):
    """The answers brought together in `text`, the files read in `coverage`, and the first of the files' answers.

    Those that say something (`answered` of them) come first, then those that failed. `next` is where the rest begins,
    null if that is all; `uri` and `result_id` name the whole, until `expires_at`. `fitting` counts the files that fit,
    null if there are more than were read and nobody counted them.
    """

    text: str
    note: str
    coverage: str
    is_complete: bool
    files: int
    read: int
    answered: int
    fitting: int | None
    model: str
    results: list[FindingResult]
    next: int | None
    result_id: str
    uri: str
    expires_at: datetime

    @classmethod
    def of(cls, outcome: Outcome, result_id: str, expires_at: datetime) -> "BulkResult":
        """Return the answer to the call that read the files."""
        shown = _first(outcome.findings)
        return cls.copied(
            outcome,
            files=len(outcome.findings),
            results=shown,
            next=len(shown) if len(shown) < len(outcome.findings) else None,
            result_id=result_id,
            uri=f"{RESULTS}{result_id}",
            expires_at=expires_at,
        )


class StoredBulkResult(Result):
    """A part of a stored result: `results` from the file numbered `first` on, of `files`."""

    instruction: str
    text: str
    note: str
    coverage: str
    model: str
    files: int
    first: int
    results: list[FindingResult]
    next: int | None
    created_at: datetime
    expires_at: datetime

    @classmethod
    def of(cls, stored: StoredResult) -> "StoredBulkResult":
        """Return the part as it is on the wire."""
        results = [FindingResult.of(finding) for finding in stored.findings]
        end = stored.first + len(results)
        return cls.copied(stored, files=stored.total, results=results, next=end if end < stored.total else None)


def result_sought(uri: str) -> tuple[str, int] | None:
    """Return the id of the result that a URI names, and the first file to show; None if it names something else."""
    found = _RESULT.fullmatch(uri)
    return (found.group(1), int(found.group(2) or 0)) if found else None


def _address(finding: Finding) -> str | None:
    if finding.file_id is None or finding.version is None or finding.start is None or finding.end is None:
        return None
    return Passage(finding.file_id, finding.version, finding.start, finding.end).uri


def finding_lines(findings: Sequence[FindingResult]) -> str:
    """Return a line for each file."""
    return "\n".join(finding.as_line for finding in findings)


def _first(findings: Sequence[Finding]) -> list[FindingResult]:
    """Return as many of the findings as fit into an answer, one at least."""
    shown: list[FindingResult] = []
    size = 0
    for finding in findings[:MAX_SHOWN]:
        size += len(finding.path) + len(finding.answer) + len(finding.quote) + FRAME_CHARACTERS
        if shown and size > MAX_SHOWN_CHARACTERS:
            break
        shown.append(FindingResult.of(finding))
    return shown
