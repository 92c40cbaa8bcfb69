"""What was changed in the drive, in a person's words: one sentence for each change, one for all of a kind.

The journal's own sentences are English; in Chinese they are made anew of the action and the names that they quote.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from graph.state import Language

NAMES_TOLD: Final = 5
QUOTED: Final = re.compile(r"'(.+?)'(?=[\s.,:;)…]|$)")
ADDRESS: Final = re.compile(r"\S+@[\w.-]*\w")


class Recorded(Protocol):
    """A change as the journal has it."""

    @property
    def id(self) -> int:
        """Its number."""
        ...

    @property
    def action(self) -> str:
        """What kind of thing was done."""
        ...

    @property
    def summary(self) -> str:
        """The journal's sentence."""
        ...

    @property
    def undone_by(self) -> int | None:
        """The change that took it back."""
        ...


@dataclass(frozen=True, slots=True)
class Kind:
    """The words for one kind of action: of several changes in English, of one and of several in Chinese."""

    many: str
    one_zh: str
    many_zh: str


@dataclass(frozen=True, slots=True)
class Group:
    """The changes of one kind: their numbers, how many of them were taken back since, and a sentence for all."""

    action: str
    count: int
    undone: int
    text: str
    change_ids: tuple[int, ...]


OTHER: Final = Kind("Changed {count} things", "改动了{names}", "改动了 {count} 项")
KINDS: Final[dict[str, Kind]] = {
    "create_folder": Kind("Created {count} folders", "新建了文件夹{names}", "新建了 {count} 个文件夹"),
    "create_file": Kind("Created {count} files", "新建了文件{names}", "新建了 {count} 个文件"),
    "copy": Kind("Made {count} copies", "复制了{names}", "复制了 {count} 项"),
    "rename": Kind("Renamed {count} items", "重命名了{names}", "重命名了 {count} 项"),
    "move": Kind("Moved {count} items", "移动了{names}", "移动了 {count} 项"),
    "move_many": Kind("Moved items {count} times", "移动了多项内容", "批量移动了 {count} 次"),
    "write": Kind("Replaced the content of {count} files", "改写了{names}的内容", "改写了 {count} 个文件的内容"),
    "patch": Kind("Edited {count} times", "编辑了{names}", "编辑了 {count} 次"),
    "append": Kind("Added to files {count} times", "在{names}末尾添加了内容", "添加了 {count} 次内容"),
    "restore_version": Kind(
        "Brought back {count} earlier versions", "恢复了{names}的较早版本", "恢复了 {count} 个较早版本"
    ),
    "trash": Kind("Moved {count} items to the trash", "把{names}移到了回收站", "把 {count} 项移到了回收站"),
    "restore": Kind("Restored {count} items from the trash", "从回收站恢复了{names}", "从回收站恢复了 {count} 项"),
    "delete_for_good": Kind("Deleted {count} items for good", "永久删除了{names}", "永久删除了 {count} 项"),
    "empty_trash": Kind("Emptied the trash {count} times", "清空了回收站", "清空了 {count} 次回收站"),
    "share": Kind("Shared {count} times", "把{names}共享给了{who}", "共享了 {count} 次"),
    "update_share": Kind("Changed {count} roles", "更改了{who}对{names}的权限", "更改了 {count} 项权限"),
    "revoke": Kind("Took back {count} roles", "收回了{who}对{names}的权限", "收回了 {count} 项权限"),
    "create_link": Kind("Created {count} links", "为{names}创建了链接", "创建了 {count} 个链接"),
    "update_link": Kind("Changed {count} links", "更改了{names}的链接", "更改了 {count} 个链接"),
    "revoke_link": Kind("Revoked {count} links", "撤销了{names}的链接", "撤销了 {count} 个链接"),
    "undo": Kind("Took changes back {count} times", "撤销了之前的改动", "撤销了 {count} 次改动"),
    "redo": Kind("Did changes again {count} times", "重做了之前撤销的改动", "重做了 {count} 次改动"),
}
"""By the journal's actions."""

LEFT_ZH: Final[Sequence[tuple[re.Pattern[str], str]]] = [
    (re.compile(r"^changed since by (\S+) at (.+)$"), r"此后被 \1 于 \2 改动过"),
    (re.compile(r"^something in it was changed since by (\S+) at (.+)$"), r"其中的内容此后被 \1 于 \2 改动过"),
    (re.compile(r"^something in it was moved away or deleted since$"), "其中的内容此后被移走或删除了"),
    (re.compile(r"^it holds items that were put there since$"), "其中有此后放入的内容"),
    (re.compile(r"^it was changed since$"), "此后被改动过"),
    (re.compile(r"^your role on it no longer allows this$"), "你现在的权限不再允许这样做"),
    (re.compile(r"^the folder it was in is no longer open to you$"), "它原来所在的文件夹已不再对你开放"),
    (re.compile(r"^this kind of change can't be taken back$"), "这类改动无法撤销"),
    (re.compile(r"^it is in the trash already$"), "它已经在回收站里"),
    (re.compile(r"^its earlier content is no longer kept.*$"), "它较早的内容已不再保留"),
    (re.compile(r"^the link has expired since$"), "该链接此后已过期"),
]
"""Why an undo leaves something as it is: the drive's reasons."""

HAPPENS_ZH: Final[Sequence[tuple[re.Pattern[str], str]]] = [
    (re.compile(r"^goes back to its earlier place and name$"), "回到原来的位置和名称"),
    (re.compile(r"^goes back to its earlier content$"), "回到较早的内容"),
    (re.compile(r"^goes to the trash$"), "移到回收站"),
    (re.compile(r"^gives (\S+) the earlier role again$"), r"恢复 \1 原来的权限"),
    (re.compile(r"^is no longer shared with (\S+)$"), r"不再共享给 \1"),
    (re.compile(r"^is shared with (\S+) again$"), r"重新共享给 \1"),
    (re.compile(r"^has the link on its earlier terms again$"), "链接恢复原来的设置"),
    (re.compile(r"^is no longer open by the link$"), "不再能通过链接访问"),
    (re.compile(r"^is open by the link again$"), "重新能通过链接访问"),
]
"""What happens to an item in an undo: the drive's words."""


def sentence(change: Recorded, language: Language) -> str:
    """Return what a change was."""
    if language == "en":
        return change.summary
    names = QUOTED.findall(change.summary)
    who = ADDRESS.search(change.summary)
    if change.action == "rename" and len(names) > 1:
        return f"把“{names[0]}”重命名为“{names[-1]}”。"
    told = KINDS.get(change.action, OTHER).one_zh
    name = f"“{names[0]}”" if names else "一项内容"
    return f"{told.format(names=name, who=who[0] if who else '他人')}。"


def grouped(changes: Iterable[Recorded], language: Language) -> list[Group]:
    """Return the changes by kind, in the order in which the first of each was made."""
    kinds: dict[str, list[Recorded]] = {}
    for change in changes:
        kinds.setdefault(change.action, []).append(change)
    return [_group(action, of_kind, language) for action, of_kind in kinds.items()]


def reason(text: str, language: Language) -> str:
    """Return why an undo leaves something as it is; what is not known stays as the drive says it."""
    return _translated(text, LEFT_ZH) if language == "zh" else text


def happens(text: str, language: Language) -> str:
    """Return what happens to an item; what is not known stays as the drive says it."""
    return _translated(text, HAPPENS_ZH) if language == "zh" else text


def _translated(text: str, table: Sequence[tuple[re.Pattern[str], str]]) -> str:
    return next((pattern.sub(told, text) for pattern, told in table if pattern.match(text)), text)


def _group(action: str, changes: Sequence[Recorded], language: Language) -> Group:
    undone = sum(change.undone_by is not None for change in changes)
    ids = tuple(change.id for change in changes)
    return Group(action, len(changes), undone, _text(action, changes, language), ids)


def _text(action: str, changes: Sequence[Recorded], language: Language) -> str:
    if len(changes) == 1:
        return sentence(changes[0], language)
    kind = KINDS.get(action, OTHER)
    names = [QUOTED.search(change.summary) for change in changes]
    quoted = list(dict.fromkeys(name[1] for name in names if name))
    more = len(quoted) > NAMES_TOLD
    if language == "zh":
        told = "、".join(f"“{name}”" for name in quoted[:NAMES_TOLD]) + (" 等" if more else "")
        return kind.many_zh.format(count=len(changes)) + (f"：{told}。" if told else "。")
    told = ", ".join(f"'{name}'" for name in quoted[:NAMES_TOLD]) + (", …" if more else "")
    return kind.many.format(count=len(changes)) + (f": {told}." if told else ".")
