"""Two whole services of one PostgreSQL database: plans steered at the other one, and the drive without its zombies."""

from __future__ import annotations

import threading
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from api import service as service_module
from api.runs import sharing
from graph.settings import AgentSettings
from tests.api.fakes import Gate
from tests.api.plan_model import PlanModel, folder, plan_message
from tests.api.real_service import RealService
from tests.api.storage.postgres_server import PostgresServer, running_server
from tests.databases import async_url

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.e2e.person import Person

pytestmark = [pytest.mark.story, pytest.mark.timeout(180)]

MOMENT = threading.Event()
TWO = plan_message({"instruction": folder("One", wait=True)}, {"instruction": folder("Two")})


@pytest.fixture(scope="module")
def server() -> Generator[PostgresServer]:
    with running_server() as server:
        yield server


class Services:
    """Services of one database and one folder of contents, and their owner at each."""

    def __init__(self, root: Path, url: str, stack: ExitStack) -> None:
        self.url = url
        self.gate = Gate()
        self._root = root
        self._stack = stack
        self._token = ""

    def start(self, name: str) -> tuple[RealService, Person]:
        """Start one; the first to start makes the owner."""
        settings: Any = {"database_url": async_url(self.url), "blob_url": (self._root / "blobs").as_uri()}
        data_dir = self._root / name
        data_dir.mkdir()
        if self._token:
            (data_dir / "token").write_text(self._token)
        model = PlanModel(gate=self.gate)
        service = RealService(data_dir, model, agent=AgentSettings(model="offline"), **settings).start()
        self._token = (data_dir / "token").read_text()
        self._stack.callback(service.stop)
        self._stack.callback(self.gate.open)
        return service, self._stack.enter_context(closing(service.owner()))


@pytest.fixture
def services(tmp_path: Path, server: PostgresServer) -> Generator[Services]:
    with ExitStack() as stack:
        yield Services(tmp_path, server.new_database(), stack)


def test_a_plan_is_paused_and_resumed_at_another_service(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing is found by looking again: the other one has to be told.
    monkeypatch.setattr(sharing, "HEARTBEAT_SECONDS", 3600.0)
    (_, here), (_, there) = services.start("first"), services.start("second")
    with here.chat(TWO) as turn:
        path = f"/api/threads/{turn.until('run')['thread_id']}/plan"
        assert services.gate.reached.wait(30)
        assert there.http.post(f"{path}/pause").status_code == 200
        services.gate.open()
        turn.until("plan_paused")
        assert there.names() == ["One"]
        assert there.http.post(f"{path}/resume").status_code == 200
        turn.finish()
    assert here.names() == there.names() == ["One", "Two"]


def test_a_call_of_a_run_that_another_process_has_changes_nothing_in_the_drive(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def know_nothing(*_: Any) -> None:
        """Neither look nor hear: only the call itself is refused."""

    monkeypatch.setattr(service_module, "share_runs", know_nothing)
    service, owner = services.start("only")
    with owner.chat(TWO) as turn:
        turn.until("task_step_update")
        assert services.gate.reached.wait(30)
        with psycopg.connect(services.url) as connection:
            connection.execute("UPDATE runs SET owner = 'another', starts = starts + 1")
        services.gate.open()
        app: Any = service.config.app
        while app.state.service.runs.active:
            MOMENT.wait(0.01)
    assert owner.names() == []
