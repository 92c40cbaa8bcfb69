"""The matrix of the policy: what kind of thing a tool does, how much is at stake, and what holds then.

`docs/GATEWAY.md` has the same table for people; a test holds the two together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

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

    `in_tainted_turn` is the verdict once content that is not from the person was read in the turn. `cover` says when a
    grant or a plan's contract lets it run without a question: never, as long as the thread is untainted, or always.
    """

    verdict: Verdict
    in_tainted_turn: Verdict
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
        """The verdict as long as nothing else is known."""
        return self.cell.verdict

    @property
    def risk(self) -> Risk:
        """The word that clients get."""
        return "read" if self.cell.reason == "previews" else RISKS[self.kind]

    @property
    def changes(self) -> bool:
        """Say whether the tool changes items, so that it matters which ones and where they are."""
        return self.kind in {"write", "removal"}


RULES: Final[Mapping[str, Rule]] = {
    "list_folder": Rule("query", "low"),
    "get_folder_tree": Rule("query", "low"),
    "get_file_info": Rule("query", "low"),
    "list_versions": Rule("query", "low"),
    "list_changes": Rule("query", "low"),
    "list_trash": Rule("query", "low"),
    "list_shares": Rule("query", "low"),
    "list_shared_with_me": Rule("query", "low"),
    "get_index_status": Rule("query", "low"),
    "check_citations": Rule("query", "low"),
    "whoami": Rule("query", "low"),
    "search_files": Rule("query", "medium"),
    "semantic_search_files": Rule("query", "medium"),
    "find_related_files": Rule("query", "medium"),
    "read_file": Rule("read", "low"),
    "diff_versions": Rule("read", "low"),
    "read_bulk_result": Rule("read", "low"),
    "map_reduce_files": Rule("read", "medium"),
    "read_result": Rule("read", "low"),
    "list_memories": Rule("query", "low"),
    "remember": Rule("write", "high"),
    "forget": Rule("write", "high"),
    "create_folder": Rule("write", "low"),
    "create_file": Rule("write", "low"),
    "restore_item": Rule("write", "medium"),
    "rename_item": Rule("write", "medium"),
    "move_item": Rule("write", "medium"),
    "move_items": Rule("write", "medium"),
    "copy_item": Rule("write", "medium"),
    "write_file": Rule("write", "high"),
    "patch_file": Rule("write", "high"),
    "append_to_file": Rule("write", "high"),
    "restore_version": Rule("write", "high"),
    "trash_item": Rule("removal", "low"),
    "delete_item": Rule("removal", "high"),
    "empty_trash": Rule("removal", "high"),
    "revoke_share": Rule("network", "low"),
    "share_item": Rule("network", "medium"),
    "update_share": Rule("network", "medium"),
    "create_share_link": Rule("network", "high"),
    "get_download_url": Rule("network", "high"),
    "undo_changes": Rule("execution", "medium"),
    "redo_changes": Rule("execution", "medium"),
    "authenticate": Rule("execution", "high"),
}

PREVIEWS: Final = frozenset({"undo_changes", "redo_changes"})
REPLACE_CONTENT: Final = frozenset({"create_file"})
"""With `on_conflict` these make a new version of what is there; the others put it into the trash."""


def rule_of(tool: str, args: Mapping[str, Any]) -> Rule | None:
    """Return where the call stands, None for a tool without a rule. The name has to be the tool's, letter by letter.

    An undo that is only previewed changes nothing; what would put something else into the trash to take its place
    removes; what would give a file that is there another content writes.
    """
    rule = RULES.get(tool)
    if rule is None:
        return None
    if tool in PREVIEWS and args.get("preview") is True:
        return Rule("execution", "low")
    if rule.kind == "write" and args.get("on_conflict") == "replace":
        return Rule("write", "high") if tool in REPLACE_CONTENT else Rule("removal", "medium")
    return rule
