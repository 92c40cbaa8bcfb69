from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from api.http.markdown import to_markdown
from api.http.schemas import MessageView, ThreadExport

DAY = datetime(2026, 3, 1, tzinfo=UTC)
QUOTE: dict[str, Any] = {
    "number": 1,
    "quote": "Sixteen\nweeks",
    "verified": True,
    "name": "Leave.md",
    "path": "/HR/Leave.md",
    "version": 3,
    "place": "line=4",
}
RECORD = {"id": "b", "serverName": "Wiki", "toolTitle": "find_page", "arguments": {"q": "`a`"}, "status": "error"}


def export(*messages: MessageView, plan: Any = None) -> ThreadExport:
    named: dict[str, Any] = {"thread_id": "t", "title": "Parental\nleave", "assistant_id": "a"}
    times: dict[str, Any] = {"created_at": DAY, "updated_at": DAY, "exported_at": DAY}
    return ThreadExport(**named, **times, messages=list(messages), has_earlier=False, plan=plan, runs=[])


def test_an_export_has_calls_with_their_outcome_citations_and_the_plan() -> None:
    calls = [{"tool_call_id": key, "name": "read_file", "args": {"file_id": key}} for key in ("a", "b", "c")]
    messages = (
        MessageView(id="1", role="user", text="How long is it?"),
        MessageView(id="2", role="assistant", text="", tool_calls=calls, records=[RECORD]),
        MessageView(id="3", role="tool", text="...", tool_call_id="a", name="read_file", status="done"),
        MessageView(
            id="4", role="assistant", text="Sixteen weeks [1].", citations=[QUOTE, {**QUOTE, "verified": False}]
        ),
    )
    plan = {"steps": [{"title": "Read", "status": "completed"}, {"title": "Write", "status": "failed"}]}
    lines = [line for line in to_markdown(export(*messages, plan=plan), "en").splitlines() if line]
    assert lines == [
        "# Parental leave",
        "Exported on 2026-03-01.",
        "## You",
        "How long is it?",
        "## Assistant",
        '- `read_file {"file_id":"a"}` — done',
        '- `read_file {"file_id":"c"}` — not made',
        '- `` Wiki: find_page {"q":"`a`"} `` — failed',
        "Sixteen weeks [1].",
        "**Sources**",
        "- [1] “Sixteen weeks” /HR/Leave.md (version 3, line=4)",
        "- [1] “Sixteen weeks” /HR/Leave.md (version 3, line=4) — not verified",
        "## Plan",
        "- [x] Read — done",
        "- [ ] Write — failed",
    ]


def test_long_arguments_are_cut() -> None:
    call = {"tool_call_id": "a", "name": "write_file", "args": {"text": "x" * 1000}}
    text = to_markdown(export(MessageView(id="1", role="assistant", text="", tool_calls=[call])), "zh")
    assert "…` — 未执行" in text
    assert len(text) < 500
