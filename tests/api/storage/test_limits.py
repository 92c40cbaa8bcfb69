"""Limits of what a person may have hold also for requests at the same moment, on each kind of database."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from api.clock import SystemClock
from api.drive import Principal
from api.errors import TooManyError
from api.servers.secrets import Secrets
from api.servers.service import Servers
from api.storage.database import open_database
from graph.servers.pool import ServerPool
from graph.settings import AgentSettings


@pytest.fixture
async def servers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Servers]:
    where = f"sqlite+aiosqlite:///{tmp_path / 'api.db'}"
    if request.param == "postgresql":
        where = request.getfixturevalue("postgres").new_database().replace("://", "+psycopg://", 1)
    database = await open_database(where)
    secrets = Secrets([Fernet.generate_key().decode()])
    yield Servers(database, secrets, ServerPool(AgentSettings()), SystemClock(), 3)
    await database.dispose()


@pytest.mark.parametrize("servers", ["sqlite", "postgresql"], indirect=True)
async def test_many_servers_defined_at_once_are_no_more_than_a_person_may_have(servers: Servers) -> None:
    person = Principal(user_id="u1", email="a@example.com", scopes=frozenset(), method="token")

    made = await asyncio.gather(
        *(servers.create(person, {"name": f"s{n}", "base_url": "https://x.example/mcp"}) for n in range(12)),
        return_exceptions=True,
    )

    assert len(await servers.of(person)) == 3
    assert [type(one) for one in made].count(TooManyError) == 9
