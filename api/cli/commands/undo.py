"""`drive-agent undo` and `redo`: take back a run, a conversation or one change, or do it again, after a preview."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from api.cli.confirmation import confirmed
from api.cli.failure import CommandError
from api.cli.invocation import again
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, visible_line
from api.cli.texts import text

if TYPE_CHECKING:
    from argparse import Namespace

    from api.cli.client import ServiceClient


class Reversal(NamedTuple):
    """The changes to undo or redo: an address with the fields of its body, and the beginning of its texts' codes."""

    path: str
    word: str
    fields: dict[str, str]


def undo(arguments: Namespace) -> int:
    """Preview the undo, ask, and do it."""
    return _reverse(arguments, "undo", "redo")


def redo(arguments: Namespace) -> int:
    """Preview the redo, ask, and do it."""
    return _reverse(arguments, "redo", "undo")


def undo_run(client: ServiceClient, terminal: Terminal, run_id: str) -> None:
    """Preview, confirm and undo a run. Raises `CommandError` if nobody answers."""
    _carry_out(client, terminal, Reversal(_path("runs", run_id, "undo"), "undo", {}), ask=True)


def _reverse(arguments: Namespace, word: str, opposite: str) -> int:
    wanted, terminal = _wanted(arguments, word), Terminal()
    with connected(arguments, terminal) as client:
        done = _carry_out(client, terminal, wanted, ask=not arguments.yes)
    if done and done.get("change_id") is not None:
        command = again(arguments, [opposite, "--change", str(done["change_id"])])
        terminal.say(text(f"{word}_hint", command=command), "dim")
    return 0


def _wanted(arguments: Namespace, word: str) -> Reversal:
    """Return the reversal that the arguments name.

    Raises `CommandError` for a run to begin with, but no conversation.
    """
    thread, since = getattr(arguments, "thread", None), getattr(arguments, "since", None)
    if since is not None and thread is None:
        raise CommandError.of("since_what")
    if thread is not None:
        return Reversal(_path("threads", thread, word), word, {} if since is None else {"since_run": since})
    if arguments.change is not None:
        return Reversal(_path("drive/changes", str(arguments.change), word), word, {})
    return Reversal(_path("runs", arguments.run_id, word), word, {})


def _path(kind: str, key: str, word: str) -> str:
    return f"/api/{kind}/{quote(key, safe='')}/{word}"


def _carry_out(client: ServiceClient, terminal: Terminal, wanted: Reversal, *, ask: bool) -> dict[str, Any] | None:
    """Preview, confirm and do it; return the answer, None if nothing was done."""
    preview = client.post(wanted.path, {**wanted.fields, "preview": True})
    if not _changes(preview):
        _show(preview, terminal, text(f"{wanted.word}_nothing"))
        return None
    _show(preview, terminal, text(f"{wanted.word}_preview"))
    if ask and not confirmed(terminal, text(f"{wanted.word}_ask")):
        terminal.say(text("nothing_changed"))
        return None
    done = client.post(wanted.path, {**wanted.fields, "preview": False})
    _show(done, terminal, text(f"{wanted.word}_done"))
    return done


def _changes(result: dict[str, Any]) -> list[Any]:
    """Return the undone or redone changes: a redo of a change has its own name for it."""
    return result.get("undone") or result.get("redone") or []


def _show(result: dict[str, Any], terminal: Terminal, heading: str) -> None:
    terminal.say(heading)
    for change in _changes(result):
        terminal.say(f"  {visible_line(_summary(change))}")
    for left in result["skipped"]:
        terminal.say(f"  {text('left_as_is')}{visible_line(_summary(left))}", "yellow")


def _summary(entry: Any) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    return ": ".join(str(entry[name]) for name in ("summary", "name", "path", "reason") if entry.get(name))
