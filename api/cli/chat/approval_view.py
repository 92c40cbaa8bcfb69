"""How an action that waits for an approval is shown: what, why, what it will change, and whether that can be undone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from api.cli.chat.transcript import show_value
from api.cli.terminal import visible_line

if TYPE_CHECKING:
    from api.cli.terminal import Terminal

LONGEST_ARGUMENT = 500
MOST_PREVIEW_LINES = 60
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
