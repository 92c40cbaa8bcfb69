from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing

import pytest

from graph.model_factory import Clients
from tests.fakes.openai_server import OpenAIServer, running_server


@pytest.fixture(scope="session")
def running() -> Generator[OpenAIServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def server(running: OpenAIServer) -> OpenAIServer:
    """A server without a script."""
    running.forget()
    return running


@pytest.fixture
async def clients() -> AsyncGenerator[Clients]:
    async with aclosing(Clients()) as clients:
        yield clients
