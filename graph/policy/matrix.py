"""The matrix of the policy, as in `docs/GATEWAY.md`: kinds of tools, levels of risk, and their rules."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from drive_server.kernel.risks import ASKS, Asks
from drive_server.kernel.risks import Kind as ToolKind
from drive_server.kernel.risks import Risk as Level
from graph.policy.reasons import Code
from graph.state import Risk

Verdict = Literal["allow", "ask", "deny"]
Cover = Literal["never", "untainted", "always"]

KINDS: Final[tuple[ToolKind, ...]] = get_args(ToolKind)
LEVELS: Final[tuple[Level, ...]] = get_args(Level)


@dataclass(frozen=True, slots=True)
class Cell:
    """The rule for a kind of tool at a level.

    `tainted` is the verdict once content that is not from the person was read in the thread. `cover` says when a
    grant or a plan's contract lets it run without a question: never, as long as the thread is untainted, or always.
    """

    verdict: Verdict
    tainted: Verdict
    cover: Cover
    reason: Code


VERDICTS: Final[Mapping[Asks, tuple[Verdict, Verdict]]] = {
    "never": ("allow", "allow"),
    "when_shared": ("allow", "ask"),
    "always": ("ask", "ask"),
}
"""The verdict in a thread that is not tainted, and in one that is, by the drive's own table."""
DENIED: Final[frozenset[tuple[ToolKind, Level]]] = frozenset({("execution", "high")})
"""An outside host may let its person sign in; the assistant never changes who acts."""
REASONS: Final[Mapping[ToolKind, tuple[Code, Code, Code]]] = {
    "query": ("looks", "looks", "looks"),
    "read": ("reads", "reads", "reads"),
    "write": ("adds", "organises", "writes"),
    "removal": ("trashes", "replaces", "final"),
    "network": ("revokes", "shares", "links"),
    "execution": ("previews", "undoes", "never"),
}
"""The reasons of a kind, by level."""


def _cover(kind: ToolKind, level: Level) -> Cover:
    if kind == "write":
        return "always"
    return "untainted" if (kind, level) == ("removal", "low") else "never"


def _cell(kind: ToolKind, level: Level) -> Cell:
    verdict, tainted = ("deny", "deny") if (kind, level) in DENIED else VERDICTS[ASKS[kind, level]]
    return Cell(verdict, tainted, _cover(kind, level), REASONS[kind][LEVELS.index(level)])


MATRIX: Final[Mapping[tuple[ToolKind, Level], Cell]] = {place: _cell(*place) for place in ASKS}
"""Every combination has a cell, also those that no tool of today is in."""

RISKS: Final[Mapping[ToolKind, Risk]] = {
    "query": "read",
    "read": "read",
    "write": "write",
    "removal": "delete",
    "network": "share",
    "execution": "write",
}
"""The word that clients get for each kind."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The cell of a tool in the matrix."""

    kind: ToolKind
    level: Level

    @property
    def cell(self) -> Cell:
        """Return the rule of the cell."""
        return MATRIX[self.kind, self.level]

    @property
    def verdict(self) -> Verdict:
        """Return the verdict where no circumstance changes it."""
        return self.cell.verdict

    @property
    def risk(self) -> Risk:
        """The word that clients get."""
        return "read" if self.cell.reason == "previews" else RISKS[self.kind]

    @property
    def changes(self) -> bool:
        """Say whether the tool changes items, so that it matters which ones and where they are."""
        return self.kind in {"write", "removal"}
