from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.api.cli.scripted_service import ScriptedService
from tests.api.cli.scripted_service import running as running_script
from tests.e2e.service import Service, running

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.e2e.person import Person


@pytest.fixture
def scripted() -> Generator[ScriptedService]:
    with running_script(ScriptedService()) as service:
        yield service


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Generator[Service]:
    with running(tmp_path_factory.mktemp("cli")) as service:
        yield service


@pytest.fixture
def alice(service: Service) -> Generator[Person]:
    person = service.add_new("alice")
    yield person
    person.close()
