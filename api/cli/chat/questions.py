"""A question of an MCP server in the middle of its call: asked field by field, in the language of the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from api.cli.confirmation import NO, YES
from api.cli.terminal import visible_line
from api.cli.texts import text_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from api.cli.terminal import Terminal
    from graph.language import Language

Choice = tuple[str, str]
"""A value, and its title."""

LEAVE_OUT: Final = "-"


def answer_question(action: Mapping[str, Any], terminal: Terminal, left: str) -> dict[str, Any] | None:
    """Show the question and return the decision; None if standard input ended before the answer."""
    question: Mapping[str, Any] = action["question"]
    language: Language = question["language"]
    title = text_in(language, "question.title", server=visible_line(question["server_name"]), left=left)
    terminal.say(title, "bold yellow")
    for line in str(action["preview"]).splitlines():
        terminal.say(f"     {line}")
    is_url = question["mode"] == "url"
    agreed = _yes_or_no(text_in(language, "question.done" if is_url else "question.answer"), terminal)
    if agreed is None:
        return None
    decision = {"tool_call_id": action["tool_call_id"]}
    if not agreed:
        return {**decision, "type": "reject"}
    if is_url:
        return {**decision, "type": "approve"}
    fields = _fields(question["schema"], language, terminal)
    return None if fields is None else {**decision, "type": "edit", "args": fields}


def _yes_or_no(question: str, terminal: Terminal) -> bool | None:
    while (line := terminal.ask(question)) is not None:
        word = line.strip().lower()
        if word in YES | NO:
            return word in YES
    return None


def _fields(schema: Mapping[str, Any], language: Language, terminal: Terminal) -> dict[str, Any] | None:
    answer: dict[str, Any] = {}
    for name, field in schema["properties"].items():
        asked = _field(name, field, name in schema.get("required", ()), language, terminal)
        if asked is None:
            return None
        answer |= asked
    return answer


def _field(
    name: str, field: Mapping[str, Any], required: bool, language: Language, terminal: Terminal
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
            terminal.say(text_in(language, "question.required"), "red")
            continue
        value = _value(text, field, choices)
        if value is not None:
            return {name: value}
        terminal.say(text_in(language, "question.unknown"), "red")
    return None


def _prompt(
    name: str,
    field: Mapping[str, Any],
    choices: Sequence[Choice],
    required: bool,
    language: Language,
    terminal: Terminal,
) -> str:
    title = visible_line(field.get("title") or name)
    if described := field.get("description"):
        terminal.say(f"     {title}: {visible_line(described)}", "dim")
    for number, (value, shown) in enumerate(choices, 1):
        terminal.say(f"     {number:3}. {visible_line(shown)}{f' ({visible_line(value)})' if shown != value else ''}")
    hints = [text_in(language, "question.several")] if field["type"] == "array" else []
    hints += [text_in(language, "question.yes_no")] if field["type"] == "boolean" else []
    if "default" in field:
        hints.append(text_in(language, "question.default", value=visible_line(_shown(field["default"]))))
    else:
        hints.append(text_in(language, "question.needed" if required else "question.optional"))
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
    """Return the written text as the service takes it, which reads numbers itself; None for no choice of the list."""
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
