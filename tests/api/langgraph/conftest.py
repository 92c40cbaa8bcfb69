from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from langgraph_sdk import get_sync_client

if TYPE_CHECKING:
    from collections.abc import Iterator

    from langgraph_sdk.client import SyncLangGraphClient

    from tests.e2e.person import Person


def client_of(person: Person) -> SyncLangGraphClient:
    """Return LangGraph's own client with the person's key, which it sends as `x-api-key`."""
    return get_sync_client(url=str(person.http.base_url), api_key=person.token)


@pytest.fixture
def client(owner: Person) -> Iterator[SyncLangGraphClient]:
    with client_of(owner) as connected:
        yield connected


@pytest.fixture
def stranger(owner: Person) -> Iterator[Any]:
    """The client of somebody else."""
    person = owner.add_new("stranger")
    with client_of(person) as connected:
        yield connected
    person.close()


@pytest.fixture
def reader(owner: Person) -> Iterator[Any]:
    """The client of a key of the owner that may only read."""
    person = owner.with_key("reads", "read")
    with client_of(person) as connected:
        yield connected
    person.close()
