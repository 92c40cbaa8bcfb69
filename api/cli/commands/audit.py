"""`drive-agent audit`: the calls of a run, who allowed them, and the versions that they made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from api.cli.service.connection import connected
from api.cli.terminal import Terminal, print_json, visible_line

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator


def audit(arguments: Namespace) -> int:
    """Print the audit of a run."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        found = client.get(f"/api/runs/{quote(arguments.run_id, safe='')}/audit")
    if arguments.json:
        print_json(found)
        return 0
    for line in _lines(found):
        terminal.say(visible_line(line))
    return 0


def _lines(found: dict[str, Any]) -> Iterator[str]:
    begun = f"by {found['started_by']} at {found['created_at']}"
    yield f"Run {found['run_id']} ({found['mode']}): {found['status']}, {begun}"
    for call in found["calls"]:
        yield f"{call['tool']} {call['tool_call_id']}: {call['status'] or 'open'}"
        for asked in call["asked"]:
            yield f"  {_asked(asked)}"
        if call["covered_by"]:
            yield f"  not asked: covered by {call['covered_by']}"
        yield from _changes(call["changes"])
    if found["other_changes"]:
        yield "Other changes"
        yield from _changes(found["other_changes"])


def _asked(asked: dict[str, Any]) -> str:
    line = f"approval {asked['approval_id']}: {asked['status']}"
    if asked["status"] == "decided":
        line = f"approval {asked['approval_id']}: {asked['decision']} by {asked['decided_by']} at {asked['decided_at']}"
    return f"{line} ({asked['message']})" if asked["message"] else line


def _changes(changes: list[dict[str, Any]]) -> Iterator[str]:
    for change in changes:
        allowed = f", approved by {change['approved_by']}" if change["approved_by"] else ""
        undone = f", taken back by change {change['undone_by']}" if change["undone_by"] else ""
        yield f"  change {change['id']}: {change['summary']}{allowed}{undone}"
        for version in change["versions"]:
            yield f"    version {version['before'] or 'none'} -> {version['after']} of {version['file_id']}"
