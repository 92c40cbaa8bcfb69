"""A person works behind a proxy that gives each request to the next of two services."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from tests.drive_server.hosts import Host
from tests.e2e.pair.proxy import Proxy
from tests.e2e.pair.services import Pair
from tests.e2e.pair.work import Errand

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.api.storage.postgres_server import PostgresServer

pytestmark = [pytest.mark.story, pytest.mark.timeout(300)]
ERRANDS = 3


@pytest.fixture
def pair(tmp_path: Path, server: PostgresServer) -> Iterator[Pair]:
    with Pair(tmp_path, server.new_database()) as pair:
        yield pair


async def test_chats_approvals_uploads_imports_and_hosts_work_behind_a_proxy_of_both_services(pair: Pair) -> None:
    proxy = Proxy(pair.urls)
    with proxy.running() as front:
        pair.front = front
        errands = [Errand(pair, number) for number in range(1, ERRANDS + 1)]
        with ThreadPoolExecutor(ERRANDS) as workers:
            for done in [workers.submit(errand.run) for errand in errands]:
                done.result()
        with pair.person() as person:
            for errand in errands:
                errand.check(person)
            headers = {"Authorization": f"Bearer {person.token}"}
        async with (
            httpx.AsyncClient(headers=headers, timeout=60) as client,
            streamable_http_client(f"{front}/mcp", http_client=client) as (reading, writing, _),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            made = await Host(session).call("create_folder", name="By a host")
            listed = await Host(session).call("list_folder", folder_id="root")
        assert made["name"] in [item["name"] for item in listed["items"]]
    assert abs(proxy.passed.count(0) - proxy.passed.count(1)) < len(proxy.passed) / 2
