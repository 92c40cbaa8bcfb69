"""Intents said again in full, so that a specialist understands each alone: the instructions of a plan's steps."""

from typing import Final

from graph.offline.understanding.intents import PREVIOUS, Intent
from graph.offline.understanding.references import CURRENT_FILE, CURRENT_FOLDER, IT, Ref
from graph.state import Language

TITLE: Final = 70
QUOTES: Final = (("“", "”"), ('"', '"'), ("「", "」"), ("『", "』"), ("`", "`"), ("«", "»"))

TEMPLATES: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "find": "Find {target}",
        "summarise": "Summarise {target}",
        "read": "Read {target}",
        "map_files": "Summarise each file in {target}",
        "map_mention": "Which of the files in {target} mention {query}",
        "list_folder": "List {target}",
        "tree": "Show the folder tree of {target}",
        "info": "Show the details of {target}",
        "create_folder": "Create {folders} called {names}{inside}",
        "create_file": "Create a file called {names}{inside} with the content: {content}",
        "create_empty": "Create a file called {names}{inside}",
        "save_summary": "Store the summary{as_name}{inside}",
        "rename": "Rename {target} to {names}",
        "move": "Move {target} to {destination}",
        "share": "Share {target} with {people} as {role}",
        "list_shares": "Who has access to {target}?",
        "revoke": "Revoke the access of {people} to {target}",
        "revoke_all": "Stop sharing {target}",
        "trash": "Delete {target}",
        "restore": "Restore {target} from the trash",
        "list_versions": "List the versions of {target}",
        "restore_version": "Restore version {version} of {target}",
        "restore_previous": "Restore the previous version of {target}",
        "replace": "replace {find} with {replace} in {target}",
        "remove": "remove the text {find} from {target}",
        "insert_end": "In {target}, append the text: {content}",
        "insert_start": "In {target}, insert at the start: {content}",
        "insert_after": "In {target}, insert after {anchor}: {content}",
        "undo": "Undo the last change",
        "list_changes": "Show the recent changes",
        "list_changes_of": "Show the recent changes to {target}",
        "whoami": "Who am I?",
        "and": " and ",
        "inside": " inside {destination}",
        "as_name": " as {names}",
        "folder_named": "the folder {name}",
        "file_named": "the file {name}",
        "in_folder": "{item} in {folder}",
        "about": "the document about {name}",
        "all": "everything in {folder}",
        "all_of": "all {extension} files in {folder}",
        "it": "it",
        "there": "that folder",
        "them": "them",
        "current file": "this document",
        "current folder": "the current folder",
        "the summary": "the summary",
    },
    "zh": {
        "find": "查找{target}",
        "summarise": "总结{target}",
        "read": "读取{target}",
        "map_files": "总结{target}里的每个文件",
        "map_mention": "{target}里的文件哪些提到{query}",
        "list_folder": "列出{target}里的内容",
        "tree": "显示{target}的目录结构",
        "info": "查看{target}的详细信息",
        "create_folder": "{inside}新建{folders}{names}",
        "create_file": "{inside}新建文件{names}，内容是：{content}",
        "create_empty": "{inside}新建文件{names}",
        "save_summary": "把总结保存{as_name}{inside}",
        "rename": "把{target}重命名为{names}",
        "move": "把{target}移到{destination}",
        "share": "把{target}共享给{people}，{role}",
        "list_shares": "谁可以访问{target}？",
        "revoke": "取消{target}对{people}的共享",
        "revoke_all": "取消{target}的共享",
        "trash": "删除{target}",
        "restore": "从回收站恢复{target}",
        "list_versions": "列出{target}的历史版本",
        "restore_version": "把{target}恢复到版本{version}",
        "restore_previous": "把{target}恢复到上一个版本",
        "replace": "把{target}里的{find}替换为{replace}",
        "remove": "删除{target}里的{find}",
        "insert_end": "在{target}末尾添加：{content}",
        "insert_start": "在{target}开头添加：{content}",
        "insert_after": "在{target}里，在{anchor}后面添加：{content}",
        "undo": "撤销上一次的操作",
        "list_changes": "查看最近的改动",
        "list_changes_of": "{target}最近有哪些改动",
        "whoami": "我是谁？",
        "and": "、",
        "inside": "在{destination}里",
        "as_name": "为{names}",
        "folder_named": "文件夹{name}",
        "file_named": "文件{name}",
        "in_folder": "{folder}里的{item}",
        "about": "关于{name}的文档",
        "all": "{folder}里的所有内容",
        "all_of": "{folder}里的所有{extension}文件",
        "it": "它",
        "there": "那个文件夹",
        "them": "它们",
        "current file": "这份文档",
        "current folder": "当前文件夹",
        "the summary": "总结",
    },
}
ROLES: Final[dict[Language, dict[str, str]]] = {
    "en": {"viewer": "viewer", "editor": "editor"},
    "zh": {"viewer": "只读", "editor": "可编辑"},
}


def instruction(intent: Intent, language: Language) -> str:
    """Return an intent as one request that needs no other to be understood."""
    if intent.kind in {"replace", "insert"}:
        return _edit(intent, language)
    words = TEMPLATES[language]
    key = _key(intent)
    if key not in words:
        return intent.said
    emails = list(intent.emails) or [intent.person]
    name_list = words["and"].join(quote(name) for name in intent.names)
    said = words[key].format(
        target=refer(intent.target or IT, language),
        destination=refer(intent.destination or CURRENT_FOLDER, language),
        names=name_list,
        folders=_folders(intent, language),
        inside=words["inside"].format(destination=refer(intent.destination, language)) if intent.destination else "",
        as_name=words["as_name"].format(names=name_list) if intent.names else "",
        content=intent.content,
        query=quote(intent.query),
        people=words["and"].join(emails),
        role=ROLES[language][intent.role],
        version=intent.version,
    )
    return said[:1].upper() + said[1:]


def _key(intent: Intent) -> str:
    if intent.kind == "list_folder" and intent.topic:
        return "as said"
    if intent.kind == "map_files" and intent.query:
        return "map_mention"
    if intent.kind == "list_changes" and intent.target:
        return "list_changes_of"
    if intent.kind == "create_file" and not intent.content:
        return "create_empty"
    if intent.kind == "revoke" and not intent.emails:
        return "revoke_all"
    if intent.kind == "restore_version" and intent.version == PREVIOUS:
        return "restore_previous"
    return intent.kind


def _folders(intent: Intent, language: Language) -> str:
    if language == "zh":
        return f"{len(intent.names)}个文件夹：" if len(intent.names) > 1 else "文件夹"
    return "folders" if len(intent.names) > 1 else "a folder"


def _edit(intent: Intent, language: Language) -> str:
    words = TEMPLATES[language]
    target = refer(intent.target or CURRENT_FILE, language)
    if intent.kind == "insert":
        key = f"insert_{intent.position}"
        return words[key].format(target=target, anchor=quote(intent.anchor), content=intent.content)
    parts = [
        words["replace" if new else "remove"].format(find=quote(old), replace=quote(new), target=target)
        for old, new in intent.edits
    ]
    said = (" and " if language == "en" else "，").join(parts)
    return said[:1].upper() + said[1:]


def title(intent: Intent, language: Language) -> str:
    """Return a few words for the person."""
    said = " ".join(instruction(intent, language).split())
    return said if len(said) <= TITLE else f"{said[: TITLE - 1]}…"


def refer(ref: Ref, language: Language) -> str:
    """Return a reference in words that lead back to it."""
    return TEMPLATES[language]["and"].join(_one(one, language) for one in (ref, *ref.others))


def _one(ref: Ref, language: Language) -> str:
    words = TEMPLATES[language]
    if ref.form == "all":
        key = "all_of" if ref.extension else "all"
        extension = ref.extension if language == "en" else ref.extension.lstrip(".")
        return words[key].format(folder=refer(ref.inside or CURRENT_FOLDER, language), extension=extension)
    if ref.form == "about":
        return words["about"].format(name=ref.text)
    if ref.form not in {"name", "path"}:
        return words[ref.form]
    name = quote(ref.text)
    said = words[f"{ref.kind}_named"].format(name=name) if ref.kind else name
    return words["in_folder"].format(item=said, folder=refer(ref.inside, language)) if ref.inside else said


def quote(text: str) -> str:
    """Return a text between quotation marks that do not occur in it."""
    opening, closing = next(
        ((left, right) for left, right in QUOTES if left not in text and right not in text), QUOTES[0]
    )
    return f"{opening}{text}{closing}"
