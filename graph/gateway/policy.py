"""Which calls run, which wait for the person, and which never run. Pure: no state, no clock, no drive."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from graph.state import Language, Risk

Verdict = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds for one tool. `ask_when_tainted`: ask once content of a file was read in the turn."""

    risk: Risk
    verdict: Verdict
    ask_when_tainted: bool = False


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
    "list_shares": READ,
    "list_changes": READ,
    "whoami": READ,
    "create_folder": WRITE,
    "create_file": WRITE,
    "restore_item": WRITE,
    "rename_item": WRITE_UNLESS_TAINTED,
    "move_item": WRITE_UNLESS_TAINTED,
    "write_file": ASK_WRITE,
    "patch_file": ASK_WRITE,
    "restore_version": ASK_WRITE,
    "undo_changes": ASK_WRITE,
    "trash_item": ASK_DELETE,
    "share_item": ASK_SHARE,
    "revoke_share": ASK_SHARE,
    "authenticate": NEVER,
}

REASONS: Final[Mapping[str, Mapping[Language, str]]] = {
    "read": {"en": "Only reads.", "zh": "只读取，不改动。"},
    "write": {"en": "This changes your drive.", "zh": "这会改动你的云盘。"},
    "delete": {"en": "This moves things to the trash.", "zh": "这会把内容移到回收站。"},
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
    """Return the verdict on a call. A tool without a rule is asked about, and counts as delete if it has no hints."""
    rule = READ if tool == "undo_changes" and args.get("preview") is True else RULES.get(tool)
    if rule is None:
        return Judgement("ask", _risk(hints), REASONS["unknown"][language], known=False)
    if rule.verdict == "deny":
        return Judgement("deny", rule.risk, REASONS["never"][language], known=True)
    if tainted and rule.ask_when_tainted:
        return Judgement("ask", rule.risk, REASONS["tainted"][language], known=True)
    return Judgement(rule.verdict, rule.risk, REASONS[rule.risk][language], known=True)


def _risk(hints: Hints) -> Risk:
    if hints.read_only:
        return "read"
    return "write" if hints.destructive is False else "delete"
