from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from tests.api.cli.scripted_service import ScriptedService, running
from tests.e2e.service import Service

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.e2e.person import Person

_numbers = count(1)


@pytest.fixture
def scripted() -> Generator[ScriptedService]:
    with running(ScriptedService()) as service:
        yield service


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Generator[Service]:
    service = Service(tmp_path_factory.mktemp("cli") / "data")
    service.data_dir.mkdir()
    yield service.start()
    service.stop()


@pytest.fixture
def alice(service: Service) -> Generator[Person]:
    person = service.add_person(f"alice{next(_numbers)}@example.com")
    yield person
    person.close()
