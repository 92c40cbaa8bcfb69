"""Stops that were asked for, ends that fail, and runs that somebody else has meanwhile."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from api.approvals.service import Approvals
from api.runs import execution
from api.storage import patience
from drive_server.kernel.errors import DatabaseAwayError, StorageFailureError
from drive_server.kernel.messages import Message
from tests.api.fakes import Gate, MemoryDrive
from tests.api.serving import RunningService, SmallService, execute, rest_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator
    from pathlib import Path

    from tests.e2e.person import Person


@contextmanager
def serving(data_dir: Path, *, gate_open: bool = False) -> Generator[tuple[RunningService, Person]]:
    parts = SmallService(data_dir)
    parts.gate_open = gate_open
    service = RunningService(parts).start()
    person = service.person()
    try:
        yield service, person
    finally:
        person.close()
        service.stop()


def begun(person: Person, message: str) -> str:
    """Begin a run that waits at the gate, and return its id."""
    with person.chat(message) as turn:
        turn.until("content")
    return turn.seen[0]["run_id"]


def end_of(person: Person, run_id: str) -> Any:
    with person.follow(run_id) as turn:
        return turn.until("done", "error")


def test_a_stop_that_was_asked_for_is_no_crash(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, alice):
        run_id = begun(alice, "slow one two")
        execute(tmp_path, "UPDATE runs SET starts = ?", execution.MAX_STARTS)
    for _ in range(2):
        with serving(tmp_path) as (_, alice):
            assert alice.get(f"/api/runs/{run_id}")["status"] == "running"
    assert execute(tmp_path, "SELECT starts - stops FROM runs") == [(execution.MAX_STARTS - 1,)]
    with serving(tmp_path, gate_open=True) as (_, alice):
        assert end_of(alice, run_id)["status"] == "success"


def test_what_fails_because_of_a_stop_is_not_the_end_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wait: Callable[[Gate], Awaitable[None]] = Gate.wait

    async def lost(gate: Gate) -> None:
        try:
            await wait(gate)
        except asyncio.CancelledError:
            raise RuntimeError("the connection was closed") from None

    with monkeypatch.context() as patched:
        patched.setattr(Gate, "wait", lost)
        with serving(tmp_path) as (_, alice):
            run_id = begun(alice, "slow one two")
    assert execute(tmp_path, "SELECT status FROM runs") == [("running",)]
    with serving(tmp_path, gate_open=True) as (_, alice):
        assert end_of(alice, run_id)["status"] == "success"


def test_an_end_that_fails_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = [StorageFailureError("the disk is full"), OSError("it is gone"), ValueError("a bug")]
    read = execution.read_open_calls

    async def unreliable(*given: Any) -> Any:
        if failures:
            raise failures.pop()
        return await read(*given)

    monkeypatch.setattr(execution, "read_open_calls", unreliable)
    monkeypatch.setattr(patience, "FIRST_PAUSE_SECONDS", 0.001)
    with serving(tmp_path) as (service, alice), alice.chat("slow one two") as turn:
        thread_id = turn.until("run")["thread_id"]
        turn.until("content")
        alice.http.post(f"/api/runs/{turn.seen[0]['run_id']}/cancel")
        assert turn.until("done")["status"] == "cancelled"
        service.parts.graph.gate.open()
        with alice.chat("say more", thread_id=thread_id) as more:
            more.finish()
    assert failures == []


@pytest.mark.parametrize("place", ["find", "closed"])
def test_a_run_whose_database_was_away_goes_on_from_what_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    away = [DatabaseAwayError("away"), DatabaseAwayError("away")]
    asks = getattr(Approvals, place)

    async def unreliable(approvals: Approvals, approval_id: str) -> Any:
        if away:
            raise away.pop()
        return await asks(approvals, approval_id)

    monkeypatch.setattr(Approvals, place, unreliable)
    monkeypatch.setattr(patience, "FIRST_PAUSE_SECONDS", 0.001)
    with serving(tmp_path, gate_open=True) as (_, alice), alice.chat("write and wait") as turn:
        alice.answer(turn.until("approval_needed"), "approve")
        done = turn.finish()
    assert (away, done["status"], [change["tool"] for change in done["changes"]]) == ([], "success", ["write_item"])
    assert len((tmp_path / "effects.jsonl").read_text().splitlines()) == 1
    assert [len(turn.of(kind)) for kind in ("approval_needed", "approval_resolved", "tool_call_end")] == [1, 1, 1]


def test_a_run_that_ended_well_waits_for_the_database_to_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = [DatabaseAwayError("away"), DatabaseAwayError("away")]
    read = MemoryDrive.changes

    async def unreliable(drive: MemoryDrive, user_id: str, run_id: str) -> Any:
        if away:
            raise away.pop()
        return await read(drive, user_id, run_id)

    monkeypatch.setattr(MemoryDrive, "changes", unreliable)
    monkeypatch.setattr(patience, "FIRST_PAUSE_SECONDS", 0.001)
    with serving(tmp_path, gate_open=True) as (_, alice), alice.chat("write and wait") as turn:
        alice.answer(turn.until("approval_needed"), "approve")
        done = turn.until("done", "error")
    assert (away, done["type"], [change["tool"] for change in done["changes"]]) == ([], "done", ["write_item"])


def test_a_run_whose_database_is_away_again_and_again_ends_with_an_error_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: Any) -> None:
        raise DatabaseAwayError(Message.of("database_away"))

    monkeypatch.setattr(Approvals, "find", away)
    monkeypatch.setattr(patience, "FIRST_PAUSE_SECONDS", 0.001)
    with serving(tmp_path, gate_open=True) as (_, alice), alice.chat("write and wait") as turn:
        error = turn.until("error")
    assert (error["code"], error["retryable"]) == ("database_away", True)


def test_a_cancellation_that_nobody_asked_for_ends_the_run_as_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cancelled(_: Gate) -> None:
        raise asyncio.CancelledError

    monkeypatch.setattr(Gate, "wait", cancelled)
    with serving(tmp_path) as (_, alice), alice.chat("slow one two") as turn:
        assert turn.until("done", "error")["type"] == "error"
        with alice.chat("say more", thread_id=turn.seen[0]["thread_id"]) as more:
            more.finish()


@pytest.mark.parametrize(
    "taken",
    [
        pytest.param("UPDATE runs SET finished_at = created_at, status = 'cancelled'", id="ended"),
        pytest.param(
            "UPDATE runs SET starts = starts + 1",
            id="taken up",
            marks=pytest.mark.sqlite("test_replicas.py has those that share their runs"),
        ),
    ],
)
def test_who_has_no_longer_a_run_gives_it_no_final_status(tmp_path: Path, taken: str) -> None:
    with serving(tmp_path) as (service, alice), alice.chat("slow one two") as turn:
        turn.until("content")
        execute(tmp_path, taken)
        before = execute(tmp_path, "SELECT * FROM runs")
        service.parts.graph.gate.open()
        assert "done" not in {event["type"] for event in rest_of(turn)}
        assert execute(tmp_path, "SELECT * FROM runs") == before


@pytest.mark.sqlite("test_replicas.py has those that share their runs")
def test_whose_events_are_somebody_else_s_now_writes_no_last_one(tmp_path: Path) -> None:
    with serving(tmp_path) as (service, alice), alice.chat("slow one two") as turn:
        run_id = turn.until("run")["run_id"]
        turn.until("content")
        for number in range(3, 8):
            text = '{"type": "content", "text": "theirs"}'
            execute(
                tmp_path,
                "INSERT INTO run_events VALUES (?, ?, 'content', ?) ON CONFLICT DO NOTHING",
                run_id,
                number,
                text,
            )
        before = execute(tmp_path, "SELECT * FROM run_events"), execute(tmp_path, "SELECT * FROM runs")
        service.parts.graph.gate.open()
        rest_of(turn)
        assert (execute(tmp_path, "SELECT * FROM run_events"), execute(tmp_path, "SELECT * FROM runs")) == before


def test_a_run_that_several_cancel_at_once_ends_once(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, alice), alice.chat("say a") as turn:
        run_id = turn.until("run")["run_id"]
        turn.finish()
        # As a run is that another process began and lost.
        execute(tmp_path, "DELETE FROM run_events WHERE type = 'done'")
        execute(tmp_path, "UPDATE runs SET status = 'running', finished_at = NULL")
        statuses: list[int] = []

        def cancel() -> None:
            statuses.append(alice.http.post(f"/api/runs/{run_id}/cancel").status_code)

        threads = [threading.Thread(target=cancel) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(statuses) <= {200, 409}
    assert execute(tmp_path, "SELECT count(*) FROM run_events WHERE type = 'done'") == [(1,)]
