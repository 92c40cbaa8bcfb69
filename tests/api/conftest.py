from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.api.fakes import ManualClock
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
