from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from openai import OpenAI

from tests.api.command_model import CommandModel
from tests.api.real_service import RealService

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.e2e.person import Person


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealService]:
    """The whole service with a model that takes commands: see `command`."""
    service = RealService(tmp_path_factory.mktemp("openai"), CommandModel()).start()
    yield service
    service.stop()


@pytest.fixture
def owner(running: RealService) -> Iterator[Person]:
    person = running.owner()
    yield person
    person.close()


@pytest.fixture
def client_of(running: RealService) -> Iterator[Callable[[Person], OpenAI]]:
    """Make OpenAI's own client for a person's key."""
    made: list[OpenAI] = []

    def make(person: Person) -> OpenAI:
        client = OpenAI(base_url=f"{running.url}/v1", api_key=person.token, max_retries=0, timeout=30)
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()


@pytest.fixture
def client(owner: Person, client_of: Callable[[Person], OpenAI]) -> OpenAI:
    return client_of(owner)
