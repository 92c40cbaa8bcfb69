from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.cli.command import COMMAND, drive_agent, environment
from tests.api.cli.scripted_service import (
    CANCELLED,
    DECISION,
    DONE,
    DROP,
    FOREVER,
    RUN,
    ScriptedService,
    action,
    approval,
    content,
    problem,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

CONTROL_CODES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
SHARE = action(
    "share_item",
    "share",
    args={"item_id": "i1", "email": "bob@example.com", "role": "viewer"},
    reason="Somebody else gains access.",
    preview="Share 'plan.md' with bob@example.com as viewer.\nGains access: bob@example.com",
)
WHOLE_TURN: list[Any] = [
    RUN,
    {
        "type": "route_decision",
        "agent": "drive_agent",
        "confidence": 0.9,
        "reason": "About folders.",
        "method": "pattern",
    },
    {
        "type": "task_plan",
        "plan_id": "p",
        "steps": [{"id": "s1", "title": "建立文件夹", "agent": "drive_agent", "status": "pending"}],
    },
    {"type": "task_step_update", "step_id": "s1", "status": "in-progress"},
    {"type": "tool_call_start", "tool_call_id": "c", "name": "create_folder", "args": {"name": "报告 📁"}},
    {"type": "tool_call_end", "tool_call_id": "c", "name": "create_folder", "status": "done", "duration_ms": 12.4},
    {"type": "task_step_update", "step_id": "s1", "status": "completed"},
    {"type": "reasoning", "text": "So it is ", "message_id": "m"},
    {"type": "reasoning", "text": "there.", "message_id": "m"},
    content("Done"),
    content(": it is there."),
    {**DONE, "changes": [{"id": 7, "summary": "Created 报告"}]},
]


def chat(service: ScriptedService, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    settings = {"DRIVE_AGENT_TOKEN": "t", "TERM": "xterm-256color"}
    return drive_agent("chat", *arguments, "--url", service.url, stdin=stdin, settings=settings)


def decided(service: ScriptedService) -> list[dict[str, Any]]:
    return [decision for body in service.decisions for decision in body["decisions"]]


def test_a_turn_shows_route_plan_calls_and_answer_without_control_codes_in_a_pipe(scripted: ScriptedService) -> None:
    scripted.script = WHOLE_TURN
    result = chat(scripted, "建一个文件夹")
    assert result.returncode == 0, result.stderr
    assert not CONTROL_CODES.search(result.stdout + result.stderr)
    assert result.stdout.splitlines() == [
        "→ drive_agent  About folders.",
        "Plan",
        "  1. 建立文件夹  (drive_agent)",
        "▸ 1. 建立文件夹",
        "  • create_folder(name=报告 📁)",
        "  ✓ create_folder  12 ms",
        "✓ 1. 建立文件夹",
        "  … thinking",
        "Done: it is there.",
    ]
    assert "drive-agent undo run-1" in result.stderr
    assert "--thread thread-1" in result.stderr
    assert scripted.chats[0]["message"] == "建一个文件夹"
    assert scripted.chats[0]["authorization"] == "Bearer t"


@pytest.mark.parametrize(
    ("message", "lines"),
    [
        (
            "echo hello",
            ["  → Every: Echo Tool  was sent the call", "  ✓ Every: Echo Tool  answered: Echo: \\x1b[31mhello"],
        ),
        ("把你好发给它", ["  → Every: Echo Tool  已发送调用", "  ✓ Every: Echo Tool  已回答: Echo: \\x1b[31mhello"]),
    ],
)
def test_a_call_of_ones_own_server_has_the_line_of_its_record_in_the_language_of_the_message(
    scripted: ScriptedService, message: str, lines: list[str]
) -> None:
    record = {"id": "c", "serverName": "Every", "toolTitle": "Echo Tool", "toolName": "echo", "response": ""}
    updates = [{**record, "status": status} for status in ("pending", "invoking")]
    updates.append({**record, "status": "done", "response": "Echo: \x1b[31mhello"})
    pending, invoking, done = [{"type": "assistant.toolCall.updated", "toolCall": one} for one in updates]
    call = {"tool_call_id": "c", "name": "mcp__Every__echo"}
    ended = {"type": "tool_call_end", **call, "status": "done", "result": "Echo: hello", "duration_ms": 3}
    scripted.script = [
        *(RUN, {"type": "tool_call_start", **call, "args": {"message": "hello"}}),
        *(pending, invoking, ended, done, content("Done."), DONE),
    ]
    assert chat(scripted, message).stdout.splitlines() == ["  • mcp__Every__echo(message=hello)", *lines, "Done."]


def test_the_model_that_was_named_goes_with_the_message(scripted: ScriptedService) -> None:
    scripted.script = [RUN, content("Yes."), DONE]
    assert chat(scripted, "hi", "--model", "gpt-5").returncode == 0
    assert scripted.chats[0]["model"] == "gpt-5"


def test_events_come_as_json_lines_and_nothing_else_is_on_standard_output(scripted: ScriptedService) -> None:
    scripted.script = [RUN, approval(SHARE), DECISION, DONE]
    result = chat(scripted, "share", "--json", stdin="y\n")
    assert result.returncode == 0, result.stderr
    assert [json.loads(line)["type"] for line in result.stdout.splitlines()] == ["run", "approval_needed", "done"]
    assert "Gains access: bob@example.com" in result.stderr


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("y\n", {"type": "approve"}),
        ("是\n", {"type": "approve"}),
        ("what?\n\nYES\n", {"type": "approve"}),
        ("n\n", {"type": "reject"}),
        ("n not with bob\n", {"type": "reject", "message": "not with bob"}),
        ("e\nrole=editor\n", {"type": "edit", "args": {**SHARE["args"], "role": "editor"}}),
        ("e role=editor\n", {"type": "edit", "args": {**SHARE["args"], "role": "editor"}}),
        ('e\n{"role": "editor"}\n', {"type": "edit", "args": {**SHARE["args"], "role": "editor"}}),
        ("e\nrule=editor\nrole\nrole=editor\n", {"type": "edit", "args": {**SHARE["args"], "role": "editor"}}),
        ("e\n\ny\n", {"type": "approve"}),
    ],
)
def test_an_approval_is_answered_on_standard_input(
    scripted: ScriptedService, answer: str, expected: dict[str, Any]
) -> None:
    scripted.script = [RUN, approval(SHARE), DECISION, DONE]
    result = chat(scripted, "share it", stdin=answer)
    assert result.returncode == 0, result.stderr
    assert "share_item   risk: share, can be undone" in result.stdout
    assert "Gains access: bob@example.com" in result.stdout
    assert decided(scripted) == [{"tool_call_id": "call-1", **expected}]


@pytest.mark.parametrize("answers", ["", "e\n", "what?\n"])
def test_without_an_answer_the_action_is_rejected_and_that_fails(scripted: ScriptedService, answers: str) -> None:
    scripted.script = [RUN, approval(SHARE), DECISION, content("Left as it was."), DONE]
    result = chat(scripted, "share it", stdin=answers)
    assert result.returncode == 1
    assert "Left as it was." in result.stdout
    assert "standard input ended without an answer" in result.stderr
    assert [decision["type"] for decision in decided(scripted)] == ["reject"]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [("y\n", ["approve", "approve"]), ("n\n", ["reject", "reject"]), ("p\ny\nn\n", ["approve", "reject"])],
)
def test_several_actions_are_decided_together_or_one_by_one(
    scripted: ScriptedService, answers: str, expected: list[str]
) -> None:
    scripted.script = [
        RUN,
        approval(action("trash_item", "delete", "c1"), action("trash_item", "delete", "c2")),
        DECISION,
        DONE,
    ]
    result = chat(scripted, "delete both", stdin=answers)
    assert result.returncode == 0, result.stderr
    assert [(d["tool_call_id"], d["type"]) for d in decided(scripted)] == list(zip(["c1", "c2"], expected, strict=True))


@pytest.mark.parametrize(
    ("level", "risk", "asked"),
    [
        ("write", "write", False),
        ("write", "read", False),
        ("read", "write", True),
        ("write", "share", True),
        ("write", "delete", True),
        ("write", "unheard-of", True),
    ],
)
def test_yes_to_approves_up_to_its_level_and_never_more(
    scripted: ScriptedService, level: str, risk: str, asked: bool
) -> None:
    scripted.script = [RUN, approval(action("some_tool", risk)), DECISION, DONE]
    result = chat(scripted, "go", "--yes-to", level, stdin="n\n")
    assert result.returncode == 0, result.stderr
    assert [decision["type"] for decision in decided(scripted)] == ["reject" if asked else "approve"]


def test_the_rest_is_asked_when_only_some_actions_are_granted(scripted: ScriptedService) -> None:
    scripted.script = [
        RUN,
        approval(action("write_file", "write", "c1"), {**SHARE, "tool_call_id": "c2"}),
        DECISION,
        DONE,
    ]
    chat(scripted, "go", "--yes-to", "write", stdin="n\n")
    assert [(d["tool_call_id"], d["type"]) for d in decided(scripted)] == [("c1", "approve"), ("c2", "reject")]


def test_an_approval_that_somebody_else_decided_is_said_and_the_turn_goes_on(scripted: ScriptedService) -> None:
    scripted.script = [RUN, approval(SHARE), DECISION, content("Shared."), DONE]
    scripted.decision_refusals = [problem(409, "already_decided", "It was decided already: approved.")]
    result = chat(scripted, "share it", stdin="y\n")
    assert result.returncode == 0, result.stderr
    assert "It was decided already: approved." in result.stdout
    assert "Shared." in result.stdout


def test_an_edit_that_the_service_refuses_is_asked_again(scripted: ScriptedService) -> None:
    scripted.script = [RUN, approval(SHARE), DECISION, DONE]
    scripted.decision_refusals = [problem(422, "invalid_argument", "role: use viewer or editor.")]
    result = chat(scripted, "share it", stdin="e\nrole=king\ny\n")
    assert result.returncode == 0, result.stderr
    assert "role: use viewer or editor." in result.stdout
    assert [decision["type"] for decision in decided(scripted)] == ["edit", "approve"]


def test_a_dropped_stream_goes_on_where_it_broke_off(scripted: ScriptedService) -> None:
    scripted.script = [RUN, content("one "), DROP, content("two "), DROP, content("three"), DONE]
    result = chat(scripted, "count")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "one two three\n"
    assert scripted.resumed_after == ["2", "3"]
    assert len(scripted.chats) == 1


def test_an_answer_is_given_again_to_a_service_that_was_away(scripted: ScriptedService) -> None:
    scripted.script = [RUN, approval(SHARE), DECISION, DONE]
    scripted.decision_refusals = [problem(503, "shutting_down", "The service is shutting down.")]
    result = chat(scripted, "share it", stdin="y\n")
    assert result.returncode == 0, result.stderr
    assert [decision["type"] for decision in decided(scripted)] == ["approve", "approve"]


def test_a_run_that_fails_ends_with_a_sentence_and_exit_code_1(scripted: ScriptedService) -> None:
    scripted.script = [
        RUN,
        {"type": "error", "code": "model_failed", "message": "The model is down.", "retryable": True},
    ]
    result = chat(scripted, "hello")
    assert result.returncode == 1
    assert "The model is down. It may work if you try again." in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("refusal", "sentence"),
    [
        (problem(409, "busy", "This thread is busy.", "Wait for it."), "This thread is busy.\nWait for it."),
        (problem(401, "unauthenticated", "Unknown key."), "Unknown key.\nGive a valid one with --token"),
        (problem(500, "internal", ""), "The service answered 500."),
    ],
)
def test_a_refusal_is_a_sentence_with_its_hint(scripted: ScriptedService, refusal: Any, sentence: str) -> None:
    scripted.chat_refusals = [refusal]
    result = chat(scripted, "hello")
    assert (result.returncode, result.stdout) == (1, "")
    assert sentence in result.stderr


def test_names_and_answers_cannot_control_the_terminal(scripted: ScriptedService) -> None:
    hostile = "\x1b[2J\x1b]0;title\x07evil\u202etxt.exe\x9b1m"
    call = action(
        "write_file", "write", args={"file_id": hostile}, reason=hostile, preview={"summary": hostile, "diff": hostile}
    )
    scripted.script = [
        RUN,
        {"type": "route_decision", "agent": "drive_agent", "reason": hostile},
        {"type": "tool_call_start", "tool_call_id": "c", "name": hostile, "args": {"name": hostile}},
        {"type": "tool_call_end", "tool_call_id": "c", "name": hostile, "status": "error", "result": hostile},
        approval(call),
        DECISION,
        content(hostile),
        DONE,
    ]
    result = chat(scripted, "hello", stdin="y\n")
    assert result.returncode == 0, result.stderr
    assert not CONTROL_CODES.search(result.stdout + result.stderr)
    assert "\u202e" not in result.stdout
    assert "evil\\u202etxt.exe" in result.stdout


def test_long_content_is_cut_in_an_approval_and_shown_whole_when_asked_for(scripted: ScriptedService) -> None:
    text = "A" * 2000 + "END"
    call = action("write_file", "write", args={"content": text})
    scripted.script = [RUN, approval(call), DECISION, DONE]
    result = chat(scripted, "write", stdin="s\ny\n")
    assert "… (2003 characters in all)" in result.stdout
    assert result.stdout.count("END") == 1


def test_a_long_preview_is_cut_and_shown_whole_when_asked_for(scripted: ScriptedService) -> None:
    diff = "\n".join(["--- a.md", "+++ a.md", "@@ -1 +1,100 @@", *(f"+line {number}" for number in range(100))])
    scripted.script = [RUN, approval(action("write_file", "write", preview=diff)), DECISION, DONE]
    result = chat(scripted, "write", stdin="s\ny\n")
    assert "… and 43 more lines" in result.stdout
    assert result.stdout.count("+line 99") == 1


def test_the_place_is_sent_by_id(scripted: ScriptedService) -> None:
    result = chat(scripted, "hello", "--file", "/Reports/计划 100%.md", "--folder", "/Reports")
    assert result.returncode == 0, result.stderr
    assert scripted.chats[0]["context"] == {
        "file_id": "id of /Reports/计划 100%.md",
        "folder_id": "id of /Reports",
    }


@pytest.mark.parametrize(
    ("option", "path", "sentence"),
    [
        ("--file", "/Reports", "/Reports is a folder, not a file."),
        ("--folder", "/a.txt", "/a.txt is a file, not a folder."),
        ("--folder", "/missing", "missing: there is no such item"),
    ],
)
def test_a_place_that_is_not_there_or_of_the_other_kind_is_refused(
    scripted: ScriptedService, option: str, path: str, sentence: str
) -> None:
    result = chat(scripted, "hello", option, path)
    assert result.returncode == 1
    assert sentence in result.stderr
    assert scripted.chats == []


def test_without_a_message_each_line_is_a_turn_of_one_conversation(scripted: ScriptedService) -> None:
    scripted.script = WHOLE_TURN
    result = chat(scripted, stdin="first\n\n/undo\nn\n/undo\ny\nsecond\n/new\nthird\n/help\n")
    assert result.returncode == 0, result.stderr
    assert [(sent["message"], sent.get("thread_id")) for sent in scripted.chats] == [
        ("first", None),
        ("second", "thread-1"),
        ("third", None),
    ]
    assert scripted.undo_previews == [True, True, False]


def test_a_conversation_takes_up_the_approval_it_waits_for(scripted: ScriptedService) -> None:
    earlier = {**approval(SHARE), "approval_id": "approval-0"}
    later = {**approval(SHARE), "approval_id": "approval-2"}
    scripted.script = [RUN, earlier, approval(SHARE), DECISION, later, content("Shared."), DONE]
    result = chat(scripted, "--thread", "thread-1", stdin="y\nn\n")
    assert result.returncode == 0, result.stderr
    assert scripted.chats == []
    assert [decision["type"] for decision in decided(scripted)] == ["approve", "reject"]
    assert "Shared." in result.stdout


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Let started programs hear Ctrl-C, though a shell that runs the tests in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_cancels_the_run_and_fails(scripted: ScriptedService) -> None:
    scripted.script = [RUN, content("Working"), FOREVER, CANCELLED]
    process = subprocess.Popen(
        [COMMAND, "chat", "work", "--url", scripted.url, "--token", "t"],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.read(7) == "Working"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert scripted.cancelled
    assert process.returncode == 1
    assert out == "\nStopping…\n"
    assert "The run ended as cancelled." in err
    assert "Traceback" not in err


@pytest.mark.parametrize(("settings", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_a_terminal_gets_colours_unless_they_are_unwanted(
    scripted: ScriptedService, settings: dict[str, str], coloured: bool
) -> None:
    scripted.script = [RUN, approval(SHARE), DECISION, content("Shared."), DONE]
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, "chat", "share", "--url", scripted.url, "--token", "t"],
        env=environment({"TERM": "xterm-256color", **settings}),
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    os.write(master, b"y\n")
    shown = _read_all(master)
    assert process.wait(60) == 0, shown
    assert "Shared." in shown
    assert ("\x1b[" in shown.replace("\x1b[?2004", "")) == coloured
    assert [decision["type"] for decision in decided(scripted)] == ["approve"]


def _read_all(descriptor: int) -> str:
    read = b""
    while True:
        try:
            chunk = os.read(descriptor, 4096)
        except OSError:  # how Linux says that the other side of a terminal has gone
            break
        if not chunk:
            break
        read += chunk
    os.close(descriptor)
    return read.decode()


def test_an_address_where_nothing_answers_is_a_sentence() -> None:
    result = drive_agent("chat", "hi", "--url", "http://127.0.0.1:9", "--token", "t")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("drive-agent: The service can't be reached.")


def test_the_sources_of_an_answer_are_numbered_after_it(scripted: ScriptedService) -> None:
    found = {
        "number": 1,
        "quote": "Staff get\n25 days",
        "verified": True,
        "path": "/HR/手册\x1b[2J.md",
        "version": 3,
        "is_current": False,
        "place": "page=2",
        "address": "http://127.0.0.1:8000/f/abc?version=3&start=1&end=9#page=2",
    }
    made_up = {"number": 2, "quote": "Staff get a car", "verified": False, "reason": "absent"}
    event = {"type": "citations", "message_id": "m", "citations": [found, made_up]}
    scripted.script = [RUN, content("“Staff get 25 days” [1]"), event, DONE]

    shown = chat(scripted, "how much leave?").stdout

    assert "[1] /HR/手册" in shown
    assert ".md, version 3, page=2, changed since: “Staff get 25 days”" in shown
    assert "http://127.0.0.1:8000/f/abc?version=3&start=1&end=9#page=2" in shown
    assert "[2] ✗ not verified: “Staff get a car”" in shown
    assert not CONTROL_CODES.search(shown)
