"""A question of an MCP server in the middle of its call: asked field by field, in the language of the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from api.cli.terminal import visible_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from api.cli.terminal import Terminal

Choice = tuple[str, str]
"""A value, and its title."""

YES: Final = frozenset({"y", "yes", "是", "好", "同意"})
NO: Final = frozenset({"n", "no", "否", "不", "不同意"})
LEAVE_OUT: Final = "-"
TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    "title": ("{server} has a question{left}", "{server} 有一个问题{left}"),
    "answer": ("Answer it? y(es), n(o) ", "回答吗？y（是），n（否） "),
    "done": ("Have you done that there? y(es), n(o) ", "在那里办完了吗？y（是），n（否） "),
    "required": ("This has to be filled in.", "此项必须填写。"),
    "unknown": ("Write a number or a value from the list.", "请输入列表中的编号或值。"),
    "several": ("several, with commas between them", "可多选，用逗号分隔"),
    "yes_no": ("y or n", "y 或 n"),
    "needed": ("required", "必填"),
    "optional": ("empty: left out", "留空则不填"),
    "default": ("empty: {value}; - leaves it out", "留空则为 {value}；- 表示不填"),
}


def answer_question(action: Mapping[str, Any], terminal: Terminal, left: str) -> dict[str, Any] | None:
    """Show the question and return the decision; None if standard input ended before the answer."""
    question: Mapping[str, Any] = action["question"]
    language = str(question.get("language"))
    title = _text("title", language, server=visible_line(question["server_name"]), left=left)
    terminal.say(title, "bold yellow")
    for line in str(action["preview"]).splitlines():
        terminal.say(f"     {line}")
    is_url = question["mode"] == "url"
    agreed = _yes_or_no(_text("done" if is_url else "answer", language), terminal)
    if agreed is None:
        return None
    decision = {"tool_call_id": action["tool_call_id"]}
    if not agreed:
        return {**decision, "type": "reject"}
    if is_url:
        return {**decision, "type": "approve"}
    fields = _fields(question["schema"], language, terminal)
    return None if fields is None else {**decision, "type": "edit", "args": fields}


def _text(key: str, language: str, **said: str) -> str:
    return TEXTS[key][language == "zh"].format(**said)


def _yes_or_no(question: str, terminal: Terminal) -> bool | None:
    while (line := terminal.ask(question)) is not None:
        word = line.strip().lower()
        if word in YES | NO:
            return word in YES
    return None


def _fields(schema: Mapping[str, Any], language: str, terminal: Terminal) -> dict[str, Any] | None:
    answer: dict[str, Any] = {}
    for name, field in schema["properties"].items():
        asked = _field(name, field, name in schema.get("required", ()), language, terminal)
        if asked is None:
            return None
        answer |= asked
    return answer


def _field(
    name: str, field: Mapping[str, Any], required: bool, language: str, terminal: Terminal
) -> dict[str, Any] | None:
    """Return the field's value by its name, empty if it is left out; None at the end of standard input."""
    choices = _choices(field)
    prompt = _prompt(name, field, choices, required, language, terminal)
    while (line := terminal.ask(prompt)) is not None:
        text = line.strip()
        if not text and "default" in field:
            return {name: field["default"]}
        if text in {"", LEAVE_OUT}:
            if not required:
                return {}
            terminal.say(_text("required", language), "red")
            continue
        value = _value(text, field, choices)
        if value is not None:
            return {name: value}
        terminal.say(_text("unknown", language), "red")
    return None


def _prompt(
    name: str, field: Mapping[str, Any], choices: Sequence[Choice], required: bool, language: str, terminal: Terminal
) -> str:
    title = visible_line(field.get("title") or name)
    if described := field.get("description"):
        terminal.say(f"     {title}: {visible_line(described)}", "dim")
    for number, (value, shown) in enumerate(choices, 1):
        terminal.say(f"     {number:3}. {visible_line(shown)}{f' ({visible_line(value)})' if shown != value else ''}")
    hints = [_text("several", language)] if field["type"] == "array" else []
    hints += [_text("yes_no", language)] if field["type"] == "boolean" else []
    if "default" in field:
        hints.append(_text("default", language, value=visible_line(_shown(field["default"]))))
    else:
        hints.append(_text("needed" if required else "optional", language))
    return f"     {title} ({'; '.join(hints)}): "


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "y" if value else "n"
    return ", ".join(value) if isinstance(value, list) else str(value)


def _choices(field: Mapping[str, Any]) -> list[Choice]:
    listed: Mapping[str, Any] = field.get("items", field)
    if options := listed.get("oneOf") or listed.get("anyOf"):
        return [(one["const"], one.get("title") or one["const"]) for one in options]
    values: Sequence[str] = listed.get("enum", ())
    names: Sequence[str] = listed.get("enumNames", ())
    return [(value, names[index] if index < len(names) else value) for index, value in enumerate(values)]


def _value(text: str, field: Mapping[str, Any], choices: Sequence[Choice]) -> Any:
    """Return what was written as the service takes it, which reads numbers itself; None for no choice of the list."""
    if field["type"] == "array":
        chosen = [_choice(word.strip(), choices) for word in text.replace("，", ",").split(",") if word.strip()]
        return None if None in chosen else chosen
    if choices:
        return _choice(text, choices)
    if field["type"] == "boolean":
        return text.lower() in YES if text.lower() in YES | NO else text
    return text


def _choice(word: str, choices: Sequence[Choice]) -> str | None:
    """Return the value that is meant by itself, by its title, or by its number."""
    for value, title in choices:
        if word in {value, title}:
            return value
    number = int(word) if word.isascii() and word.isdigit() else 0
    return choices[number - 1][0] if 1 <= number <= len(choices) else None
