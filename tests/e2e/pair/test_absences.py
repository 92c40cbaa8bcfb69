"""Something is away for a while, and comes back: a service, the database, the connection for notices."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.api.command_model import command
from tests.e2e.pair.services import Pair, pause
from tests.e2e.pair.work import Load
from tests.e2e.soaking import AT_NIGHT, SOAKS
from tests.e2e.stopped import WAIT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.api.storage.postgres_server import PostgresServer

pytestmark = [pytest.mark.story, pytest.mark.timeout(600)]

STOP_SECONDS: Final = max(12.0, float(os.environ.get("SOAK_STOP_SECONDS", "12")))
AWAY_SECONDS: Final = float(os.environ.get("SOAK_AWAY_SECONDS", "3"))
CUTS: Final = 8 if SOAKS else 3
HELD: Final = 3
RUNS: Final = 50 if SOAKS else 10
UNDER_WAY_SECONDS: Final = 2.0
CUT: Final = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND query LIKE 'LISTEN%%'"
)
WRITTEN: Final = (
    "SELECT * FROM runs WHERE id = ANY(%s) ORDER BY id",
    "SELECT * FROM run_events WHERE run_id = ANY(%s) ORDER BY run_id, seq",
    "SELECT thread_id, checkpoint_id FROM checkpoints "
    "WHERE thread_id IN (SELECT thread_id FROM runs WHERE id = ANY(%s)) ORDER BY 1, 2",
    "SELECT tool, run_id, idempotency_key FROM changes WHERE run_id = ANY(%s) ORDER BY id",
)


@pytest.fixture
def pair(tmp_path: Path, server: PostgresServer) -> Iterator[Pair]:
    with Pair(tmp_path, server.new_database()) as pair:
        yield pair


def waiting(name: str) -> str:
    """Return the message that has a folder made, once the gate is open."""
    return f"{command('create_folder', name=name)}\n{WAIT}"


def written(pair: Pair, run_ids: list[str]) -> list[Any]:
    """Return all that the runs have written."""
    return [pair.query(statement, run_ids) for statement in WRITTEN]


@AT_NIGHT
def test_who_stands_still_writes_nothing_of_the_runs_that_the_other_one_ended(pair: Pair) -> None:
    with Load(pair), ExitStack() as stack:
        here = stack.enter_context(pair.person(0))
        turns = [
            stack.enter_context(here.chat(f"{command('create_folder', name=f'Held {n}')}\n{WAIT}")) for n in range(3)
        ]
        held = [turn.until("run")["run_id"] for turn in turns]
        pair.send(0, signal.SIGSTOP)
        pair.open_gate()
        pause(STOP_SECONDS)
        with pair.person(1) as there:
            for run_id in held:
                with there.follow(run_id) as turn:
                    turn.until("done")
        ended = [row[0] for row in pair.query("SELECT id FROM runs WHERE finished_at IS NOT NULL")]
        assert {*held} <= {*ended}
        before = written(pair, ended)
        pair.send(0, signal.SIGCONT)
        for turn in turns:
            turn.until("done")
        assert written(pair, ended) == before
    assert written(pair, ended) == before


@pytest.mark.parametrize("seconds", [pytest.param(0.0, marks=AT_NIGHT), AWAY_SECONDS])
def test_a_database_that_is_away_costs_only_time(pair: Pair, server: PostgresServer, seconds: float) -> None:
    with Load(pair):
        pause(UNDER_WAY_SECONDS)
        server.stop()
        pause(seconds)
        server.start()


def test_cut_connections_for_notices_cost_only_time(pair: Pair) -> None:
    with Load(pair):
        for _ in range(CUTS):
            pause(UNDER_WAY_SECONDS / 2)
            pair.query(CUT)


def test_runs_survive_that_one_service_after_the_other_is_stopped_and_started(pair: Pair) -> None:
    run_ids: list[str] = []
    for number in range(RUNS):
        with pair.person() as person, person.chat(waiting(f"Run {number}")) as turn:
            run_ids.append(turn.until("run")["run_id"])
    for number in (0, 1):
        pair.stop(number)
        pair.start(number)
    pair.open_gate()
    for run_id in run_ids:
        with pair.person() as person, person.follow(run_id) as turn:
            assert len(turn.finish()["changes"]) == 1
    with pair.person() as person:
        assert sorted(person.names()) == sorted(f"Run {number}" for number in range(RUNS))
    assert pair.query("SELECT count(*) FROM runs WHERE starts - stops > 1") == [(0,)]
