"""The matrix of the policy, as in `docs/GATEWAY.md`: kinds of tools, levels of risk, and their rules."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from graph.policy.reasons import Code
from graph.state import Risk

Verdict = Literal["allow", "ask", "deny"]
ToolKind = Literal["query", "read", "write", "removal", "network", "execution"]
"""query: asks about the drive. read: shows contents. write: changes it, and can be undone. removal: takes things away.
network: reaches people outside of the drive. execution: makes other actions happen, or changes who acts."""
Level = Literal["low", "medium", "high"]
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


MATRIX: Final[Mapping[tuple[ToolKind, Level], Cell]] = {
    ("query", "low"): Cell("allow", "allow", "never", "looks"),
    ("query", "medium"): Cell("allow", "allow", "never", "looks"),
    ("query", "high"): Cell("ask", "ask", "never", "looks"),
    ("read", "low"): Cell("allow", "allow", "never", "reads"),
    ("read", "medium"): Cell("allow", "allow", "never", "reads"),
    ("read", "high"): Cell("ask", "ask", "never", "reads"),
    ("write", "low"): Cell("allow", "ask", "always", "adds"),
    ("write", "medium"): Cell("allow", "ask", "always", "organises"),
    ("write", "high"): Cell("ask", "ask", "always", "writes"),
    ("removal", "low"): Cell("ask", "ask", "untainted", "trashes"),
    ("removal", "medium"): Cell("ask", "ask", "never", "replaces"),
    ("removal", "high"): Cell("ask", "ask", "never", "final"),
    ("network", "low"): Cell("ask", "ask", "never", "revokes"),
    ("network", "medium"): Cell("ask", "ask", "never", "shares"),
    ("network", "high"): Cell("ask", "ask", "never", "links"),
    ("execution", "low"): Cell("allow", "allow", "never", "previews"),
    ("execution", "medium"): Cell("ask", "ask", "never", "undoes"),
    ("execution", "high"): Cell("deny", "deny", "never", "never"),
}
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
