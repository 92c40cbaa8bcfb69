"""The connection breaks at a COMMIT: it is kept or not, and who asked is told which, or that nobody knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest
from sqlalchemy import insert, select
from sqlalchemy.exc import OperationalError

from drive_server.kernel.errors import AnswerLostError, DatabaseAwayError
from drive_server.kernel.sql import turns
from drive_server.kernel.sql.server import may_be_kept
from drive_server.kernel.sql.turns import Mark
from drive_server.storage.drive_database import open_database
from drive_server.storage.tables.people import SecretRow
from tests.databases import new_url
from tests.drive_server.http.service import running
from tests.drive_server.kernel.sql.lossy_way import lossy_way

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from sqlalchemy import Connection
    from sqlalchemy.ext.asyncio import AsyncSession

    from drive_server.kernel.settings import DriveSettings
    from drive_server.kernel.sql.database import Database
    from tests.drive_server.kernel.sql.lossy_way import LossyWay

NAME = "kept"
ADD = insert(SecretRow).values(name=NAME, value="x")


async def by_block(database: Database) -> str:
    async with database.write() as session:
        session.add(SecretRow(name=NAME, value="x"))
    return NAME


async def by_function(database: Database) -> str:
    def add(connection: Connection) -> str:
        connection.execute(ADD)
        return NAME

    return await database.write_sync(add)


async def by_change(database: Database) -> str:
    async def add(session: AsyncSession) -> str:
        session.add(SecretRow(name=NAME, value="x"))
        return NAME

    return await database.change(add)


@pytest.fixture
async def way() -> AsyncGenerator[tuple[str, LossyWay]]:
    async with lossy_way(new_url()) as found:
        yield found


@pytest.fixture
async def database(way: tuple[str, LossyWay]) -> AsyncGenerator[Database]:
    database = await open_database(way[0])
    yield database
    await database.dispose()


async def is_kept(database: Database) -> bool:
    query = select(SecretRow.name).where(SecretRow.name == NAME)
    return await database.read_sync(lambda connection: connection.scalar(query)) is not None


@pytest.mark.parametrize("write", [by_block, by_function, by_change])
async def test_what_was_kept_is_answered_though_the_servers_answer_was_lost(
    way: tuple[str, LossyWay], database: Database, write: Callable[[Database], Awaitable[str]]
) -> None:
    way[1].loses = True
    assert await write(database) == NAME
    assert await is_kept(database)


@pytest.mark.parametrize("write", [by_block, by_function, by_change])
async def test_a_commit_that_never_arrived_is_told_as_nothing_kept(
    way: tuple[str, LossyWay], database: Database, write: Callable[[Database], Awaitable[str]]
) -> None:
    way[1].loses, way[1].reaches = True, False
    with pytest.raises(DatabaseAwayError) as raised:
        await write(database)
    assert raised.value.code == "database_away"
    assert not await is_kept(database)


@pytest.mark.parametrize("write", [by_block, by_function, by_change])
async def test_it_may_have_been_kept_if_the_server_can_not_be_asked(
    way: tuple[str, LossyWay],
    database: Database,
    write: Callable[[Database], Awaitable[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "ASKING_SECONDS", 0.3)
    way[1].loses = way[1].closes = True
    with pytest.raises(AnswerLostError, match="may have been kept"):
        await write(database)
    way[1].is_closed = False
    assert await is_kept(database)


async def test_a_server_that_was_promoted_says_nothing_of_transactions_of_the_one_before(database: Database) -> None:
    async with database.write() as session:
        mark = await turns.take_turns(session, ())
    assert mark
    assert await turns._status(database.engine, mark) == turns.COMMITTED  # pyright: ignore[reportPrivateUsage]
    other = Mark(mark.number, "FFFFFFFF")
    assert await turns._status(database.engine, other) is None  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("state", "is_open"), [(None, True), ("08006", True), ("57P01", True), ("40P01", False), ("25P03", False)]
)
def test_only_a_commit_without_an_answer_leaves_open_what_became_of_it(state: str | None, *, is_open: bool) -> None:
    failed: Any = OperationalError("COMMIT", {}, Exception())
    failed.orig.sqlstate = state
    failed.connection_invalidated = True
    assert may_be_kept(failed) is is_open


async def test_a_request_whose_answer_was_lost_is_done_once_with_its_key(
    drive_settings: DriveSettings, way: tuple[str, LossyWay], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "ASKING_SECONDS", 0.3)
    url, lossy = way
    body, headers = {"kind": "folder", "name": "New", "parent_id": "root"}, {"Idempotency-Key": "once"}
    async with running(drive_settings.model_copy(update={"database_url": url})) as service, service.client() as client:
        lossy.loses, lossy.closes, lossy.after = True, True, b"INSERT INTO changes"
        lost = await client.post("/api/drive/items", json=body, headers=headers)
        lossy.is_closed = False
        again = await client.post("/api/drive/items", json=body, headers=headers)
        found = (await client.get("/api/drive/items/root/children")).json()["items"]
    assert (lost.status_code, lost.json()["code"]) == (httpx.codes.SERVICE_UNAVAILABLE, "answer_lost")
    assert "Retry-After" in lost.headers
    assert "may have been kept" in lost.json()["detail"]
    assert again.headers["Idempotent-Replayed"] == "true"
    assert [item["name"] for item in found if item["name"] == "New"] == ["New"]
