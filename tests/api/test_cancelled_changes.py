"""A cancel that was answered is true: what is under way is finished and reported, what comes later is refused."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from api.runs import service as runs
from drive_server.kernel.errors import DriveError
from drive_server.services.journal import service as journal
from tests.api.command_model import command
from tests.api.fakes import Gate
from tests.databases import IS_POSTGRES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.person import Person


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open()


def test_a_change_under_way_is_finished_and_reported(
    owner: Person, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse = journal.refuse_if_revoked

    async def gated(*arguments: Any) -> None:
        await refuse(*arguments)
        # SQLite runs a change in a thread without a loop; PostgreSQL runs it in the loop, which no test may block.
        if IS_POSTGRES:
            await gate.wait()
        else:
            gate.wait_in_thread()

    monkeypatch.setattr(journal, "refuse_if_revoked", gated)
    monkeypatch.setattr(runs, "CANCEL_SECONDS", 0.05)
    with owner.chat(command("create_folder", name="Under way")) as turn:
        run_id = turn.until("run")["run_id"]
        assert gate.reached.wait(20)
        assert owner.http.post(f"/api/runs/{run_id}/cancel").status_code == 202
        gate.open()
        done = turn.until("done")
    assert done["status"] == "cancelled"
    assert [change["tool"] for change in done["changes"]] == ["create_folder"]
    assert "Under way" in owner.names()


def test_a_change_that_comes_after_the_cancel_is_refused(
    owner: Person, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, ended = journal.Journal.change, threading.Event()
    refusals: list[str] = []

    async def late(*arguments: Any) -> Any:
        await gate.wait()
        try:
            return await change(*arguments)
        except DriveError as error:
            refusals.append(error.code)
            raise
        finally:
            ended.set()

    monkeypatch.setattr(journal.Journal, "change", late)
    with owner.chat(command("create_folder", name="Late")) as turn:
        run = turn.until("run")
        assert gate.reached.wait(20)
        assert owner.http.post(f"/api/runs/{run['run_id']}/cancel").status_code == 200
        done = turn.until("done")
    assert (done["status"], done["changes"]) == ("cancelled", [])
    with owner.chat("hello", thread_id=run["thread_id"]) as turn:
        turn.finish()
    gate.open()
    assert ended.wait(20)
    assert refusals == ["cancelled"]
    assert "Late" not in owner.names()
