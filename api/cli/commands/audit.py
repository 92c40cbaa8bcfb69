"""`drive-agent audit`: the calls of a run, who allowed them, and the versions that they made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from api.cli.service.connection import connected
from api.cli.terminal import Terminal, print_json, visible_line
from api.cli.texts import text, word

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
    yield text(
        "audit_run",
        run=found["run_id"],
        mode=word("mode", found["mode"]),
        status=word("run", found["status"]),
        who=found["started_by"],
        time=found["created_at"],
    )
    for call in found["calls"]:
        yield f"{call['tool']} {call['tool_call_id']}: {word('call', call['status'] or 'open')}"
        for asked in call["asked"]:
            yield f"  {_asked(asked)}"
        if call["covered_by"]:
            yield text("audit_covered", what=word("covered", call["covered_by"]))
        yield from _changes(call["changes"])
    if found["other_changes"]:
        yield text("audit_other")
        yield from _changes(found["other_changes"])


def _asked(asked: dict[str, Any]) -> str:
    approval, status = asked["approval_id"], asked["status"]
    line = text("audit_asked", approval=approval, status=word("approval", status))
    if status == "decided":
        decision, who, time = word("decision", asked["decision"]), asked["decided_by"], asked["decided_at"]
        line = text("audit_decided", approval=approval, decision=decision, who=who, time=time)
    return f"{line} ({asked['message']})" if asked["message"] else line


def _changes(changes: list[dict[str, Any]]) -> Iterator[str]:
    for change in changes:
        allowed = text("audit_allowed", who=change["approved_by"]) if change["approved_by"] else ""
        undone = text("audit_undone", id=change["undone_by"]) if change["undone_by"] else ""
        line = text("audit_change", id=change["id"], summary=change["summary"], allowed=allowed, undone=undone)
        yield f"  {line}"
        for version in change["versions"]:
            before, after = version["before"] or text("audit_first"), version["after"]
            yield f"    {text('audit_version', before=before, after=after, file=version['file_id'])}"
