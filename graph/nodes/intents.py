"""What a message asks for, as far as words alone tell it with high confidence, in English and Chinese. No model."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from graph.state import AgentName

Group = Literal["organise", "edit", "look"]

ORGANISE: Final = frozenset[Group]({"organise"})
EDIT: Final = frozenset[Group]({"edit"})
LOOK: Final = frozenset[Group]({"look"})

_NAMES: Final = re.compile(
    r"\"[^\"]*\"|“[^”]*”|「[^」]*」|《[^》]*》|`[^`]*`|(?<![\w.+-])[\w.+-]+@[\w.-]+|(?<![\w-])[\w-]+\.[a-z0-9]{1,5}\b",
    re.IGNORECASE | re.ASCII,
)
_CLAUSES: Final = re.compile(
    r"[,;，；、。]|\b(?:and|then|after that|afterwards|also|plus)\b"
    r"|(?<!合)并(?!列|行|排)(?:且)?|然后|接着|之后|再(?!次)|同时|最后",
    re.IGNORECASE,
)
_TEXT_PARTS: Final = re.compile(
    r"\b(?:word|sentence|paragraph|section|line|heading|title|row|column|bullet|typo|comma|phrase|chapter|version)s?\b"
    r"|第[一二三四五六七八九十\d]+[段句行章节]|段落|[一这那][段句行]|句子|章节|标题|错别字|单词|词语|版本",
    re.IGNORECASE,
)
_HERE: Final = re.compile(
    r"\b(?:this|the|current|open) (?:document|file|text|page|report|doc)\b|\bin here\b|\bin it\b"
    r"|(?:这|本|当前|该)(?:份|个|篇)?(?:文档|文件|文章|报告)|本文|文中|这里面",
    re.IGNORECASE,
)
_FOLLOWS: Final = re.compile(
    r"^\W*(?:(?:and|also|then|now|ok|okay|yes|no|again|it|that|this|them|those|same|another|the other|more|please|go on"
    r"|continue|why|thanks)\b|继续|再|那|这|它|他们|还|好|是|对|不|同样|另|为什么|谢谢|请)",
    re.IGNORECASE,
)
SHORT: Final = 40
READ_CHARACTERS: Final = 2_000
"""A longer message carries its material along, and the words of that prove nothing."""

_ACTIONS: Final[dict[str, tuple[Group, str, str]]] = {
    "undo": (
        "organise",
        r"\b(?:undo|redo|revert|roll(?:ed)? ?back|take (?:it|that|this|them) back)\b",
        r"撤销|撤回|回滚|还原",
    ),
    "create_folder": (
        "organise",
        r"\b(?:create|make|add|set up|new)\b[^.]{0,24}\b(?:folder|director(?:y|ies))s?\b",
        r"(?:新建|创建|建立|建|添加|加)[^。]{0,8}(?:文件夹|目录)",
    ),
    "create_file": (
        "organise",
        r"\b(?:create|make|write|save|start)\b[^.]{0,24}\b(?:file|document|note|memo)s?\b",
        r"(?:新建|创建|写|保存|存)[^。]{0,8}(?:文件(?!夹)|文档|笔记|便签)",
    ),
    "move": ("organise", r"\b(?:move|put|relocate)\b", r"移动|移到|移至|移入|挪到|放到|放进|放入|归档|搬到"),
    "rename": ("organise", r"\brename\b|\bchange the name\b", r"重命名|改名|更名"),
    "delete": (
        "organise",
        r"\b(?:delete|remove|trash|discard|throw away|get rid of|clean out|empty)\b",
        r"删除|删掉|删去|移除|扔掉|清空|丢弃|删",
    ),
    "restore": ("organise", r"\b(?:restore|recover|undelete|bring back)\b", r"恢复|找回"),
    "share": (
        "organise",
        r"\b(?:share|unshare|sharing|revoke|invite|access|role|permissions?)\b",
        r"共享|分享|授权|权限",
    ),
    "list": (
        "organise",
        r"\blist\b|\bwhat(?:'s| is) in (?:the |my |this )?(?:\w+ )?(?:folder|drive)\b|\bshow (?:me )?(?:all|the|my)\b",
        r"列出|有哪些文件|有什么文件|有哪些内容",
    ),
    "edit": (
        "edit",
        r"\b(?:replace|rewrite|rephrase|reword|edit|correct|fix|proofread|translate|shorten|condense|polish|insert|append"
        r"|change .{1,80} (?:to|into)|add .{1,80} (?:to|at|after|before|under))\b",
        r"替换|改成|改为|换成|修改|改写|润色|更正|纠正|修正|翻译|缩短|精简|扩写|插入|追加|补充|编辑",
    ),
    "find": (
        "look",
        r"\b(?:find|search|look for|look up|locate|where (?:is|are|did|do))\b",
        r"查找|搜索|搜一下|寻找|找|在哪",
    ),
    "read": (
        "look",
        r"\b(?:summari[sz]e|sum up|explain|compare|read|what does|what do|tell me about)\b",
        r"总结一下|总结(?!移|放|挪|共享|分享|到|存|保存)|概括|概述|解释|讲解|阅读|读一下|对比|比较|介绍一下",
    ),
}
_PATTERNS: Final[dict[str, tuple[Group, re.Pattern[str]]]] = {
    action: (group, re.compile(f"{english}|{chinese}", re.IGNORECASE))
    for action, (group, english, chinese) in _ACTIONS.items()
}


@dataclass(frozen=True, slots=True)
class Intent:
    """What the words ask for: the actions by clause, and whether they speak of the open document."""

    clauses: tuple[frozenset[str], ...]
    here: bool

    @property
    def actions(self) -> frozenset[str]:
        """All actions of the message."""
        return frozenset().union(*self.clauses)

    @property
    def groups(self) -> frozenset[Group]:
        """What kinds of action these are."""
        return frozenset(_PATTERNS[action][0] for action in self.actions)

    @property
    def several(self) -> bool:
        """True if more than one thing is to be done, one of them a change: that needs a plan."""
        busy = [clause for clause in self.clauses if clause]
        return len(busy) > 1 and len(self.actions) > 1 and self.groups not in (LOOK, EDIT)


def read_intent(text: str, *, in_document: bool) -> Intent:
    """Read a message. With an open document, deleting or moving a part of a text is an edit of it."""
    if len(text) > READ_CHARACTERS:
        return Intent((), here=False)
    plain = _NAMES.sub("X", text)
    clauses = tuple(_actions(clause, in_document=in_document) for clause in _CLAUSES.split(plain))
    return Intent(clauses, _HERE.search(plain) is not None)


def _actions(clause: str, *, in_document: bool) -> frozenset[str]:
    found = frozenset(action for action, (_, pattern) in _PATTERNS.items() if pattern.search(clause))
    if in_document and found and found <= {"delete", "move", "restore", "edit"} and _TEXT_PARTS.search(clause):
        return frozenset({"edit"})
    if "share" in found or "undo" in found:
        return found & {"share", "undo"}
    return found - {"edit"} if "rename" in found else found


def pattern_agent(intent: Intent, *, in_document: bool) -> AgentName | None:
    """Return the specialist that the words name with high confidence; None if they leave it open."""
    groups = intent.groups
    if groups == ORGANISE:
        return "drive_agent"
    if groups == EDIT:
        return "document_agent"
    if groups == LOOK:
        return "document_agent" if in_document and intent.here else "search_agent"
    return None


def is_follow_up(text: str) -> bool:
    """Say whether the message reads as the continuation of what was talked about before."""
    if len(text) > READ_CHARACTERS:
        return False
    stripped = text.strip()
    return len(stripped) <= SHORT or _FOLLOWS.match(stripped) is not None
