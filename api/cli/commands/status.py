"""`drive-agent status`: the state of the whole service, for administrators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from api.cli.commands.drive import WAITING
from api.cli.configuration import settings_of
from api.cli.service.connection import CliSettings, connected
from api.cli.service.last_backup import newest_backup
from api.cli.terminal import Terminal, format_size, print_json, visible_line
from api.cli.texts import text
from drive_server.kernel.settings import DriveSettings

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator
    from pathlib import Path

LONG_SECONDS = 60
"""A run that works longer is mentioned."""


def status(arguments: Namespace) -> int:
    """Print the state of the service."""
    terminal = Terminal(machine=arguments.json)
    with connected(arguments, terminal) as client:
        found: dict[str, Any] = client.get("/api/status")
    is_here = not (arguments.url or settings_of(arguments, CliSettings).url)
    backup = newest_backup(settings_of(arguments, DriveSettings).root) if is_here else None
    if arguments.json:
        print_json({**found, "last_backup": str(backup) if backup else None})
        return 0
    for line in (*_lines(found), _backup_line(backup, is_here=is_here)):
        terminal.say(line)
    return 0


def _lines(found: dict[str, Any]) -> Iterator[str]:
    yield text("status_version", version=found["version"], python=found["python"], schema=found["schema"])
    yield text("status_database", size=format_size(found["database_bytes"]), kind=found["database"])
    yield text("status_contents", size=format_size(found["content_bytes"]), count=found["contents"])
    size = found["index_bytes"]
    room = text("status_index_elsewhere") if size is None else format_size(size)
    backlog = sum(found["index"].get(state, 0) for state in WAITING)
    states = text("status_backlog", count=backlog) if backlog else text("status_no_backlog")
    yield text("status_index", size=room, states=states)
    if found["index_health"] in {"rebuilding", "degraded"}:
        yield text(f"index_{found['index_health']}")
    yield text("status_people", count=found["people"])
    yield text(
        "status_runs", working=found["runs_at_work"], waiting=found["runs_waiting"], approvals=found["approvals_open"]
    )
    if found["oldest_run_seconds"] > LONG_SECONDS:
        yield text("status_oldest", seconds=round(found["oldest_run_seconds"]))


def _backup_line(backup: Path | None, *, is_here: bool) -> str:
    if backup is not None:
        return text("status_backup", name=backup.name, folder=visible_line(str(backup.parent.parent)))
    return text("status_backup_none") if is_here else text("status_backup_elsewhere")
