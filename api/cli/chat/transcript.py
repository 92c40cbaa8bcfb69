"""The events of a turn on a terminal: one method for each type that has a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from api.cli.chat.markdown_blocks import MarkdownBlocks
from api.cli.terminal import visible_line
from api.cli.texts import TEXTS, text, text_in, word

if TYPE_CHECKING:
    from api.cli.chat.event_stream import Event
    from api.cli.terminal import Terminal
    from graph.language import Language

MAX_VALUE = 60
MAX_ABOUT = 300
MAX_RESULT = 200
STEP_MARKS = {"completed": "✓", "failed": "✗", "skipped": "–"}
CALL_STYLES = {"done": "green", "error": "red", "rejected": "yellow", "cancelled": "yellow"}
CALL_MARKS = {"done": "✓"}
WITHIN_TEXT = frozenset({"content", "heartbeat", "reading"})
QUARTERS = 4
RECORD_MARKS = {**CALL_MARKS, "invoking": "→"}


def shorten(text: str, limit: int) -> str:
    """Return the text on one line, cut to a number of characters."""
    line = visible_line(text)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def show_value(value: Any) -> str:
    """Return a value of a tool's arguments as a person writes it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class Transcript:
    """Prints the events of a turn. Events without a line are left out.

    A call of one of the person's own MCP servers ends with the line of its record, in `language`.
    """

    def __init__(self, terminal: Terminal, language: Language = "en") -> None:
        self._terminal = terminal
        self._language: Language = language
        self._recorded: set[str] = set()
        self._steps: dict[str, str] = {}
        self._thought_id: str | None = None
        self._quarter = 0
        self._blocks = MarkdownBlocks() if terminal.out.is_terminal else None

    def show(self, event: Event) -> None:
        """Print one event."""
        lines = {
            "route_decision": self._route,
            "task_plan": self._plan,
            "task_step_update": self._step,
            "plan_edited": self._plan,
            "plan_revised": self._plan,
            "plan_paused": self._paused,
            "map_progress": self._file,
            "tool_call_start": self._call,
            "tool_progress": self._progress,
            "tool_call_end": self._call_end,
            "assistant.toolCall.updated": self._record,
            "approval_resolved": self._resolved,
            "reading": self._reading,
            "reasoning": self._reasoning,
            "content": self._content,
            "citations": self._citations,
        }
        show = lines.get(event["type"])
        if event["type"] not in WITHIN_TEXT:
            self._flush()
        if show:
            show(event)

    def _route(self, event: Event) -> None:
        reason = event.get("reason")
        self._terminal.say(
            f"→ {word('agent', str(event.get('agent', '')))}" + (f"  {shorten(reason, MAX_RESULT)}" if reason else ""),
            "cyan",
        )

    def _plan(self, event: Event) -> None:
        self._terminal.say(text("plan"), "bold")
        for number, step in enumerate(event.get("steps", []), 1):
            title = shorten(str(step.get("title", "")), MAX_RESULT)
            self._steps[str(step.get("id"))] = f"{number}. {title}"
            self._terminal.say(f"  {number}. {title}  ({word('agent', str(step.get('agent', '')))})")

    def _paused(self, event: Event) -> None:
        del event
        self._terminal.note(text("plan_is_paused"))

    def _file(self, event: Event) -> None:
        path = shorten(str(event.get("path", "")), MAX_RESULT)
        self._terminal.say(f"  • {path}  {word('reading', str(event.get('status', '')))}", "dim")

    def _step(self, event: Event) -> None:
        status = str(event.get("status", ""))
        name = self._steps.get(str(event.get("step_id")), str(event.get("step_id")))
        if status == "in-progress":
            self._terminal.say(f"▸ {name}", "bold")
        elif status in STEP_MARKS:
            why = event.get("error")
            self._terminal.say(f"{STEP_MARKS[status]} {name}" + (f": {shorten(str(why), MAX_RESULT)}" if why else ""))

    def _call(self, event: Event) -> None:
        arguments = event.get("args") or {}
        shown = ", ".join(f"{name}={shorten(show_value(value), MAX_VALUE)}" for name, value in arguments.items())
        self._terminal.say(f"  • {event.get('name', '')}({shown})", "dim")

    def _progress(self, event: Event) -> None:
        message = event.get("message")
        if message:
            self._terminal.say(f"    {shorten(str(message), MAX_RESULT)}", "dim")

    def _call_end(self, event: Event) -> None:
        if event.get("tool_call_id") in self._recorded:
            return
        status = str(event.get("status", ""))
        line = f"  {CALL_MARKS.get(status, '✗')} {event.get('name', '')}"
        if status == "done":
            line += f"  {round(float(event.get('duration_ms') or 0))} ms"
        else:
            line += f"  {word('call', status)}"
        if status == "error":
            line += f": {shorten(show_value(event.get('result')), MAX_RESULT)}"
        self._terminal.say(line, CALL_STYLES.get(status, ""))

    def _record(self, event: Event) -> None:
        record: dict[str, Any] = event.get("toolCall") or {}
        status = str(record.get("status", ""))
        code = f"record.{status}"
        self._recorded.add(str(record.get("id")))
        if code not in TEXTS:
            return
        named = f"{record.get('serverName', '')}: {record.get('toolTitle') or record.get('toolName', '')}"
        said = text_in(self._language, code)
        line = f"  {RECORD_MARKS.get(status, '✗')} {shorten(named, MAX_RESULT)}  {said}"
        if response := record.get("response"):
            line += f": {shorten(str(response), MAX_RESULT)}"
        self._terminal.say(line, CALL_STYLES.get(status, "dim"))

    def _resolved(self, event: Event) -> None:
        """Keep a line of each decision, which names the call."""
        is_late = event.get("status") == "expired"
        for decision in event.get("decisions") or []:
            if about := decision.get("about"):
                made = word("resolved", "expired" if is_late else str(decision.get("type", "")))
                said = text("resolved", decision=made, about=shorten(visible_line(str(about)), MAX_ABOUT))
                self._terminal.say(f"  {said}", "dim")

    def _reading(self, event: Event) -> None:
        """Say how far the model's server has read the request, a line for each quarter of a long one."""
        read, total = int(event.get("read") or 0), int(event.get("total") or 0)
        quarter = read * QUARTERS // total if total else 0
        if quarter != self._quarter and 0 < quarter < QUARTERS:
            self._terminal.say(f"  {text('model_reads', percent=100 * read // total)}", "dim")
        self._quarter = quarter

    def _reasoning(self, event: Event) -> None:
        """Say once for each message that the model thinks: its thoughts are for those who ask (`--json`)."""
        if event.get("message_id") != self._thought_id:
            self._thought_id = event.get("message_id")
            self._terminal.say(f"  {text('thinking')}", "dim")

    def _content(self, event: Event) -> None:
        if event.get("restarts"):
            self._begin_anew()
        if self._blocks is None:
            self._terminal.stream(str(event.get("text", "")))
            return
        for block in self._blocks.feed(str(event.get("text", ""))):
            self._terminal.say_markdown(block)

    def _begin_anew(self) -> None:
        """Tell the person to ignore the text printed so far, because the answer starts again."""
        if self._blocks:
            self._blocks.rest()
        self._terminal.say(text("said_anew"), "dim")

    def _flush(self) -> None:
        """Print the rest of the text."""
        if self._blocks and (rest := self._blocks.rest()):
            self._terminal.say_markdown(rest)

    def _citations(self, event: Event) -> None:
        for citation in event.get("citations") or []:
            quote = shorten(" ".join(str(citation.get("quote", "")).split()), MAX_RESULT)
            if citation.get("verified"):
                self._terminal.say(f"  [{citation.get('number')}] {_source(citation)}: “{quote}”", "green")
                self._terminal.say(f"      {visible_line(str(citation.get('address', '')))}", "dim")
            else:
                words = f": “{quote}”" if quote else ""
                self._terminal.say(f"  [{citation.get('number')}] {text('not_verified')}{words}", "yellow")


def _source(citation: dict[str, Any]) -> str:
    """Return where a quotation stands: the file, its version, and the place in it."""
    changed = "" if citation.get("is_current", True) else text("cited_changed")
    place = text("cited_place", place=citation["place"]) if citation.get("place") else ""
    path, version = citation.get("path", ""), citation.get("version")
    return visible_line(text("cited", path=path, version=version, place=place, changed=changed))


class JsonTranscript:
    """Prints every event as one line of JSON on standard output."""

    def show(self, event: Event) -> None:
        """Print one event."""
        print(json.dumps(event, ensure_ascii=False), flush=True)  # noqa: T201 - the output this format is for
