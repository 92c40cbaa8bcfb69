"""`drive-agent undo`: undo the changes of a run, after a preview."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from api.cli.confirmation import confirmed
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, visible_line

if TYPE_CHECKING:
    from argparse import Namespace

    from api.cli.client import ServiceClient


def undo(arguments: Namespace) -> int:
    """Preview the undo, ask, and do it."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        undo_run(client, terminal, arguments.run_id, ask=not arguments.yes)
    return 0


def undo_run(client: ServiceClient, terminal: Terminal, run_id: str, *, ask: bool = True) -> None:
    """Preview, confirm and undo a run. Raises `CommandError` if nobody answers."""
    path = f"/api/runs/{quote(run_id, safe='')}/undo"
    preview = client.post(path, {"preview": True})
    if not preview["undone"]:
        _show(preview, terminal, "Nothing of this run can be taken back.")
        return
    _show(preview, terminal, "This would be taken back:")
    if ask and not confirmed(terminal, "Take it back? y(es), n(o) "):
        terminal.say("Nothing was changed.")
        return
    _show(client.post(path, {"preview": False}), terminal, "Taken back:")


def _show(result: dict[str, Any], terminal: Terminal, heading: str) -> None:
    terminal.say(heading)
    for change in result["undone"]:
        terminal.say(f"  {visible_line(_summary(change))}")
    for left in result["skipped"]:
        terminal.say(f"  left as it is: {visible_line(_summary(left))}", "yellow")


def _summary(entry: Any) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    return ": ".join(str(entry[name]) for name in ("summary", "name", "path", "reason") if entry.get(name))
