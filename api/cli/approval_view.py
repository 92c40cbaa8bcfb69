"""How an action that waits for an approval is shown: what, why, what it will change, and whether that can be undone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from api.cli.terminal import visible_line
from api.cli.transcript import show_value

if TYPE_CHECKING:
    from api.cli.terminal import Terminal

LONGEST_ARGUMENT = 500
MOST_ITEMS = 20
MOST_DIFF_LINES = 60
DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def time_left(expires_at: Any) -> str:
    """Return how long an approval still waits, as " (within 4:59 minutes)"; empty if that is unknown."""
    try:
        seconds = round((datetime.fromisoformat(str(expires_at)) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return ""
    return f" (within {seconds // 60}:{seconds % 60:02} minutes)" if seconds > 0 else ""


def show_action(action: dict[str, Any], number: int, terminal: Terminal, *, whole: bool = False) -> None:
    """Print one action; long arguments, lists and diffs are cut, and say so, unless the `whole` is asked for."""
    undo = "can be undone" if action.get("reversible") else "can NOT be undone"
    terminal.say(f"{number:3}. {action['name']}   risk: {action.get('risk', 'unknown')}, {undo}", "bold")
    if action.get("reason"):
        terminal.say(_indented(str(action["reason"])))
    for name, value in action["args"].items():
        terminal.say(f"     {name} = {_argument(show_value(value), whole=whole)}", "dim")
    preview = action.get("preview")
    if isinstance(preview, dict):
        _show_effect(preview, terminal, whole=whole)
    elif preview:
        terminal.say(_indented(str(preview)))


def _argument(text: str, *, whole: bool) -> str:
    if whole or len(text) <= LONGEST_ARGUMENT:
        return visible_line(text)
    return f"{visible_line(text[:LONGEST_ARGUMENT])}… ({len(text)} characters in all)"


def _show_effect(effect: dict[str, Any], terminal: Terminal, *, whole: bool) -> None:
    if effect.get("summary"):
        terminal.say(_indented(str(effect["summary"])))
    _show_items(effect, terminal, whole=whole)
    for field_name, words in (("gains_access", "gains access"), ("loses_access", "loses access")):
        for email in effect.get(field_name) or []:
            terminal.say(f"     {visible_line(str(email))} {words}")
    if effect.get("diff"):
        _show_diff(str(effect["diff"]), terminal, whole=whole)


def _show_items(effect: dict[str, Any], terminal: Terminal, *, whole: bool) -> None:
    items: list[Any] = list(effect.get("items") or [])
    shown = items if whole else items[:MOST_ITEMS]
    for item in shown:
        name = item.get("path") or item.get("name") if isinstance(item, dict) else item
        terminal.say(f"       {visible_line(str(name))}")
    left = max(int(effect.get("count") or 0), len(items)) - len(shown)
    if items and left > 0:
        terminal.say(f"       … and {left} more")


def _show_diff(diff: str, terminal: Terminal, *, whole: bool) -> None:
    lines = diff.splitlines()
    shown = lines if whole else lines[:MOST_DIFF_LINES]
    for line in shown:
        terminal.say(f"     {line}", DIFF_STYLES.get(line[:1], ""))
    if len(lines) > len(shown):
        terminal.say(f"     … and {len(lines) - len(shown)} more lines")


def _indented(text: str) -> str:
    return "\n".join(f"     {line}" for line in text.splitlines())
