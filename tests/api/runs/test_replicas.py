"""Several services of one PostgreSQL database share their runs: any of them serves each, one works on it."""

from __future__ import annotations

import signal
import threading
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from api import service as service_module
from api.metrics.counters import FENCE_REFUSALS, TAKE_OVERS
from api.runs import service as runs_service
from api.runs import sharing
from api.storage import replicas
from tests.api.killable import KillableService
from tests.api.serving import RunningService, SmallService
from tests.api.storage.postgres_server import PostgresServer, running_server
from tests.databases import async_url

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.e2e.person import Person

pytestmark = [pytest.mark.story, pytest.mark.timeout(120)]

NEVER = 3600.0
MOMENT = threading.Event()


@pytest.fixture(scope="module")
def server() -> Generator[PostgresServer]:
    with running_server() as server:
        yield server


class Shared:
    """Services of one database. What one does in the drive the others see too."""

    def __init__(self, data_dir: Path, url: str, stack: ExitStack) -> None:
        self._data_dir = data_dir
        self._url = url
        self._stack = stack

    def start(self, *, gate_open: bool = False) -> RunningService:
        """Start a service in this process."""
        parts = SmallService(self._data_dir, database=async_url(self._url))
        parts.gate_open = gate_open
        service = RunningService(parts).start()
        self._stack.callback(service.stop)
        self._stack.callback(self._open_gate, service)
        return service

    @staticmethod
    def _open_gate(service: RunningService) -> None:
        """Let what waits go on, so that the service ends soon; one that was stopped has nothing that waits."""
        if not service.should_exit:
            service.parts.graph.gate.open()

    def start_process(self) -> KillableService:
        """Start a service in a process of its own."""
        service = KillableService(self._data_dir, database=async_url(self._url))
        self._stack.callback(service.kill)
        return service

    def alice(self, service: RunningService | KillableService) -> Person:
        """Return Alice at a service."""
        return self._stack.enter_context(closing(service.person()))

    def execute(self, statement: str, *values: Any) -> list[Any]:
        """Run a statement past the services."""
        with psycopg.connect(self._url) as connection:
            done = connection.execute(statement.encode(), values or None)
            return done.fetchall() if done.description else []

    def effects(self) -> list[str]:
        """Return what was done in the drive."""
        return (self._data_dir / "effects.jsonl").read_text().splitlines()

    def take_over(self) -> None:
        """Take up all runs as another process does: first their rows, then the fences of their threads."""
        self.execute("UPDATE runs SET owner = 'another', starts = starts + 1")
        self.execute(
            "INSERT INTO thread_fences SELECT thread_id, number, starts FROM runs ON CONFLICT (thread_id) "
            "DO UPDATE SET number = excluded.number, starts = excluded.starts"
        )

    def written(self) -> list[Any]:
        """Return all that runs write."""
        queries = (
            "SELECT * FROM runs ORDER BY id",
            "SELECT * FROM run_events ORDER BY run_id, seq",
            "SELECT thread_id, checkpoint_id FROM checkpoints ORDER BY 1, 2",
            "SELECT checkpoint_id, task_id, idx FROM checkpoint_writes ORDER BY 1, 2, 3",
        )
        return [self.execute(query) for query in queries]


@pytest.fixture
def shared(tmp_path: Path, server: PostgresServer) -> Generator[Shared]:
    with ExitStack() as stack:
        yield Shared(tmp_path, server.new_database(), stack)


@pytest.fixture
def only_notices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is found by looking again: what one service does the other one has to be told."""
    monkeypatch.setattr(sharing, "HEARTBEAT_SECONDS", NEVER)


def counted(counter: Any) -> float:
    return counter.collect()[0].samples[0].value


def test_a_service_that_starts_leaves_the_runs_of_a_living_one(shared: Shared) -> None:
    first = shared.start()
    alice = shared.alice(first)
    with alice.chat("slow one two") as turn:
        turn.until("content")
        second = shared.start(gate_open=True)
        first.parts.graph.gate.open()
        turn.finish()
    assert turn.text == "one two"
    assert shared.execute("SELECT starts FROM runs") == [(1,)]
    with shared.alice(second).chat("say more", thread_id=turn.seen[0]["thread_id"]) as more:
        more.finish()


@pytest.mark.usefixtures("only_notices")
def test_a_run_is_followed_at_another_service_to_its_end(shared: Shared) -> None:
    first, second = shared.start(), shared.start()
    with shared.alice(first).chat("slow one two") as turn:
        run_id = turn.until("run")["run_id"]
        turn.until("content")
        with shared.alice(second).follow(run_id) as followed:
            followed.until("content")
            first.parts.graph.gate.open()
            followed.finish()
        turn.finish()
    assert followed.seen == turn.seen
    after = {"Last-Event-ID": turn.seen[-1]["_id"]}
    assert shared.alice(second).http.get(f"/api/runs/{run_id}/events", headers=after).status_code == 204


@pytest.mark.usefixtures("only_notices")
def test_who_follows_a_run_at_another_service_misses_nothing_when_its_connection_for_notices_is_cut(
    shared: Shared,
) -> None:
    first, second = shared.start(), shared.start()
    with shared.alice(first).chat("slow one two") as turn:
        run_id = turn.until("run")["run_id"]
        turn.until("content")
        with shared.alice(second).follow(run_id) as followed:
            followed.until("content")
            ended = shared.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND query LIKE 'LISTEN%'"
            )
            assert ended == [(True,), (True,)]
            first.parts.graph.gate.open()
            followed.finish()


@pytest.mark.usefixtures("only_notices")
def test_an_answer_given_at_another_service_goes_on_where_the_run_is_and_all_who_follow_see_it(shared: Shared) -> None:
    first, second = shared.start(), shared.start()
    there = shared.alice(second)
    with shared.alice(first).chat("share it") as turn:
        run_id = turn.until("run")["run_id"]
        approval = turn.until("approval_needed")
        with there.follow(run_id) as followed:
            followed.until("approval_needed")
            assert there.answer(approval, "approve").status_code == 200
            assert there.answer(approval, "approve").status_code == 409
            turn.finish()
            followed.finish()
    assert len(shared.effects()) == 1
    assert followed.seen == turn.seen
    assert shared.execute("SELECT starts FROM runs") == [(1,)]


@pytest.mark.usefixtures("only_notices")
@pytest.mark.parametrize(("message", "until"), [("slow one two", "content"), ("share it", "approval_needed")])
def test_a_run_is_cancelled_at_another_service(shared: Shared, message: str, until: str) -> None:
    first, second = shared.start(), shared.start()
    there = shared.alice(second)
    with shared.alice(first).chat(message) as turn:
        run_id = turn.until("run")["run_id"]
        turn.until(until)
        cancelled = there.http.post(f"/api/runs/{run_id}/cancel")
        assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
        assert turn.until("done")["status"] == "cancelled"
    with there.chat("say more", thread_id=turn.seen[0]["thread_id"]) as more:
        more.finish()
    assert shared.effects() == []


def test_the_runs_of_a_killed_service_are_taken_over(shared: Shared) -> None:
    # Seen dead at the latest, and the next look after that.
    assert replicas.DEAD_SECONDS + replicas.HEARTBEAT_SECONDS < 8
    killed, second = shared.start_process(), shared.start(gate_open=True)
    before = counted(TAKE_OVERS)
    here, there = shared.alice(killed), shared.alice(second)
    with here.chat("slow one two") as turn, here.chat("share it") as waiting:
        run_id = turn.until("run")["run_id"]
        turn.until("content")
        approval = waiting.until("approval_needed")
        with there.follow(run_id) as followed, there.follow(waiting.seen[0]["run_id"]) as asked:
            killed.kill()
            followed.finish()
            assert there.answer(approval, "approve").status_code == 200
            asked.finish()
    assert followed.text == "one two"
    assert [int(event["_id"]) for event in followed.seen] == [*range(1, len(followed.seen) + 1)]
    assert len(shared.effects()) == 1
    assert counted(TAKE_OVERS) == before + 2


@pytest.mark.usefixtures("only_notices")
def test_a_service_that_stops_hands_its_runs_over_and_that_is_no_crash(shared: Shared) -> None:
    first, second = shared.start(), shared.start(gate_open=True)
    before = counted(TAKE_OVERS), counted(FENCE_REFUSALS)
    with shared.alice(first).chat("slow one two") as turn:
        run_id = turn.until("run")["run_id"]
        turn.until("content")
        with shared.alice(second).follow(run_id) as followed:
            followed.until("content")
            first.stop()
            followed.finish()
    assert followed.text == "one two"
    assert shared.execute("SELECT starts - stops FROM runs") == [(1,)]
    assert (counted(TAKE_OVERS), counted(FENCE_REFUSALS)) == before


@pytest.mark.usefixtures("only_notices")
def test_a_service_that_stops_hands_its_runs_over_also_before_all_of_their_events_are_stored(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = shared.start(), shared.start(gate_open=True)
    monkeypatch.setattr(runs_service, "STOP_SECONDS", 0.0)
    with shared.alice(first).chat("slow one two") as turn:
        run_id = turn.until("run")["run_id"]
        turn.until("content")
        with shared.alice(second).follow(run_id) as followed:
            first.stop()
            followed.finish()
    assert followed.text == "one two"
    assert shared.execute("SELECT starts - stops FROM runs") == [(1,)]


def test_a_service_that_was_stopped_and_wakes_writes_nothing(shared: Shared) -> None:
    asleep, second = shared.start_process(), shared.start(gate_open=True)
    here = shared.alice(asleep)
    with here.chat("slow one two") as turn:
        run_id = turn.until("run")["run_id"]
        turn.until("content")
        with shared.alice(second).follow(run_id) as followed:
            asleep.send(signal.SIGSTOP)
            followed.finish()
        written = shared.written()
        asleep.send(signal.SIGUSR1)
        asleep.send(signal.SIGCONT)
        turn.finish()
    assert turn.seen == followed.seen
    asleep.send(signal.SIGTERM)
    asleep.wait()
    assert shared.written() == written


def test_who_has_a_run_no_longer_writes_nothing_of_it_and_that_is_counted(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def know_nothing(*_: Any) -> None:
        """Neither look nor hear: only the writes themselves are refused."""

    monkeypatch.setattr(service_module, "share_runs", know_nothing)
    service = shared.start()
    before = counted(FENCE_REFUSALS)
    with shared.alice(service).chat("slow one two") as turn:
        turn.until("content")
        shared.take_over()
        written = shared.written()
        service.parts.graph.gate.open()
        while service.parts.service.runs.active:
            MOMENT.wait(0.01)
        assert shared.written() == written
    assert counted(FENCE_REFUSALS) > before
