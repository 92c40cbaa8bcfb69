"""Findings of reading many files: each file's answer, and the coverage of all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from drive_server.kernel.texts import Language, Texts
from drive_server.knowledge.text.omissions import missing_things
from drive_server.services.tree.names import display_name

TEXTS: Final = Texts.beside(__file__)
Status = Literal["answered", "nothing", "failed"]
ORDER: Final[tuple[Status, ...]] = ("answered", "failed", "nothing")
MAX_NAMED: Final = 10
MAX_REASON_CHARACTERS: Final = 100
MAX_LABEL_CHARACTERS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The answer of one file, or why it was not read.

    `path` is the caller's reference if the file could not be looked at. `answered`: `answer` has it; `nothing`: it was
    read, and holds nothing on the task; `failed`: for the `reason`, a sentence with its `code`. `quote` stands in that
    version of the file from `start` to `end` (characters as read_file counts them, end exclusive), on line `line`. Of
    `characters` in all `read_characters` were read; `omissions` counts by kind the parts that have no characters at
    all.
    """

    path: str
    status: Status
    file_id: str | None = None
    version: int | None = None
    answer: str = ""
    quote: str = ""
    start: int | None = None
    end: int | None = None
    line: int | None = None
    read_characters: int = 0
    characters: int = 0
    code: str = ""
    reason: str = ""
    omissions: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def is_read(self) -> bool:
        """Return whether the file was read, be it in part."""
        return self.status != "failed"

    @property
    def is_partial(self) -> bool:
        """Return whether some of the file was not read."""
        return self.is_read and (self.read_characters < self.characters or bool(missing_things(self.omissions)))


@dataclass(frozen=True, slots=True)
class Outcome:
    """All of it: `text` is the answers together, `note` says if they could not be, `coverage` how much was read.

    `fitting` is how many files there were, None if more than were read and nobody knows how many. `model` answered.
    """

    text: str
    note: str
    coverage: str
    model: str
    findings: tuple[Finding, ...]
    fitting: int | None

    @property
    def read(self) -> int:
        """Return how many files were read."""
        return sum(finding.is_read for finding in self.findings)

    @property
    def answered(self) -> int:
        """Return how many files say something on the task."""
        return sum(finding.status == "answered" for finding in self.findings)

    @property
    def is_complete(self) -> bool:
        """Return whether every file that fits was read, and all of it."""
        everything = self.fitting is not None and self.fitting <= len(self.findings)
        return everything and all(one.is_read and not one.is_partial for one in self.findings)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings with those first that say something, then those that failed, each in the order they had."""
    return sorted(findings, key=lambda finding: ORDER.index(finding.status))


def failed(label: str, code: str, reason: str) -> Finding:
    """Return the finding for a file that was not read."""
    return Finding(path=label, status="failed", code=code, reason=_short(reason))


def coverage_of(findings: Sequence[Finding], fitting: int | None, language: Language) -> str:
    """Return how many of the files were read, with those that were not or only in part, and why."""
    missing = [f"{_label(one)} ({one.reason})" for one in findings if not one.is_read]
    partly = [_partly(one, language) for one in findings if one.is_partial]
    total = len(findings)
    parts = [TEXTS.say("coverage.read", language, read=total - len(missing), total=total)]
    for code, names in (("coverage.failed", missing), ("coverage.partly", partly)):
        if names:
            parts.append(TEXTS.say(code, language, count=len(names), names=_named(names, language)))
    parts += _left_out(total, fitting, language)
    return TEXTS.say("coverage.between_parts", language).join(parts) + TEXTS.say("coverage.end", language)


def _left_out(total: int, fitting: int | None, language: Language) -> list[str]:
    if fitting is None:
        return [TEXTS.say("coverage.some_left_out", language, total=total)]
    if fitting <= total:
        return []
    return [TEXTS.say("coverage.left_out", language, count=fitting - total, total=total)]


def _named(names: list[str], language: Language) -> str:
    more = len(names) - MAX_NAMED
    shown = names[:MAX_NAMED]
    if more > 0:
        shown.append(TEXTS.say("coverage.more_names", language, count=more))
    return TEXTS.say("coverage.between_names", language).join(shown)


def _label(finding: Finding) -> str:
    label = finding.path
    return display_name(label if len(label) <= MAX_LABEL_CHARACTERS else f"…{label[-MAX_LABEL_CHARACTERS:]}")


def _partly(finding: Finding, language: Language) -> str:
    parts = missing_things(finding.omissions, language)
    label = _label(finding)
    return TEXTS.say("coverage.missing_parts", language, file=label, parts=parts) if parts else label


def _short(reason: str) -> str:
    reason = " ".join(reason.split()).rstrip(".。")
    return reason if len(reason) <= MAX_REASON_CHARACTERS else f"{reason[:MAX_REASON_CHARACTERS]}…"
