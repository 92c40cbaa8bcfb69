"""Show the actions of an approval, ask about them, and turn the answers into decisions."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from api.cli.chat.questions import answer_question
from api.cli.chat.transcript import show_value
from api.cli.confirmation import NO, YES
from api.cli.terminal import visible_line
from api.cli.texts import language, text, text_in, word, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from api.cli.chat.event_stream import Event
    from api.cli.terminal import Terminal
    from graph.language import Language

Action = dict[str, Any]
Decision = dict[str, Any]

RISKS = ("read", "write", "share", "delete")
EDIT = words("edit")
EACH = words("each")
GRANT = words("grant")
SHOW = words("show")
WORDS = frozenset({"name", "text", "folder", "person", "role", "choice"})
"""Kinds of arguments whose values are text, a number of digits too (`graph/approvals/arguments.py`)."""
MAX_ARGUMENT = 500
MAX_PREVIEW_LINES = 60
DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


@dataclass(slots=True)
class Answers:
    """The decisions on an approval; `unanswered`: standard input ended before all were given."""

    decisions: list[Decision] = field(default_factory=list[Decision])
    unanswered: bool = False


def ask_about(event: Event, terminal: Terminal, yes_to: str | None = None) -> Answers:
    """Show the actions of an `approval_needed` event and return the decisions, without asking up to `yes_to`."""
    actions: list[Action] = event["actions"]
    if actions and actions[0].get("question"):
        return _answer_question(actions[0], event.get("expires_at"), terminal)
    answers = Answers([approve(action) for action in actions if _approved_in_advance(action, yes_to)])
    waiting = [action for action in actions if not _approved_in_advance(action, yes_to)]
    if waiting:
        left = time_left(event.get("expires_at"), language())
        terminal.say(text("approval_needed", left=left), "bold yellow")
        for number, action in enumerate(waiting, 1):
            show_action(action, number, terminal)
        _ask_all(waiting, terminal, answers)
    return answers


def _answer_question(action: Action, expires_at: Any, terminal: Terminal) -> Answers:
    """Ask a server's question: no earlier consent answers it."""
    left = time_left(expires_at, action["question"]["language"])
    decision = answer_question(action, terminal, left)
    if decision is None:
        return Answers([reject(action, "")], unanswered=True)
    return Answers([decision])


def approve(action: Action) -> Decision:
    """Return the decision that approves an action as it is."""
    return {"tool_call_id": action["tool_call_id"], "type": "approve"}


def reject(action: Action, message: str) -> Decision:
    """Return the decision that rejects an action; the message tells the assistant why."""
    decision = {"tool_call_id": action["tool_call_id"], "type": "reject"}
    return {**decision, "message": message} if message else decision


def _approved_in_advance(action: Action, yes_to: str | None) -> bool:
    risk = action.get("risk")
    if yes_to not in {"read", "write"} or risk not in RISKS:
        return False
    return RISKS.index(risk) <= RISKS.index(yes_to)


def _ask_all(actions: Sequence[Action], terminal: Terminal, answers: Answers) -> None:
    if len(actions) == 1:
        _ask_each(actions, terminal, answers)
        return
    while True:
        said, rest = _answer(text("ask_all", count=len(actions)), terminal, answers)
        if said in YES:
            answers.decisions += [approve(action) for action in actions]
            return
        if said in NO:
            answers.decisions += [reject(action, rest) for action in actions]
            return
        if said in EACH | EDIT:
            _ask_each(actions, terminal, answers)
            return
        if said in SHOW:
            for number, action in enumerate(actions, 1):
                show_action(action, number, terminal, whole=True)


def _ask_each(actions: Sequence[Action], terminal: Terminal, answers: Answers) -> None:
    for number, action in enumerate(actions, 1):
        label = f"{number}. {action['name']}: " if len(actions) > 1 else ""
        decision = None
        while decision is None:
            kind = action.get("grant_kind")
            grant = text("ask_grant", kind=word("grant", kind)) if kind else ""
            said, rest = _answer(label + text("ask_one", grant=grant), terminal, answers)
            decision = _decide(action, said, rest, terminal)
            if said in SHOW:
                show_action(action, number, terminal, whole=True)
        answers.decisions.append(decision)


def _answer(question: str, terminal: Terminal, answers: Answers) -> tuple[str, str]:
    """Return the answer's first word in lower case, and the rest of the line."""
    line = terminal.ask(question)
    if line is None:
        answers.unanswered = True
        return "n", text("not_answered")
    said, _, rest = line.strip().partition(" ")
    return said.lower(), rest.strip()


def _decide(action: Action, said: str, rest: str, terminal: Terminal) -> Decision | None:
    if said in YES:
        return approve(action)
    if said in NO:
        return reject(action, rest)
    if said in GRANT and action.get("grant_kind"):
        return _grant(action, rest, terminal)
    if said in EDIT:
        return _edit(action, rest, terminal)
    return None


def _grant(action: Action, line: str, terminal: Terminal) -> Decision | None:
    """Return an approval with a grant for actions of the same kind; None if the line names no folder."""
    try:
        folder, *numbers = shlex.split(line)
        terms = dict(zip(("minutes", "max_items"), map(int, numbers), strict=False))
    except ValueError:
        terminal.say(text("grant_form"), "red")
        return None
    return {**approve(action), "grant": {"folder_id": folder, **terms}}


def _edit(action: Action, line: str, terminal: Terminal) -> Decision | None:
    """Ask for changed arguments until they can be read; None if the person gives none."""
    while True:
        changes = line or terminal.ask(text("ask_change"))
        if not changes or not changes.strip():
            return None
        try:
            changed = parse_changes(changes, _offered(action))
        except ValueError as error:
            terminal.say(text("change_unreadable", reason=error), "red")
            line = ""
            continue
        for name, value in changed.items():
            terminal.say(f"     {name} = {show_value(value)}", "green")
        return {"tool_call_id": action["tool_call_id"], "type": "edit", "args": {**action["args"], **changed}}


def _offered(action: Action) -> dict[str, Any]:
    """Return the arguments that an edit offers, with their values, empty text for words that are not there yet."""
    args: dict[str, Any] = action["args"]
    kinds: dict[str, str] = action.get("editable", dict.fromkeys(args, "value"))
    return {name: (args.get(name) or "") if kind in WORDS else args.get(name) for name, kind in kinds.items()}


def parse_changes(line: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Read `name=value name="another value"` or a JSON object as changes of a tool's arguments.

    A value stays text where the argument is text, and is read as JSON where it is something else. Raises ValueError
    for a name that is none of the `arguments`, unless the line is JSON, which may also add arguments.
    """
    if line.lstrip().startswith("{"):
        try:
            changes: Any = json.loads(line)
        except ValueError as error:
            raise ValueError(text("change_no_json")) from error
        return changes
    pairs = [pair.partition("=") for pair in shlex.split(line)]
    unknown = [name for name, sign, _ in pairs if not sign or name not in arguments]
    if unknown:
        raise ValueError(text("change_form", names=", ".join(arguments)))
    return {name: _read_value(value, arguments[name]) for name, _, value in pairs}


def _read_value(value: str, current: Any) -> Any:
    if isinstance(current, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def time_left(expires_at: Any, language: Language) -> str:
    """Return the time until an approval expires, as " (within 4:59 minutes)"; empty if it is unknown."""
    try:
        seconds = round((datetime.fromisoformat(str(expires_at)) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return ""
    return text_in(language, "time_left", time=f"{seconds // 60}:{seconds % 60:02}") if seconds > 0 else ""


def show_action(action: Action, number: int, terminal: Terminal, *, whole: bool = False) -> None:
    """Print one action; long arguments, lists and diffs are cut with a note unless `whole`."""
    undo = text("can_undo" if action.get("reversible") else "can_not_undo")
    risk = word("risk", action.get("risk", "unknown"))
    terminal.say(f"{number:3}. {text('action', name=action['name'], risk=risk, undo=undo)}", "bold")
    if action.get("reason"):
        terminal.say(_indented(str(action["reason"])))
    _show_preview(str(action.get("preview") or ""), terminal, whole=whole)
    _show_sources(action, terminal, whole=whole)
    for name, value in action["args"].items() if whole or not action.get("effect") else ():
        terminal.say(f"     {name} = {_argument(show_value(value), whole=whole)}", "dim")


def _show_sources(action: Action, terminal: Terminal, *, whole: bool) -> None:
    """Name the files that can have led to the call; the words that were read only if all is to be shown."""
    passage: dict[str, Any] | None = action.get("passage")
    if not passage:
        return
    sources: list[dict[str, Any]] = action.get("sources") or [passage]
    named = [
        text("source", path=visible_line(one["path"] or one["name"] or "?"), origin=word("origin", one["origin"]))
        for one in sources
    ]
    terminal.say(f"     {text('read_before', sources=text('comma').join(named))}")
    if whole and passage["excerpt"]:
        terminal.say(f"     > {visible_line(passage['excerpt'])}", "dim")


def _argument(value: str, *, whole: bool) -> str:
    if whole or len(value) <= MAX_ARGUMENT:
        return visible_line(value)
    return text("argument_cut", beginning=visible_line(value[:MAX_ARGUMENT]), count=len(value))


def _show_preview(preview: str, terminal: Terminal, *, whole: bool) -> None:
    lines = preview.splitlines()
    shown = lines if whole else lines[:MAX_PREVIEW_LINES]
    in_diff = False
    for line in shown:
        in_diff = in_diff or line.startswith("@@")
        terminal.say(f"     {line}", DIFF_STYLES.get(line[:1], "") if in_diff else "")
    if len(lines) > len(shown):
        terminal.say(f"     {text('lines_cut', count=len(lines) - len(shown))}")


def _indented(reason: str) -> str:
    return "\n".join(f"     {line}" for line in reason.splitlines())
