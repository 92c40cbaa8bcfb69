from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.service import Service, running
from tests.fakes.openai_server import OpenAIServer, running_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.person import Person


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("e2e")) as service:
        yield service


@pytest.fixture
def alice(service: Service) -> Iterator[Person]:
    person = service.add_new("alice")
    yield person
    person.close()


@pytest.fixture(scope="session")
def bob(service: Service) -> Iterator[Person]:
    person = service.add_person("bob@example.com")
    yield person
    person.close()


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    """A model's service, for services that are set to use it."""
    with running_server() as server:
        yield server
