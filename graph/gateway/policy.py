"""Which calls run, which wait for the person, and which never run. Pure: no state, no clock, no drive."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from graph.state import Language, Risk

Verdict = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds for one tool. `ask_when_tainted`: ask once content of a file was read in the turn.

    `reason` is the key of the reason that is told; empty: the risk's.
    """

    risk: Risk
    verdict: Verdict
    ask_when_tainted: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Hints:
    """A tool's annotations as its server states them; None where it states nothing."""

    read_only: bool | None = None
    destructive: bool | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one call, with its risk and the reason in the person's language. `known`: the tool has a rule."""

    verdict: Verdict
    risk: Risk
    reason: str
    known: bool


READ: Final = Rule("read", "allow")
WRITE: Final = Rule("write", "allow")
WRITE_UNLESS_TAINTED: Final = Rule("write", "allow", ask_when_tainted=True)
ASK_WRITE: Final = Rule("write", "ask")
ASK_DELETE: Final = Rule("delete", "ask")
ASK_DELETE_FOR_GOOD: Final = Rule("delete", "ask", reason="final")
ASK_SHARE: Final = Rule("share", "ask")
NEVER: Final = Rule("delete", "deny")

RULES: Final[Mapping[str, Rule]] = {
    "list_folder": READ,
    "get_folder_tree": READ,
    "get_file_info": READ,
    "read_file": READ,
    "list_versions": READ,
    "search_files": READ,
    "semantic_search_files": READ,
    "find_related_files": READ,
    "check_citations": READ,
    "map_reduce_files": READ,
    "read_bulk_result": READ,
    "get_index_status": READ,
    "list_shares": READ,
    "list_shared_with_me": READ,
    "diff_versions": READ,
    "list_changes": READ,
    "list_trash": READ,
    "whoami": READ,
    "create_folder": WRITE,
    "create_file": WRITE,
    "restore_item": WRITE,
    "rename_item": WRITE_UNLESS_TAINTED,
    "move_item": WRITE_UNLESS_TAINTED,
    "move_items": WRITE_UNLESS_TAINTED,
    "copy_item": WRITE_UNLESS_TAINTED,
    "write_file": ASK_WRITE,
    "patch_file": ASK_WRITE,
    "append_to_file": ASK_WRITE,
    "restore_version": ASK_WRITE,
    "undo_changes": ASK_WRITE,
    "redo_changes": ASK_WRITE,
    "trash_item": ASK_DELETE,
    "delete_item": ASK_DELETE_FOR_GOOD,
    "empty_trash": ASK_DELETE_FOR_GOOD,
    "share_item": ASK_SHARE,
    "create_share_link": ASK_SHARE,
    "get_download_url": ASK_SHARE,
    "update_share": ASK_SHARE,
    "revoke_share": ASK_SHARE,
    "authenticate": NEVER,
}

PREVIEWS: Final = frozenset({"undo_changes", "redo_changes"})
REPLACE_CONTENT: Final = frozenset({"create_file"})
"""With `on_conflict` these make a new version of what is there; the others put it into the trash."""

REASONS: Final[Mapping[str, Mapping[Language, str]]] = {
    "read": {"en": "Only reads.", "zh": "只读取，不改动。"},
    "write": {"en": "This changes your drive.", "zh": "这会改动你的云盘。"},
    "delete": {"en": "This moves things to the trash.", "zh": "这会把内容移到回收站。"},
    "final": {"en": "This deletes for good and can't be taken back.", "zh": "这会永久删除，无法恢复。"},
    "share": {"en": "This changes who has access.", "zh": "这会改变谁有访问权限。"},
    "tainted": {
        "en": "The content of a file was read in this turn, so changes are confirmed by you.",
        "zh": "本轮读取了文件内容，因此改动需要你确认。",
    },
    "unknown": {"en": "This tool has no rule, so you decide.", "zh": "这个工具没有规则，由你决定。"},
    "never": {"en": "The assistant never uses this tool.", "zh": "助手从不使用这个工具。"},
    "changed": {
        "en": "It has changed since you were asked; please look again.",
        "zh": "在询问你之后内容有了变化，请再看一次。",
    },
}


def judge(tool: str, args: Mapping[str, Any], hints: Hints, *, tainted: bool, language: Language) -> Judgement:
    """Return the verdict on a call. A tool without a rule is asked about, and counts as delete if it has no hints.

    An undo that is only previewed reads; what would put something else into the trash to take its place deletes, and
    what would give a file that is there another content writes.
    """
    rule = READ if tool in PREVIEWS and args.get("preview") is True else RULES.get(tool)
    if rule is not None and rule.verdict == "allow" and args.get("on_conflict") == "replace":
        rule = ASK_WRITE if tool in REPLACE_CONTENT else ASK_DELETE
    if rule is None:
        return Judgement("ask", _risk(hints), REASONS["unknown"][language], known=False)
    if rule.verdict == "deny":
        return Judgement("deny", rule.risk, REASONS["never"][language], known=True)
    if tainted and rule.ask_when_tainted:
        return Judgement("ask", rule.risk, REASONS["tainted"][language], known=True)
    return Judgement(rule.verdict, rule.risk, REASONS[rule.reason or rule.risk][language], known=True)


def _risk(hints: Hints) -> Risk:
    if hints.read_only:
        return "read"
    return "write" if hints.destructive is False else "delete"
