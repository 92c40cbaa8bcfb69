"""A thread as Markdown for people, in their language: messages, calls with their outcome, citations, plan."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from api.http.schemas import MessageView, ThreadExport
from drive_server.kernel.escaping.media import markdown_text
from drive_server.kernel.texts import Language, Texts

MAX_ARGUMENTS: Final = 300
TEXTS: Final = Texts.beside(__file__)


def to_markdown(thread: ThreadExport, language: Language) -> str:
    """Return the thread as Markdown. Its texts stand as they are: they are Markdown, as a model wrote them."""
    parts = [
        f"# {markdown_text(thread.title)}",
        _word("exported", language).format(day=f"{thread.exported_at:%Y-%m-%d}"),
    ]
    outcomes = {view.tool_call_id: view for view in thread.messages if view.role == "tool"}
    before = ""
    for view in thread.messages:
        if view.role != "tool":
            if view.role != before:
                parts.append(f"## {_word(view.role, language)}")
            before = view.role
            parts += _message(view, outcomes, language)
    if isinstance(thread.plan, Mapping):
        parts += _plan(thread.plan, language)
    return "\n\n".join(parts) + "\n"


def _message(view: MessageView, outcomes: Mapping[Any, MessageView], language: Language) -> Iterator[str]:
    if view.text.strip():
        yield view.text.strip()
    if view.incomplete:
        yield _word(view.incomplete, language)
    recorded = {record["id"] for record in view.records}
    calls = [
        _call(call["name"], call["args"], outcomes[call["tool_call_id"]].status or "", language)
        if call["tool_call_id"] in outcomes
        else _call(call["name"], call["args"], "pending", language)
        for call in view.tool_calls
        if call["tool_call_id"] not in recorded
    ]
    calls += [
        _call(f"{record['serverName']}: {record['toolTitle']}", record["arguments"], record["status"], language)
        for record in view.records
    ]
    if calls:
        yield "\n".join(calls)
    if view.citations:
        yield f"**{_word('citations', language)}**"
        yield "\n".join(_citation(one, language) for one in view.citations)


def _call(name: str, arguments: Any, status: str, language: Language) -> str:
    shown = orjson.dumps(arguments).decode()
    if len(shown) > MAX_ARGUMENTS:
        shown = f"{shown[: MAX_ARGUMENTS - 1]}…"
    return f"- {_code(f'{_line(name)} {shown}')} — {_word(status, language)}"


def _citation(one: Mapping[str, Any], language: Language) -> str:
    place = f", {markdown_text(one['place'])}" if one["place"] else ""
    version = f" ({_word('version', language)} {one['version']}{place})" if one["version"] else ""
    checked = "" if one["verified"] else f" — {_word('unverified', language)}"
    where = markdown_text(one["path"] or one["name"])
    return f"- [{one['number']}] “{markdown_text(one['quote'])}” {where}{version}{checked}"


def _plan(plan: Mapping[str, Any], language: Language) -> Iterator[str]:
    steps: Sequence[Mapping[str, Any]] = plan.get("steps", ())
    yield f"## {_word('plan', language)}"
    yield "\n".join(
        f"- [{'x' if status == 'completed' else ' '}] {markdown_text(step['title'])} — {_word(status, language)}"
        for step in steps
        if (status := step["status"])
    )


def _code(text: str) -> str:
    """Return text as a code span, with any backticks in it (CommonMark, 6.1)."""
    fence = "`"
    while fence in text:
        fence += "`"
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"


def _line(text: str) -> str:
    return " ".join(text.split())


def _word(code: str, language: Language) -> str:
    known = f"markdown.{code}"
    return TEXTS.template(known, language) if known in TEXTS else code
