from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from mcp.client.session import SamplingFnT

from graph.servers.pool import ServerPool
from graph.settings import AgentSettings
from tests.fakes.clock import SettableClock

PoolMaker = Callable[..., ServerPool]


@pytest.fixture
async def make_pool(tmp_path: Path, clock: SettableClock) -> AsyncGenerator[PoolMaker]:
    """Return a maker of pools that may reach this machine, which closes them in the end."""
    async with AsyncExitStack() as stack:

        def make(*, sampling: SamplingFnT | None = None, **settings: Any) -> ServerPool:
            chosen = AgentSettings(mcp_private_hosts="127.0.0.1").model_copy(update=settings)
            pool = ServerPool(chosen, folder=tmp_path / "servers", clock=clock, sampling=sampling)
            stack.push_async_callback(pool.aclose)
            return pool

        yield make
