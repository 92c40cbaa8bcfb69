"""The thread calls, statements and transactions of ten operations, which do not depend on the machine."""

from __future__ import annotations

from operator import gt
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.storage.postgres_server import PostgresServer, running_server
from tests.drive_server.costs import counting
from tests.drive_server.http.service import running

if TYPE_CHECKING:
    from collections.abc import Generator

    import httpx

    from drive_server.kernel.settings import DriveSettings

CONTENT = b"x" * 10_000
MOST = {
    "upload": (3, 14, 2),
    "upload over WebDAV": (4, 24, 2),
    "an item": (1, 6, 1),
    "a folder of 100": (1, 6, 1),
    "download": (2, 6, 1),
    "make a folder": (2, 8, 2),
    "rename": (3, 13, 3),
    "move to the trash": (3, 12, 3),
    "search by name": (3, 9, 3),
    "a folder of 100 over WebDAV": (4, 10, 3),
}
"""Thread calls, statements, transactions: what a request reads is one transaction, and what it changes is another.

With PostgreSQL no thread is called: there each statement is a round trip, and a change takes the turn of its drive.
"""
CHANGES = {"upload", "upload over WebDAV", "make a folder", "rename", "move to the trash"}

REQUESTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "upload": ("POST", "/api/drive/files?name=b.bin", {"content": CONTENT}),
    "upload over WebDAV": ("PUT", "/dav/c.bin", {"content": CONTENT}),
    "an item": ("GET", "/api/drive/items/%2Fa.bin", {}),
    "a folder of 100": ("GET", "/api/drive/items/%2Fmany/children?limit=100", {}),
    "download": ("GET", "/api/drive/files/%2Fa.bin/content", {}),
    "make a folder": ("POST", "/api/drive/items", {"json": {"kind": "folder", "name": "new", "parent_id": "root"}}),
    "rename": ("PATCH", "/api/drive/items/%2Fa.bin", {"json": {"name": "d.bin"}}),
    "move to the trash": ("POST", "/api/drive/items/%2Fd.bin/trash", {}),
    "search by name": ("GET", "/api/drive/search?q=n42&mode=name", {}),
    "a folder of 100 over WebDAV": ("PROPFIND", "/dav/many/", {"headers": {"Depth": "1"}}),
}


@pytest.fixture(scope="module")
def postgres() -> Generator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request: pytest.FixtureRequest, drive_settings: DriveSettings) -> DriveSettings:
    """Settings of an empty drive on each kind of database."""
    if request.param == "sqlite":
        return drive_settings
    url = request.getfixturevalue("postgres").new_database().replace("postgresql", "postgresql+psycopg", 1)
    return drive_settings.model_copy(update={"database_url": url})


async def test_operations_cost_no_more_than_they_did(settings: DriveSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    costs: dict[str, tuple[int, int, int]] = {}
    with counting(monkeypatch) as counter:
        async with running(settings, before=counter.around) as service, service.client() as client:
            await fill(client)
            for operation, (method, path, options) in REQUESTS.items():
                answer = await client.request(method, path, **options)
                assert answer.is_success, answer.text
                hops = 0 if settings.database_url else counter.last.hops
                turns = 1 if settings.database_url and operation in CHANGES else 0
                costs[operation] = (hops, counter.last.statements - turns, counter.last.transactions)

    dearer = {name: (cost, MOST[name]) for name, cost in costs.items() if any(map(gt, cost, MOST[name]))}
    assert not dearer


async def fill(client: httpx.AsyncClient) -> None:
    await client.post("/api/drive/files?name=a.bin", content=CONTENT)
    many = await client.post("/api/drive/items", json={"kind": "folder", "name": "many", "parent_id": "root"})
    for number in range(100):
        inside = {"kind": "folder", "name": f"n{number}", "parent_id": many.json()["id"]}
        await client.post("/api/drive/items", json=inside)
