"""Show the actions of an approval, ask about them, and turn the answers into decisions."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from api.cli.chat.questions import NO, YES, answer_question
from api.cli.chat.transcript import show_value
from api.cli.terminal import visible_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from api.cli.chat.event_stream import Event
    from api.cli.terminal import Terminal

Action = dict[str, Any]
Decision = dict[str, Any]

RISKS = ("read", "write", "share", "delete")
EDIT = frozenset({"e", "edit", "改", "修改"})
EACH = frozenset({"p", "each", "逐个"})
GRANT = frozenset({"g", "grant", "允许"})
SHOW = frozenset({"s", "show", "全部"})
NO_ANSWER = "Standard input ended without an answer."
LONGEST_ARGUMENT = 500
MOST_PREVIEW_LINES = 60
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
        return _answer_question(actions[0], time_left(event.get("expires_at")), terminal)
    answers = Answers([approve(action) for action in actions if _approved_in_advance(action, yes_to)])
    waiting = [action for action in actions if not _approved_in_advance(action, yes_to)]
    if waiting:
        terminal.say(f"Approval needed{time_left(event.get('expires_at'))}", "bold yellow")
        for number, action in enumerate(waiting, 1):
            show_action(action, number, terminal)
        _ask_all(waiting, terminal, answers)
    return answers


def _answer_question(action: Action, left: str, terminal: Terminal) -> Answers:
    """Ask what a server wants to know: nothing that was agreed to in advance answers that."""
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
        word, rest = _answer(f"All {len(actions)}: y(es), n(o) [why], p = one by one, s(how all)? ", terminal, answers)
        if word in YES:
            answers.decisions += [approve(action) for action in actions]
            return
        if word in NO:
            answers.decisions += [reject(action, rest) for action in actions]
            return
        if word in EACH | EDIT:
            _ask_each(actions, terminal, answers)
            return
        if word in SHOW:
            for number, action in enumerate(actions, 1):
                show_action(action, number, terminal, whole=True)


def _ask_each(actions: Sequence[Action], terminal: Terminal, answers: Answers) -> None:
    for number, action in enumerate(actions, 1):
        label = f"{number}. {action['name']}: " if len(actions) > 1 else ""
        decision = None
        while decision is None:
            kind = action.get("grant_kind")
            grant = f", g(rant every {kind} in) FOLDER [MINUTES [ITEMS]]" if kind else ""
            word, rest = _answer(f"{label}y(es), n(o) [why], e(dit), s(how all){grant}? ", terminal, answers)
            decision = _decide(action, word, rest, terminal)
            if word in SHOW:
                show_action(action, number, terminal, whole=True)
        answers.decisions.append(decision)


def _answer(question: str, terminal: Terminal, answers: Answers) -> tuple[str, str]:
    """Return the answer's first word in lower case, and the rest of the line."""
    line = terminal.ask(question)
    if line is None:
        answers.unanswered = True
        return "n", NO_ANSWER
    word, _, rest = line.strip().partition(" ")
    return word.lower(), rest.strip()


def _decide(action: Action, word: str, rest: str, terminal: Terminal) -> Decision | None:
    if word in YES:
        return approve(action)
    if word in NO:
        return reject(action, rest)
    if word in GRANT and action.get("grant_kind"):
        return _grant(action, rest, terminal)
    if word in EDIT:
        return _edit(action, rest, terminal)
    return None


def _grant(action: Action, line: str, terminal: Terminal) -> Decision | None:
    """Return an approval with a grant for actions of the same kind; None if the line names no folder."""
    try:
        folder, *numbers = shlex.split(line)
        terms = dict(zip(("minutes", "max_items"), map(int, numbers), strict=False))
    except ValueError:
        terminal.say("Write: g /Folder, or g /Folder 60 50 for an hour and 50 items.", "red")
        return None
    return {**approve(action), "grant": {"folder_id": folder, **terms}}


def _edit(action: Action, line: str, terminal: Terminal) -> Decision | None:
    """Ask for changed arguments until they can be read; None if the person gives none."""
    while True:
        text = line or terminal.ask("Change (name=value ..., or a JSON object; empty: nothing): ")
        if not text or not text.strip():
            return None
        try:
            changed = parse_changes(text, action["args"])
        except ValueError as error:
            terminal.say(f"That can't be read: {error}.", "red")
            line = ""
            continue
        for name, value in changed.items():
            terminal.say(f"     {name} = {show_value(value)}", "green")
        return {"tool_call_id": action["tool_call_id"], "type": "edit", "args": {**action["args"], **changed}}


def parse_changes(text: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Read `name=value name="another value"` or a JSON object as changes of a tool's arguments.

    A value stays text where the argument is text, and is read as JSON where it is something else. Raises ValueError
    for a name that the tool was not called with, unless the line is JSON, which may also add arguments.
    """
    if text.lstrip().startswith("{"):
        try:
            changes: Any = json.loads(text)
        except ValueError as error:
            raise ValueError("it is not valid JSON") from error
        return changes
    pairs = [word.partition("=") for word in shlex.split(text)]
    unknown = [name for name, sign, _ in pairs if not sign or name not in arguments]
    if unknown:
        raise ValueError(f"write name=value, with a name out of {', '.join(arguments)}")
    return {name: _read_value(value, arguments[name]) for name, _, value in pairs}


def _read_value(value: str, current: Any) -> Any:
    if isinstance(current, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def time_left(expires_at: Any) -> str:
    """Return the time until an approval expires, as " (within 4:59 minutes)"; empty if it is unknown."""
    try:
        seconds = round((datetime.fromisoformat(str(expires_at)) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return ""
    return f" (within {seconds // 60}:{seconds % 60:02} minutes)" if seconds > 0 else ""


def show_action(action: Action, number: int, terminal: Terminal, *, whole: bool = False) -> None:
    """Print one action; long arguments, lists and diffs are cut with a note unless `whole`."""
    undo = "can be undone" if action.get("reversible") else "can NOT be undone"
    terminal.say(f"{number:3}. {action['name']}   risk: {action.get('risk', 'unknown')}, {undo}", "bold")
    if action.get("reason"):
        terminal.say(_indented(str(action["reason"])))
    for name, value in action["args"].items():
        terminal.say(f"     {name} = {_argument(show_value(value), whole=whole)}", "dim")
    _show_preview(str(action.get("preview") or ""), terminal, whole=whole)


def _argument(text: str, *, whole: bool) -> str:
    if whole or len(text) <= LONGEST_ARGUMENT:
        return visible_line(text)
    return f"{visible_line(text[:LONGEST_ARGUMENT])}… ({len(text)} characters in all)"


def _show_preview(preview: str, terminal: Terminal, *, whole: bool) -> None:
    lines = preview.splitlines()
    shown = lines if whole else lines[:MOST_PREVIEW_LINES]
    in_diff = False
    for line in shown:
        in_diff = in_diff or line.startswith("@@")
        terminal.say(f"     {line}", DIFF_STYLES.get(line[:1], "") if in_diff else "")
    if len(lines) > len(shown):
        terminal.say(f"     … and {len(lines) - len(shown)} more lines")


def _indented(text: str) -> str:
    return "\n".join(f"     {line}" for line in text.splitlines())
