from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from openai import OpenAI

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.api.real_service import RealService
    from tests.e2e.person import Person


@pytest.fixture(scope="module")
def command_clock() -> None:
    """Let time pass: conversations are told apart by when they were."""


@pytest.fixture
def client_of(commanded: RealService) -> Iterator[Callable[[Person], OpenAI]]:
    """Make OpenAI's own client for a person's key."""
    made: list[OpenAI] = []

    def make(person: Person) -> OpenAI:
        client = OpenAI(base_url=f"{commanded.url}/v1", api_key=person.token, max_retries=0, timeout=30)
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()


@pytest.fixture
def client(owner: Person, client_of: Callable[[Person], OpenAI]) -> OpenAI:
    return client_of(owner)
