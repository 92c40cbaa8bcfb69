"""The drive's sentences in the person's language, and changes of one kind grouped.

An object of the drive has its sentences in English, and in `messages` the code, the parameters and the Chinese text of
each field. The drive's catalogue is the only one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

from graph.language import Language

MOST_NAMES: Final = 5
MESSAGES: Final = "messages"


class RecordedChange(Protocol):
    """A change as the journal has it."""

    @property
    def id(self) -> int:
        """Its number."""
        ...

    @property
    def action(self) -> str:
        """The kind of change."""
        ...

    @property
    def summary(self) -> str:
        """The journal's sentence, in English."""
        ...

    @property
    def messages(self) -> Mapping[str, Any]:
        """The sentence's code and parameters, and its Chinese text."""
        ...

    @property
    def undone_by(self) -> int | None:
        """The change that took it back."""
        ...


@dataclass(frozen=True, slots=True)
class Group:
    """The changes of one kind: their numbers, how many of them were taken back since, and a sentence for all."""

    action: str
    count: int
    undone: int
    text: str
    change_ids: tuple[int, ...]


OTHER: Final = ("Changed {count} things", "改动了 {count} 项")
KINDS: Final[dict[str, tuple[str, str]]] = {
    "create_folder": ("Created {count} folders", "新建了 {count} 个文件夹"),
    "create_file": ("Created {count} files", "新建了 {count} 个文件"),
    "fill_template": ("Filled in {count} templates", "填写了 {count} 份模板"),
    "copy": ("Made {count} copies", "复制了 {count} 项"),
    "rename": ("Renamed {count} items", "重命名了 {count} 项"),
    "rename_many": ("Renamed many items {count} times", "批量重命名了 {count} 次"),
    "organize": ("Organized items {count} times", "整理了 {count} 次"),
    "move": ("Moved {count} items", "移动了 {count} 项"),
    "move_many": ("Moved items {count} times", "批量移动了 {count} 次"),
    "write": ("Replaced the content of {count} files", "改写了 {count} 个文件的内容"),
    "patch": ("Edited {count} times", "编辑了 {count} 次"),
    "append": ("Added to files {count} times", "添加了 {count} 次内容"),
    "restore_version": ("Brought back {count} earlier versions", "恢复了 {count} 个较早版本"),
    "trash": ("Moved {count} items to the trash", "把 {count} 项移到了回收站"),
    "restore": ("Restored {count} items from the trash", "从回收站恢复了 {count} 项"),
    "delete_for_good": ("Deleted {count} items for good", "永久删除了 {count} 项"),
    "empty_trash": ("Emptied the trash {count} times", "清空了 {count} 次回收站"),
    "share": ("Shared {count} times", "共享了 {count} 次"),
    "update_share": ("Changed {count} roles", "更改了 {count} 项权限"),
    "revoke": ("Took back {count} roles", "收回了 {count} 项权限"),
    "create_link": ("Created {count} links", "创建了 {count} 个链接"),
    "update_link": ("Changed {count} links", "更改了 {count} 个链接"),
    "revoke_link": ("Revoked {count} links", "撤销了 {count} 个链接"),
    "undo": ("Took changes back {count} times", "撤销了 {count} 次改动"),
    "redo": ("Did changes again {count} times", "重做了 {count} 次改动"),
}
"""Several changes of one of the journal's actions, in English and Chinese."""


def text(entry: Mapping[str, Any], field: str, language: Language) -> str:
    """Return a sentence of the drive's in the language; one that has no translation is in English."""
    english = entry.get(field) or ""
    found = (entry.get(MESSAGES) or {}).get(field) or {}
    return str(found.get(language) or english)


def localize(data: Mapping[str, Any] | None, language: Language) -> dict[str, Any] | None:
    """Return structured content with its sentences in the language, also those of the entries of its lists."""
    if data is None:
        return None
    return {
        key: [_localized(entry, language) for entry in cast("list[Any]", value)] if isinstance(value, list) else value
        for key, value in _localized(data, language).items()
    }


def error_sentence(data: Mapping[str, Any], english: str, language: Language) -> str:
    """Return a refusal as `code: sentence hint`; in Chinese, a second line may have the particular sentence."""
    if language == "en" or MESSAGES not in data:
        return english
    said = f"{data['code']}: {text(data, 'message', language)}"
    if "hint" in data[MESSAGES]:
        return f"{said}{text(data, 'hint', language)}"
    is_general = str(data[MESSAGES]["message"]["code"]).startswith("error.")
    return f"{said}\n{data['message']} {data['hint']}".rstrip() if is_general else said


def sentence(change: RecordedChange, language: Language) -> str:
    """Return the sentence about a change; an old one is in English in every language."""
    return text({"summary": change.summary, MESSAGES: change.messages}, "summary", language)


def grouped(changes: Iterable[RecordedChange], language: Language) -> list[Group]:
    """Return the changes by kind, in the order in which the first of each was made."""
    kinds: dict[str, list[RecordedChange]] = {}
    for change in changes:
        kinds.setdefault(change.action, []).append(change)
    return [_group(action, of_kind, language) for action, of_kind in kinds.items()]


def _localized(entry: Any, language: Language) -> Any:
    if not isinstance(entry, Mapping) or MESSAGES not in entry:
        return entry
    fields = cast("Mapping[str, Any]", entry)
    texts = {field: text(fields, field, language) for field in fields[MESSAGES]}
    return {key: value for key, value in {**fields, **texts}.items() if key != MESSAGES}


def _group(action: str, changes: Sequence[RecordedChange], language: Language) -> Group:
    undone = sum(change.undone_by is not None for change in changes)
    ids = tuple(change.id for change in changes)
    return Group(action, len(changes), undone, _text_of_group(action, changes, language), ids)


def _text_of_group(action: str, changes: Sequence[RecordedChange], language: Language) -> str:
    if len(changes) == 1:
        return sentence(changes[0], language)
    names = list(dict.fromkeys(name for name in map(_name, changes) if name))
    english, chinese = KINDS.get(action, OTHER)
    if language == "zh":
        listed = "、".join(f"“{name}”" for name in names[:MOST_NAMES]) + (" 等" if len(names) > MOST_NAMES else "")
        return chinese.format(count=len(changes)) + (f"：{listed}。" if listed else "。")
    listed = ", ".join(f"'{name}'" for name in names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else "")
    return english.format(count=len(changes)) + (f": {listed}." if listed else ".")


def _name(change: RecordedChange) -> str:
    params = (change.messages.get("summary") or {}).get("params", {})
    return str(params.get("item", {}).get("params", {}).get("name", ""))
