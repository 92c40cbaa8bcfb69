"""Services of one database and one bucket get a new version one after the other, while people work at both."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

import pytest

from api.storage.database import SCHEMA as SERVICE
from drive_server.storage.tables.drive_schema import SCHEMA as DRIVE
from tests.api.command_model import command
from tests.api.storage.postgres_server import running_server
from tests.e2e.pair.services import pause
from tests.e2e.pair.versions import Brain, Versions, earlier_version
from tests.e2e.pair.work import Load
from tests.e2e.soaking import AT_NIGHT
from tests.e2e.stopped import WAIT
from tests.fakes.openai_server import running_server as running_model

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conformance.s3.ceph import Ceph

pytestmark = [AT_NIGHT, pytest.mark.story, pytest.mark.timeout(1800)]

UNDER_WAY_SECONDS: Final = 4.0
HELD: Final = 3
OF_A_RUN: Final = ("", "/changes", "/audit", "/context")
LISTS: Final = (
    *(f"/api/{name}" for name in ("threads", "runs", "approvals", "grants", "memories", "assistants", "notices")),
    *(f"/api/drive/{name}" for name in ("changes", "trash", "recent", "export")),
    *(f"/api/{name}" for name in ("users", "groups", "auth/keys", "auth/sessions")),
)


@pytest.fixture
def services(ceph: Ceph, tmp_path: Path) -> Iterator[Versions]:
    earlier = earlier_version(tmp_path / "earlier")
    bucket = f"s3://{ceph.new_bucket()}"
    with running_server() as server, running_model() as model:
        model.brain = Brain(tmp_path)
        with Versions(tmp_path, server.new_database(), bucket, model.url, earlier) as services:
            yield services


def begin(services: Versions, number: int, name: str) -> list[str]:
    """Begin runs at one of both that do nothing till the gate is open; return their ids."""
    run_ids: list[str] = []
    with services.person(number) as person, ExitStack() as stack:
        for n in range(HELD):
            message = f"{command('create_folder', name=f'{name} {n}')}\n{WAIT}"
            run_ids.append(stack.enter_context(person.chat(message)).until("run")["run_id"])
    return run_ids


def finish(services: Versions, number: int, run_ids: list[str]) -> None:
    """Assert that runs of one service end well at the other one, each with its change, and can be read there."""
    with services.person(number) as person:
        for run_id in run_ids:
            with person.follow(run_id) as turn:
                assert len(turn.finish()["changes"]) == 1
            for part in OF_A_RUN:
                person.get(f"/api/runs/{run_id}{part}")
        for path in LISTS:
            person.get(path)


def test_versions_side_by_side_lose_and_double_nothing(services: Versions) -> None:
    with Load(services):
        pause(UNDER_WAY_SECONDS)
        services.stop(0)
        services.become_new(0)
        assert services.schemas() == [DRIVE.newest_version(), SERVICE.newest_version()]
        with services.person(0) as person:
            key = person.with_key("of the new version", "read").token
        with services.person(1) as person:
            person.http.headers["Authorization"] = f"Bearer {key}"
            person.get("/api/drive/recent")
        of_new = begin(services, 0, "Of the new version")
        pause(UNDER_WAY_SECONDS)
        services.kill(0)
        services.open_gate()
        finish(services, 1, of_new)
        services.start(0)
        services.close_gate()
        of_earlier = begin(services, 1, "Of the earlier version")
        pause(UNDER_WAY_SECONDS)
        services.open_gate()
        services.stop(1)
        finish(services, 0, of_earlier)
        services.become_new(1)
        pause(UNDER_WAY_SECONDS)
    with services.person() as person:
        assert len([name for name in person.names() if name.startswith("Of the")]) == 2 * HELD
