"""A run that waits for a person is a row: the service starts none of them, and each is there when it is wanted."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from tests.api.fakes import ManualClock
from tests.api.serving import RunningService, SmallService, execute

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.person import Event, Person

OTHERS = 10_000


@pytest.fixture
def parked(tmp_path: Path, clock: ManualClock) -> list[Event]:
    """The questions of three runs, asked by a service that has ended, among those of many others."""
    running = RunningService(SmallService(tmp_path, clock)).start()
    alice = running.person()
    asked: list[Event] = []
    for _ in range(3):
        with alice.chat("share it", mode="unattended") as turn:
            begun = turn.until("run")
            asked.append({**turn.until("approval_needed"), "run_id": begun["run_id"]})
    alice.close()
    running.stop()
    with sqlite3.connect(tmp_path / "api.db") as connection:
        for table in ("threads", "runs", "approvals"):
            columns = [str(name) for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
            made = {"id": "id || '-' || n", "run_id": "run_id || '-' || n", "thread_id": "thread_id || '-' || n"}
            values = ", ".join(made.get(name, name) for name in columns)
            connection.execute(
                f"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {OTHERS}) "  # noqa: S608 - names above
                f"INSERT INTO {table} SELECT {values} FROM (SELECT * FROM {table} LIMIT 1), c"
            )
    connection.close()
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

    execute(again.parts.data_dir, "DELETE FROM approvals WHERE id LIKE '%-%-%-%-%-%'")
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
