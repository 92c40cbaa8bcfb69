from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import AsyncMock, Mock

import pytest

from api.threads import refuse_if_busy
from drive_server.kernel.errors import StorageFailureError
from tests.api.serving import RunningService, SmallService, rest_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.person import Person

PROBLEM = "application/problem+json"


def test_a_turn_begins_with_run_and_ends_with_done(alice: Person) -> None:
    with alice.chat("say hello to you") as turn:
        done = turn.finish()
    assert [turn.seen[0]["type"], turn.seen[-1]["type"]] == ["run", "done"]
    assert set(turn.seen[0]) == {"type", "run_id", "thread_id", "_id"}
    assert turn.text == "hello to you"
    assert done["run_id"] == turn.seen[0]["run_id"]
    assert done["usage"] == {"input_tokens": 1, "output_tokens": 3}
    assert done["changes"] == []


def test_frames_carry_their_number_type_and_data(alice: Person) -> None:
    with alice.http.stream("POST", "/api/chat", json={"message": "say hi"}) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        body = response.read().decode()
    frames = [frame.split("\n") for frame in body.strip().split("\n\n")]
    assert [frame[0] for frame in frames] == [f"id: {n}" for n in range(1, len(frames) + 1)]
    for _, event, data in frames:
        assert data.startswith(f'data: {{"type":"{event.removeprefix("event: ")}"')


def test_a_thread_goes_on_and_remembers(alice: Person) -> None:
    with alice.chat("say one") as turn:
        turn.finish()
    thread_id = turn.seen[0]["thread_id"]
    with alice.chat("say two", thread_id=thread_id) as turn:
        turn.finish()
    assert turn.seen[0]["thread_id"] == thread_id
    said = [(m["role"], m["text"]) for m in alice.get(f"/api/threads/{thread_id}")["messages"]]
    assert said == [("user", "say one"), ("assistant", "one"), ("user", "say two"), ("assistant", "two")]


@pytest.mark.parametrize(
    "text",
    [
        "你好，世界",
        "emoji 👩‍👩‍👧‍👦 and 🇩🇪",
        "שלום עולם",
        "line\nbreak\r\nand data: x\n\nid: 9",
        "a\u2028b\u2029c\x85d\x0be\x1c",
    ],
)
def test_any_script_comes_back_as_it_was_said(alice: Person, text: str) -> None:
    with alice.chat(f"say {text}") as turn:
        turn.finish()
    assert turn.text == text


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"message": ""},
        {"message": "  \n\t "},
        {"message": "x" * 100_001},
        {"message": 7},
        {"message": None},
        {"message": ["a"]},
        {"message": "a\x00b"},
        {"message": "hi", "thread_id": 7},
        {"message": "hi", "context": "here"},
        {"message": "hi", "context": {"file_id": 7}},
        {"message": "hi", "context": {"user_id": "bob"}},
        {"message": "hi", "assistant_id": ""},
        {"message": "hi", "thread": "misspelt"},
        [],
        "hi",
    ],
)
def test_a_message_that_can_not_be_used_is_refused_with_a_reason(alice: Person, body: Any) -> None:
    response = alice.http.post("/api/chat", json=body)
    assert response.status_code == 422
    assert response.headers["content-type"] == PROBLEM
    problem = response.json()
    assert problem["code"] == "invalid_argument"
    assert problem["detail"]
    assert "x" * 200 not in response.text
    assert alice.get("/api/threads")["items"] == []


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"\xff\xfe", b'{"message": "\\ud800"}', b"[" * 100_000, b'{"message": NaN}']
)
def test_a_body_that_is_not_json_is_refused(alice: Person, raw: bytes) -> None:
    response = alice.http.post("/api/chat", content=raw, headers={"content-type": "application/json"})
    assert response.status_code in {400, 422}
    assert response.headers["content-type"] == PROBLEM
    assert alice.get("/healthz") == {"status": "ok"}


def test_the_longest_message_is_taken(alice: Person) -> None:
    message = "say " + "长" * 99_996
    with alice.chat(message) as turn:
        turn.finish()
    assert turn.text == message[4:]


@pytest.mark.parametrize("thread_id", ["nope", "../../etc", "00000000-0000-0000-0000-000000000000", "线程"])
def test_an_unknown_thread_is_not_found(alice: Person, thread_id: str) -> None:
    response = alice.http.post("/api/chat", json={"message": "say hi", "thread_id": thread_id})
    assert response.status_code == 404
    assert response.json()["code"] == "not_found"


def test_somebody_elses_thread_is_as_unknown_as_one_that_never_was(alice: Person, bob: Person) -> None:
    with alice.chat("say mine") as turn:
        turn.finish()
    answers = [
        bob.http.post("/api/chat", json={"message": "say hi", "thread_id": thread_id})
        for thread_id in (turn.seen[0]["thread_id"], "00000000-0000-0000-0000-000000000000")
    ]
    assert answers[0].status_code == answers[1].status_code == 404
    assert answers[0].json() == answers[1].json()


def test_a_place_that_the_person_can_not_see_is_not_found_before_anything_starts(alice: Person) -> None:
    response = alice.http.post("/api/chat", json={"message": "say hi", "context": {"file_id": "unknown"}})
    assert response.status_code == 404
    assert alice.get("/api/threads")["items"] == []


def test_a_busy_thread_says_which_run_is_at_work(service: RunningService, alice: Person) -> None:
    with alice.chat("slow one two") as turn:
        run = turn.until("run")
        response = alice.http.post("/api/chat", json={"message": "say hi", "thread_id": run["thread_id"]})
        assert response.status_code == 409
        assert response.json()["code"] == "thread_busy"
        assert response.json()["details"]["run_id"] == run["run_id"]
        service.parts.graph.gate.open()
        turn.finish()
    assert turn.text == "one two"


def test_of_two_first_messages_at_once_one_runs_and_the_other_is_refused(
    service: RunningService, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    with alice.chat("say a") as turn:
        thread_id = turn.until("run")["thread_id"]
        turn.finish()
    # Both look before either begins, as two processes on one PostgreSQL can: neither sees the other.
    monkeypatch.setattr("api.threads.refuse_if_busy", Mock())
    with alice.chat("slow b d", thread_id=thread_id) as first:
        run_id = first.until("run")["run_id"]
        second = alice.http.post("/api/chat", json={"message": "say c", "thread_id": thread_id})
        assert (second.status_code, second.json()["code"]) == (409, "thread_busy")
        assert second.json()["details"]["run_id"] == run_id
        service.parts.graph.gate.open()
        first.finish()


def test_a_message_that_met_a_run_that_has_just_ended_is_stored_on_another_try(
    service: RunningService, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    with alice.chat("say a") as turn:
        thread_id = turn.until("run")["thread_id"]
        turn.finish()
    monkeypatch.setattr("api.threads.refuse_if_busy", Mock())
    looks = iter([Mock(), refuse_if_busy])

    def look(*found: Any) -> None:
        next(looks)(*found)

    monkeypatch.setattr("api.runs.service.refuse_if_busy", look)
    with alice.chat("slow b d", thread_id=thread_id) as first:
        first.until("run")
        second = alice.http.post("/api/chat", json={"message": "say c", "thread_id": thread_id})
        assert (second.status_code, second.json()["code"]) == (409, "thread_busy")
        assert next(looks, None) is None
        service.parts.graph.gate.open()
        first.finish()


def test_a_message_never_answers_an_approval(service: RunningService, alice: Person) -> None:
    with alice.chat("share it") as turn:
        approval = turn.until("approval_needed")
        thread_id = turn.seen[0]["thread_id"]
        response = alice.http.post("/api/chat", json={"message": "approve, yes!", "thread_id": thread_id})
        assert response.status_code == 409
        assert response.json()["code"] == "approval_pending"
        assert response.json()["details"]["approval_id"] == approval["approval_id"]
        assert service.parts.drive.effects == []
        assert [a["approval_id"] for a in alice.get("/api/approvals")["items"]] == [approval["approval_id"]]


def test_a_closed_browser_cancels_nothing(service: RunningService, alice: Person) -> None:
    with alice.chat("slow one two three") as turn:
        run_id = turn.until("run")["run_id"]
        turn.until("content")
    service.parts.graph.gate.open()
    with alice.follow(run_id) as turn:
        turn.finish()
    assert turn.text == "one two three"


def test_a_quiet_stream_has_heartbeats(tmp_path: Path) -> None:
    service = RunningService(SmallService(tmp_path, heartbeat_seconds=0.05)).start()
    alice = service.person()
    beats = 0
    with alice.http.stream("POST", "/api/chat", json={"message": "slow one two"}) as response:
        for line in response.iter_lines():
            beats += line == ": heartbeat"
            if beats == 2:
                service.parts.graph.gate.open()
            assert "heartbeat" not in line or line.startswith(":")
    assert beats >= 2
    alice.close()
    service.stop()


def test_a_run_that_fails_ends_with_an_error_that_tells_no_secrets(alice: Person) -> None:
    with alice.chat("fail please") as turn:
        error = turn.until("error")
        assert rest_of(turn) == []
    assert {"code", "message", "retryable"} <= set(error)
    assert "/etc" not in str(turn.seen)
    run = alice.get(f"/api/runs/{turn.seen[0]['run_id']}")
    assert run["status"] == "error"
    with alice.chat("say again", thread_id=turn.seen[0]["thread_id"]) as turn:
        turn.finish()
    assert turn.text == "again"


@pytest.mark.parametrize(
    ("refused", "code", "words"),
    [(RuntimeError("/etc"), "internal", "助手内部出错"), (StorageFailureError("gone"), "storage_failure", "无法保存")],
    ids=["unexpected", "of the drive"],
)
def test_a_failure_is_said_in_the_language_of_the_message(
    service: RunningService, alice: Person, refused: Exception, code: str, words: str
) -> None:
    service.parts.drive.changes = AsyncMock(side_effect=refused)
    with alice.chat("share 请共享这个文件") as turn:
        alice.answer(turn.until("approval_needed"), "approve")
        error = turn.until("error")
    assert error["code"] == code
    assert words in error["message"]


def test_nobody_gets_in_without_a_key(service: RunningService) -> None:
    stranger = service.person("wrong-key")
    for method, path in (
        ("POST", "/api/chat"),
        ("GET", "/api/threads"),
        ("GET", "/api/approvals"),
        ("GET", "/api/runs/x"),
    ):
        response = stranger.http.request(method, path, json={"message": "say hi"} if method == "POST" else None)
        assert response.status_code == 401, path
        assert response.headers["content-type"] == PROBLEM
    stranger.close()
