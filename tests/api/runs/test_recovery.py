"""The service is killed, or stopped, at every awkward moment; what was begun is brought to its end, once."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.killable import KillableService
from tests.api.serving import RunningService, SmallService, execute, forget_checkpoints, rest_of

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.api.fakes import ManualClock
    from tests.e2e.person import Event, Person

pytestmark = pytest.mark.story


@contextmanager
def serving(data_dir: Path, **options: Any) -> Generator[tuple[KillableService, Person]]:
    service = KillableService(data_dir, **options)
    person = service.person()
    try:
        yield service, person
    finally:
        person.close()
        service.kill()


def effects(data_dir: Path) -> list[str]:
    return (data_dir / "effects.jsonl").read_text().splitlines()


def numbers(events: list[Event]) -> list[int]:
    return [int(event["_id"]) for event in events]


def test_an_approval_that_waited_when_the_service_was_killed_is_answered_afterwards(tmp_path: Path) -> None:
    with serving(tmp_path) as (service, alice), alice.chat("share it") as turn:
        run_id = turn.until("run")["run_id"]
        approval = turn.until("approval_needed")
        service.kill()
    with serving(tmp_path) as (_, alice):
        assert [a["approval_id"] for a in alice.get("/api/approvals")["items"]] == [approval["approval_id"]]
        assert alice.answer(approval, "approve").status_code == 200
        with alice.follow(run_id) as turn:
            done = turn.finish()
        assert alice.answer(approval, "approve").status_code == 409
    assert len(effects(tmp_path)) == len(done["changes"]) == 1
    assert len(turn.of("approval_needed")) == 1
    assert numbers(turn.seen) == list(range(1, len(turn.seen) + 1))


def test_an_answer_that_was_cut_off_is_finished_without_saying_anything_twice(tmp_path: Path) -> None:
    with serving(tmp_path) as (service, alice), alice.chat("slow one two three") as turn:
        run_id = turn.until("run")["run_id"]
        turn.until("content")
        service.kill()
    with serving(tmp_path, gate_open=True) as (_, alice), alice.follow(run_id, after=turn.seen[-1]["_id"]) as rest:
        rest.finish()
    assert turn.text + rest.text == "one two three"
    assert numbers(turn.seen + rest.seen) == list(range(1, len(turn.seen + rest.seen) + 1))


def test_a_call_that_was_made_when_the_service_was_killed_is_not_made_again(tmp_path: Path) -> None:
    with serving(tmp_path) as (service, alice), alice.chat("write and wait") as turn:
        run_id = turn.until("run")["run_id"]
        alice.answer(turn.until("approval_needed"), "approve")
        turn.until("tool_call_end")
        service.kill()
    assert len(effects(tmp_path)) == 1
    with serving(tmp_path, gate_open=True) as (_, alice), alice.follow(run_id) as turn:
        done = turn.finish()
    assert len(effects(tmp_path)) == 1
    assert [change["tool"] for change in done["changes"]] == ["write_item"]


def test_a_decision_that_the_run_had_not_heard_yet_holds(tmp_path: Path) -> None:
    with serving(tmp_path) as (service, alice), alice.chat("share it") as turn:
        run_id = turn.until("run")["run_id"]
        approval = turn.until("approval_needed")
        service.kill()
    decision = f'[{{"tool_call_id": "{approval["actions"][0]["tool_call_id"]}", "type": "approve"}}]'
    execute(tmp_path, "UPDATE approvals SET status = 'decided', decisions = ?, decided_at = created_at", decision)
    execute(tmp_path, "UPDATE runs SET status = 'running'")
    with serving(tmp_path) as (_, alice), alice.follow(run_id) as turn:
        turn.finish()
    assert len(effects(tmp_path)) == 1


def test_an_approval_that_expired_while_nothing_ran_is_rejected(tmp_path: Path) -> None:
    with serving(tmp_path) as (service, alice), alice.chat("share it") as turn:
        run_id = turn.until("run")["run_id"]
        approval = turn.until("approval_needed")
        service.kill()
    execute(tmp_path, "UPDATE approvals SET expires_at = '2020-01-01 00:00:00.000000'")
    with serving(tmp_path) as (_, alice), alice.follow(run_id) as turn:
        turn.finish()
        assert alice.answer(approval, "approve").json()["code"] == "approval_expired"
    assert effects(tmp_path) == []


@pytest.fixture
def stopped(tmp_path: Path, clock: ManualClock) -> tuple[SmallService, str]:
    """A service that was stopped after it accepted a message, before the graph had seen it."""
    running = RunningService(SmallService(tmp_path, clock)).start()
    alice = running.person()
    with alice.chat("say hello again") as turn:
        turn.finish()
    alice.close()
    running.stop()
    run_id = turn.seen[0]["run_id"]
    execute(tmp_path, "DELETE FROM run_events WHERE seq > 1")
    execute(tmp_path, "UPDATE runs SET status = 'running', finished_at = NULL")
    forget_checkpoints(tmp_path)
    return SmallService(tmp_path, clock), run_id


def finished_events(parts: SmallService, run_id: str) -> Any:
    running = RunningService(parts).start()
    alice = running.person()
    with alice.follow(run_id) as turn:
        turn.until("done", "error")
    alice.close()
    running.stop()
    return turn


def test_an_accepted_message_is_answered_though_the_graph_had_not_begun(stopped: tuple[SmallService, str]) -> None:
    turn = finished_events(*stopped)
    assert turn.text == "hello again"
    assert turn.seen[-1]["status"] == "success"


def test_a_call_that_the_model_did_not_want_again_is_not_left_open(
    stopped: tuple[SmallService, str], tmp_path: Path
) -> None:
    start = '{"type": "tool_call_start", "tool_call_id": "lost", "name": "read_item", "args": {}}'
    execute(tmp_path, "INSERT INTO run_events VALUES (?, 2, 'tool_call_start', ?)", stopped[1], start)
    turn = finished_events(*stopped)
    (ended,) = turn.of("tool_call_end")
    assert (ended["tool_call_id"], ended["status"]) == ("lost", "cancelled")
    assert turn.text == "hello again"
    assert turn.seen[-1]["status"] == "success"


def test_a_cancel_that_was_asked_for_holds_after_a_restart(stopped: tuple[SmallService, str], tmp_path: Path) -> None:
    execute(tmp_path, "UPDATE runs SET cancel_requested = true")
    turn = finished_events(*stopped)
    assert turn.text == ""
    assert turn.seen[-1]["status"] == "cancelled"


def test_a_run_that_takes_the_service_down_every_time_is_given_up(
    stopped: tuple[SmallService, str], tmp_path: Path
) -> None:
    execute(tmp_path, "UPDATE runs SET starts = 5, message = '请总结这些文件'")
    turn = finished_events(*stopped)
    assert (turn.seen[-1]["type"], turn.seen[-1]["code"]) == ("error", "crashed")
    assert "服务多次意外停止" in turn.seen[-1]["message"]


@pytest.mark.sqlite("looks into the files of the databases")
def test_a_deletion_that_was_interrupted_is_finished(tmp_path: Path, clock: ManualClock) -> None:
    running = RunningService(SmallService(tmp_path, clock)).start()
    alice = running.person()
    with alice.chat("say secret") as turn:
        turn.finish()
    alice.close()
    running.stop()
    execute(tmp_path, "UPDATE threads SET deleted_at = '2026-01-01 00:00:00.000000'")
    RunningService(SmallService(tmp_path, clock)).start().stop()
    for name, table in (("api.db", "run_events"), ("api.db", "threads"), ("graph.db", "checkpoints")):
        with sqlite3.connect(tmp_path / name) as connection:
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)  # noqa: S608 - names above
        connection.close()
    assert turn.text == "secret"


def test_stopping_the_service_ends_streams_at_once_and_keeps_what_runs_and_waits(
    tmp_path: Path, clock: ManualClock
) -> None:
    running = RunningService(SmallService(tmp_path, clock)).start()
    alice = running.person()
    with alice.chat("share it") as waiting, alice.chat("slow one two") as working:
        approval = waiting.until("approval_needed")
        working.until("content")
        running.stop()
        assert rest_of(waiting) == rest_of(working) == []
    alice.close()
    parts = SmallService(tmp_path, clock)
    parts.gate_open = True
    running = RunningService(parts).start()
    alice = running.person()
    with alice.follow(working.seen[0]["run_id"], after=working.seen[-1]["_id"]) as rest:
        rest.finish()
    assert working.text + rest.text == "one two"
    assert alice.answer(approval, "approve").status_code == 200
    with alice.follow(waiting.seen[0]["run_id"]) as turn:
        turn.finish()
    assert len(effects(tmp_path)) == 1
    alice.close()
    running.stop()
