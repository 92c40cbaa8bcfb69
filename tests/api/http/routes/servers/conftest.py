"""A running service for people with servers of their own; only the model is made up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graph.settings import AgentSettings
from tests.api.command_model import CommandModel
from tests.api.http.routes.servers.defining import DYING
from tests.api.real_service import RealService
from tests.fakes.small_mcp import program, small_server
from tests.graph.servers.real import EVERYTHING, allowed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.person import Person
    from tests.fakes.small_mcp import SmallServer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory; beside it the folder of the small server."""
    return tmp_path_factory.mktemp("servers")


@pytest.fixture
def small(folder: Path, running: RealService) -> list[str]:
    """The command of the small server, with one tool."""
    del running
    return program(folder / "small")


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[RealService]:
    (folder / "small").mkdir()
    agent = AgentSettings(
        model="offline",
        stdio_commands=allowed(EVERYTHING, ["TICKETS_TOKEN=", *program(folder / "small")], ["TOKEN=", *DYING, "*"]),
        mcp_private_hosts="127.0.0.1",
        mcp_servers_per_person=6,
    )
    service = RealService(folder / "data", CommandModel(), agent=agent).start()
    yield service
    service.stop()


@pytest.fixture
def person(running: RealService) -> Iterator[Person]:
    """Somebody new, who has no server yet."""
    owner = running.owner()
    added = owner.add_new("ann")
    owner.close()
    yield added
    added.close()


@pytest.fixture
def remote() -> Iterator[SmallServer]:
    with small_server() as server:
        yield server
