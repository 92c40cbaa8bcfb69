"""The preview of a gated call, in the person's language, made from the effect of a dry run on the drive."""

from collections.abc import Mapping
from typing import Any, Final

from graph.drive.changes import happens, reason
from graph.prompts import compact
from graph.state import Effect, Language

MAX_ITEMS: Final = 50
MAX_DIFF: Final = 8_000

LEADS: Final[Mapping[str, str]] = {
    "trash_item": "移到回收站：共 {count} 项",
    "share_item": "共享“{name}”给 {email}，角色：{role}",
    "create_file": "用新内容替换“{name}”的全部内容",
    "create_share_link": "为“{name}”创建分享链接，任何拿到链接的人均可访问，角色：{role}{terms}",
    "update_share": "更改{who}对“{name}”的访问{terms}",
    "revoke_share": "取消{who}对“{name}”的访问权限",
    "get_download_url": "为“{name}”创建临时下载地址，任何拿到地址的人均可下载",
    "append_to_file": "在“{name}”末尾追加文字",
    "write_file": "用新内容替换“{name}”的全部文字",
    "patch_file": "修改“{name}”中的文字",
    "restore_version": "把“{name}”恢复为第 {version} 个版本",
    "undo_changes": "撤销之前的操作：共影响 {count} 项",
    "redo_changes": "重做之前撤销的操作：共影响 {count} 项",
    "rename_item": "把“{name}”重命名为“{new_name}”",
    "move_item": "移动“{name}”",
    "move_items": "移动：共 {count} 项",
    "copy_item": "复制“{name}”：共 {count} 项",
    "restore_item": "从回收站恢复“{name}”",
    "delete_item": "永久删除“{name}”：共 {count} 项",
    "empty_trash": "清空回收站，永久删除：共 {count} 项",
    "remember": "长期记住：{fact}",
    "forget": "忘记：{fact}",
}
"""Chinese first lines; the English one is the drive's own summary."""

ANYONE: Final[Mapping[str, str]] = {
    "anyone with the link": "任何拿到链接的人",
    "anyone with the address": "任何拿到地址的人",
}
"""The drive's words for those who are no certain people."""

REMOVED: Final[Mapping[str, str]] = {"expiry": "不再失效", "password": "不再需要密码", "limit": "不再限制下载次数"}

WORDS: Final[Mapping[str, Mapping[Language, str]]] = {
    "more": {"en": "… and {n} more", "zh": "……以及另外 {n} 项"},
    "gains": {"en": "Gains access: {who}", "zh": "将获得访问权限：{who}"},
    "loses": {"en": "Loses access: {who}", "zh": "将失去访问权限：{who}"},
    "reversible": {"en": "This can be undone.", "zh": "之后可以撤销。"},
    "trash": {"en": "Nothing is lost: it can be restored from the trash.", "zh": "内容不会丢失：可以从回收站恢复。"},
    "final": {"en": "This can't be undone.", "zh": "此操作无法撤销。"},
    "left": {"en": "Stays as it is: {summary} ({why})", "zh": "保持不变：{summary}（{why}）"},
    "cut": {"en": "… the difference goes on.", "zh": "……差异未完。"},
    "call": {"en": "Call {tool} with {args}", "zh": "调用 {tool}，参数：{args}"},
}


def preview_of(
    tool: str,
    args: Mapping[str, Any],
    effect: Mapping[str, Any] | None,
    language: Language,
    action: str | None = None,
) -> str:
    """Return the text that the person decides on: what happens, to which items, who gains access, the difference.

    Without an effect (a tool that knows no dry run) it is the call as it is.
    """
    if effect is None:
        return _call(tool, args, language)
    lines = [_lead(tool, args, effect, language), *_items(effect, language)]
    for key, field in (("gains", "gains_access"), ("loses", "loses_access")):
        if effect.get(field):
            lines.append(WORDS[key][language].format(who=", ".join(_who(one, language) for one in effect[field])))
    if effect.get("diff"):
        lines.append(_diff(str(effect["diff"]), language))
    lines += [_left(left, language) for left in effect.get("left") or ()]
    lines.append(_way_back(action, effect, language))
    return "\n".join(lines)


def effect_of(found: Mapping[str, Any] | None) -> Effect | None:
    """Return what a dry run found, as it is kept and told: without the difference, which is in the preview's text."""
    if found is None:
        return None
    items = [dict(item) for item in (found.get("items") or [])]
    return {
        "count": max(int(found.get("count") or 0), len(items)),
        "items": items[:MAX_ITEMS],
        "gains_access": [str(who) for who in found.get("gains_access") or ()],
        "loses_access": [str(who) for who in found.get("loses_access") or ()],
        "reversible": found.get("reversible") is not False,
    }


def _who(name: str, language: Language) -> str:
    return ANYONE.get(name, name) if language == "zh" else name


def _call(tool: str, args: Mapping[str, Any], language: Language) -> str:
    return WORDS["call"][language].format(tool=tool, args=compact(args))


def _lead(tool: str, args: Mapping[str, Any], effect: Mapping[str, Any], language: Language) -> str:
    template = LEADS.get(tool)
    if language == "en" or template is None:
        return str(effect.get("summary") or _call(tool, args, language))
    items = effect.get("items") or [{}]
    return template.format(
        count=effect.get("count", len(items)),
        name=items[0].get("name", ""),
        new_name=args.get("name", ""),
        email=args.get("email", ""),
        who=f" {args['email']} " if args.get("email") else ANYONE["anyone with the link"],
        role=args.get("role", "viewer"),
        terms=_terms(tool, args),
        version=args.get("version", ""),
        fact=args.get("fact") or str(effect.get("summary", "")).partition(": ")[2],
    )


def _terms(tool: str, args: Mapping[str, Any]) -> str:
    """Return in Chinese what is set of somebody's access; a new link has its role in the sentence already."""
    parts = [f"角色：{args['role']}"] if tool == "update_share" and args.get("role") else []
    if args.get("expires_in_hours"):
        parts.append(f"{args['expires_in_hours']} 小时后失效")
    if args.get("password"):
        parts.append("设有密码")
    if args.get("max_downloads"):
        parts.append(f"最多下载 {args['max_downloads']} 次")
    parts += [REMOVED[term] for term in args.get("remove") or [] if term in REMOVED]
    return "".join(f"，{part}" for part in parts)


def _items(effect: Mapping[str, Any], language: Language) -> list[str]:
    items = effect.get("items") or []
    lines = [_item(item, language) for item in items[:MAX_ITEMS]]
    more = max(int(effect.get("count", 0)), len(items)) - len(lines)
    return [*lines, WORDS["more"][language].format(n=more)] if lines and more > 0 else lines


def _item(item: Mapping[str, Any], language: Language) -> str:
    where = item.get("path") or item.get("name") or item.get("id", "")
    return f"- {where}: {happens(str(item['what']), language)}" if item.get("what") else f"- {where}"


def _left(left: Mapping[str, Any], language: Language) -> str:
    """Name what an undo can't take back: who decides on it has to see that."""
    summary, why = str(left.get("summary", "")).rstrip("."), reason(str(left.get("reason", "")), language)
    return WORDS["left"][language].format(summary=summary, why=why)


def _diff(diff: str, language: Language) -> str:
    return diff if len(diff) <= MAX_DIFF else f"{diff[:MAX_DIFF]}\n{WORDS['cut'][language]}"


def _way_back(action: str | None, effect: Mapping[str, Any], language: Language) -> str:
    if effect.get("reversible") is False:
        return WORDS["final"][language]
    return WORDS["trash" if action == "trash" else "reversible"][language]
