"""The instructions of a single run, beside those of its assistant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.servers.assistants import PersonsChoices
from api.servers.secrets import Secrets
from api.storage.database import open_database
from api.storage.tables import RunRow
from graph.context import RunContext

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_run_has_its_instructions_while_it_is_at_work(tmp_path: Path) -> None:
    database = await open_database(f"sqlite+aiosqlite:///{tmp_path / 'api.db'}")
    choices = PersonsChoices(database, Secrets.of(tmp_path, ""))
    user = RunContext("alice", run_id="run-1")
    choices.begin(RunRow(id="run-1", instructions="Answer in verse."))
    assert (await choices.chosen(user)).instructions == "Answer in verse."
    assert (await choices.chosen(RunContext("alice", run_id="run-2"))).instructions == ""
    choices.end("run-1")
    assert (await choices.chosen(user)).instructions == ""
    await database.dispose()
