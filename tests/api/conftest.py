from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.api.command_model import CommandModel
from tests.api.fakes import ManualClock
from tests.api.real_service import RealService, World
from tests.api.serving import RunningService, SmallService

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.person import Person


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def service(tmp_path: Path, clock: ManualClock) -> Iterator[RunningService]:
    running = RunningService(SmallService(tmp_path, clock)).start()
    yield running
    running.parts.graph.gate.open()
    running.stop()


@pytest.fixture
def alice(service: RunningService) -> Iterator[Person]:
    person = service.person("alice-key")
    yield person
    person.close()


@pytest.fixture
def bob(service: RunningService) -> Iterator[Person]:
    person = service.person("bob-key")
    yield person
    person.close()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world = World(tmp_path_factory.mktemp("world"))
    yield world
    world.stop()


@pytest.fixture(scope="module")
def manual_clock() -> ManualClock:
    """The clock of `commanded`, if no other is put in its place."""
    return ManualClock()


@pytest.fixture(scope="module")
def command_clock(manual_clock: ManualClock) -> ManualClock | None:
    """The clock of `commanded`, None for the machine's. A module may put another one here."""
    return manual_clock


@pytest.fixture(scope="module")
def command_model() -> CommandModel:
    """The model of `commanded`, which takes commands: see `command`. A module may put another one here."""
    return CommandModel()


@pytest.fixture(scope="module")
def commanded(
    tmp_path_factory: pytest.TempPathFactory, command_clock: ManualClock | None, command_model: CommandModel
) -> Iterator[RealService]:
    """The real service with `command_model`."""
    data_dir = tmp_path_factory.mktemp("commanded")
    service = RealService(data_dir, command_model, clock=command_clock, max_request_bytes=1_000_000).start()
    yield service
    service.stop()


@pytest.fixture
def owner(commanded: RealService) -> Iterator[Person]:
    person = commanded.owner()
    yield person
    person.close()
