"""A run that waits for a person is a row: the service starts none of them, and each is there when it is wanted."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from api.approvals.service import Approvals
from api.runs import execution
from api.runs import service as runs_service
from api.runs.service import Runs
from api.storage import patience
from api.storage.tables import ApprovalRow, RunRow, ThreadRow, table_of
from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.sql.database import Database
from tests.api.fakes import Gate, ManualClock
from tests.api.serving import RunningService, SmallService, execute

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator
    from pathlib import Path

    from sqlalchemy.ext.asyncio import AsyncSession

    from tests.e2e.person import Event, Person

OTHERS = 10_000
COPIED = {"id", "run_id", "thread_id"}
COPY = "x"
"""No id of another row begins so, and with a number behind it they are no longer than those."""


@pytest.fixture
def parked(tmp_path: Path, clock: ManualClock) -> list[Event]:
    """The questions of three runs, asked by a service that has ended, among those of many others."""
    running = RunningService(SmallService(tmp_path, clock)).start()
    alice = running.person()
    asked: list[Event] = []
    for _ in range(3):
        with alice.chat("share it", mode="unattended") as turn:
            begun = turn.until("run")
            asked.append({**turn.until("approval_needed"), "run_id": begun["run_id"], "thread_id": begun["thread_id"]})
    alice.close()
    running.stop()
    for row, which in ((ThreadRow, "id"), (RunRow, "thread_id"), (ApprovalRow, "thread_id")):
        table = table_of(row)
        columns = [column.name for column in table.columns]
        values = ", ".join(f"'{COPY}' || n || substr({c}, 7)" if c in COPIED else c for c in columns)
        execute(
            tmp_path,
            f"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {OTHERS}) "  # noqa: S608 - names of tables
            f"INSERT INTO {table.name} ({', '.join(columns)}) "
            f"SELECT {values} FROM (SELECT * FROM {table.name} WHERE {which} = ?) AS one, c",
            asked[0]["thread_id"],
        )
    return asked


@pytest.fixture
def later() -> ManualClock:
    return ManualClock()


@pytest.fixture
def again(parked: list[Event], tmp_path: Path, later: ManualClock) -> Iterator[RunningService]:
    assert parked
    running = RunningService(SmallService(tmp_path, later)).start()
    yield running
    running.stop()


def test_parked_runs_start_nothing_and_are_answered_cancelled_or_expire(
    again: RunningService, parked: list[Event], later: ManualClock
) -> None:
    runs, drive = again.parts.service.runs, again.parts.drive
    assert runs.active == 0
    alice: Person = again.person()
    approved, cancelled, forgotten = parked

    with alice.follow(approved["run_id"]) as turn:
        turn.until("approval_needed")
        assert alice.answer(approved, "approve").status_code == 200
        assert turn.finish()["changes"]
    assert alice.http.post(f"/api/runs/{cancelled['run_id']}/cancel").status_code == 200
    assert alice.get(f"/api/runs/{cancelled['run_id']}")["status"] == "cancelled"
    assert runs.active == 0

    execute(again.parts.data_dir, "DELETE FROM approvals WHERE id LIKE ?", f"{COPY}%")
    later.advance(7 * 86_400)
    with alice.follow(forgotten["run_id"]) as turn:
        turn.finish()
    assert [effect["run_id"] for effect in drive.effects] == [approved["run_id"]]
    alice.close()


def test_a_run_that_asks_is_a_row_from_then_on_and_goes_on_where_it_was(service: RunningService, alice: Person) -> None:
    runs = service.parts.service.runs
    with alice.chat("share it") as turn:
        asked = turn.until("approval_needed")
        while runs.active:
            alice.get("/api/approvals")
        assert alice.answer(asked, "approve").status_code == 200
        done = turn.finish()
    assert done["status"] == "success"
    assert len(done["changes"]) == 1


def test_a_run_that_is_cancelled_while_it_waits_begins_nothing(service: RunningService, alice: Person) -> None:
    with alice.chat("share it") as turn:
        begun = turn.until("run")
        turn.until("approval_needed")
        while service.parts.service.runs.active:
            alice.get("/api/approvals")
        assert alice.http.post(f"/api/runs/{begun['run_id']}/cancel").status_code == 200
        assert turn.until("done")["status"] == "cancelled"
    assert service.parts.drive.effects == []


def test_a_cancel_reaches_a_run_that_parks_at_this_moment(
    service: RunningService, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, closed, get = Gate(), Approvals.closed, Runs.get

    async def late(approvals: Approvals, approval_id: str) -> Any:
        found = await closed(approvals, approval_id)
        await gate.wait()
        return found

    async def parked_meanwhile(runs: Runs, *who: Any) -> Any:
        run = await get(runs, *who)
        (task,) = (one for one in asyncio.all_tasks() if one.get_name() == f"run {run.id}")
        gate.open()
        monkeypatch.undo()
        for _ in iter(task.done, True):
            await asyncio.sleep(0)
        return run

    monkeypatch.setattr(Approvals, "closed", late)
    with alice.chat("share it") as turn:
        begun = turn.until("run")
        turn.until("approval_needed")
        assert gate.reached.wait(20)
        monkeypatch.setattr(Runs, "get", parked_meanwhile)
        assert alice.http.post(f"/api/runs/{begun['run_id']}/cancel").status_code == 200
        assert turn.until("done")["status"] == "cancelled"
    assert service.parts.drive.effects == []


def test_a_decision_that_comes_after_a_cancel_is_refused(
    service: RunningService, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, read = Gate(), execution.read_open_calls

    async def late(*given: Any) -> Any:
        await gate.wait()
        return await read(*given)

    monkeypatch.setattr(execution, "read_open_calls", late)
    monkeypatch.setattr(runs_service, "CANCEL_SECONDS", 0.05)
    with alice.chat("share it") as turn:
        begun = turn.until("run")
        asked = turn.until("approval_needed")
        assert alice.http.post(f"/api/runs/{begun['run_id']}/cancel").status_code == 202
        refused = alice.answer(asked, "approve")
        gate.open()
        assert turn.until("done")["status"] == "cancelled"
    assert (refused.status_code, refused.json()["code"]) == (409, "approval_cancelled")
    assert service.parts.drive.effects == []


def test_a_decided_run_goes_on_although_the_database_fails_at_first(
    service: RunningService, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures, read = [StorageFailureError("the disk is gone")] * 2, Database.read

    @asynccontextmanager
    async def unreliable(database: Database) -> AsyncGenerator[AsyncSession]:
        task = asyncio.current_task()
        if failures and task and task.get_name().startswith("wake"):
            raise failures.pop()
        async with read(database) as session:
            yield session

    monkeypatch.setattr(Database, "read", unreliable)
    monkeypatch.setattr(patience, "FIRST_PAUSE_SECONDS", 0.001)
    with alice.chat("share it") as turn:
        asked = turn.until("approval_needed")
        while service.parts.service.runs.active:
            alice.get("/api/approvals")
        assert alice.answer(asked, "approve").status_code == 200
        turn.finish()
    assert failures == []
    assert len(service.parts.drive.effects) == 1


def test_a_call_that_failed_before_the_question_changes_nothing_after_the_end(
    tmp_path: Path, parked: list[Event], later: ManualClock
) -> None:
    asked, run_id = parked[0], parked[0]["run_id"]
    failed = json.dumps({"type": "tool_call_end", "tool_call_id": "x", "name": "x", "status": "error", "result": ""})
    insert = (
        "INSERT INTO run_events SELECT run_id, max(seq) + 1, 'tool_call_end', ? FROM run_events "
        "WHERE run_id = ? GROUP BY run_id"
    )
    execute(tmp_path, insert, failed, run_id)
    running = RunningService(SmallService(tmp_path, later)).start()
    alice = running.person()
    with alice.follow(run_id) as turn:
        assert alice.answer(asked, "approve").status_code == 200
        turn.finish()
    alice.close()
    running.stop()
    assert running.parts.drive.revoked == {run_id}
