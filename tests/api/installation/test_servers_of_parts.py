"""Databases in PostgreSQL and contents in an object store: what does not fit refuses a start, and nothing is removed.

The stores are obstore's own in memory, one for each address, in the place of S3's.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import obstore
import pytest

from drive_server.kernel.errors import StorageFailureError
from drive_server.storage import blobs
from drive_server.storage.installation import parts
from drive_server.storage.installation.parts import MARK_FILE
from graph.settings import AgentSettings
from tests.api.command_model import CommandModel
from tests.api.real_service import real_app
from tests.api.storage.postgres_server import PostgresServer, running_server
from tests.buckets import new_store
from tests.drive_server.actors import local_owner

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator
    from pathlib import Path

    from obstore.store import ObjectStore

    from drive_server.connect import Drive

TEXT = "kept by its bucket"


@dataclass(frozen=True)
class Place:
    """The addresses of an installation's parts."""

    data: Path
    database: str
    threads: str
    bucket: str


@pytest.fixture(scope="module")
def postgres() -> Generator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def stores(monkeypatch: pytest.MonkeyPatch) -> dict[str, ObjectStore]:
    made: dict[str, ObjectStore] = {}

    def store_at(url: str) -> ObjectStore:
        return made.setdefault(url, new_store())

    monkeypatch.setattr(blobs, "remote_store", store_at)
    monkeypatch.setattr(parts, "remote_store", store_at)
    return made


@pytest.fixture
def new_place(postgres: PostgresServer, tmp_path: Path) -> Callable[[str], Place]:
    def make(name: str) -> Place:
        database = postgres.new_database().replace("postgresql://", "postgresql+psycopg://")
        return Place(tmp_path / name, database, postgres.new_database(), f"s3://{name}")

    return make


@asynccontextmanager
async def started(place: Place, *, keep: bool = False) -> AsyncGenerator[Drive]:
    agent = AgentSettings(model="offline", threads_url=place.threads)
    urls: dict[str, Any] = {"database_url": place.database, "blob_url": place.bucket}
    app = real_app(place.data, CommandModel(), agent=agent, keep_everything=keep, **urls)
    async with app.router.lifespan_context(app):
        yield app.state.drive


async def write(place: Place, name: str) -> None:
    async with started(place) as drive:
        await drive.documents.create(await local_owner(drive.identity), "/", name, TEXT + name)


async def read(place: Place, name: str) -> str:
    async with started(place) as drive:
        return (await drive.documents.read_text(await local_owner(drive.identity), f"/{name}")).text


def contents(store: ObjectStore) -> list[str]:
    found = [meta["path"] for batch in obstore.list(store) for meta in batch]
    return sorted(path for path in found if path != MARK_FILE)


def foreign_bucket(mine: Place, other: Place, fresh: Place) -> Place:
    del fresh
    return replace(mine, bucket=other.bucket)


def empty_bucket(mine: Place, other: Place, fresh: Place) -> Place:
    del other
    return replace(mine, bucket=fresh.bucket)


def empty_database(mine: Place, other: Place, fresh: Place) -> Place:
    del other
    return replace(mine, database=fresh.database, threads=fresh.threads)


def foreign_database(mine: Place, other: Place, fresh: Place) -> Place:
    del fresh
    return replace(mine, database=other.database)


def foreign_threads(mine: Place, other: Place, fresh: Place) -> Place:
    del fresh
    return replace(mine, threads=other.threads)


def empty_threads(mine: Place, other: Place, fresh: Place) -> Place:
    del other
    return replace(mine, threads=fresh.threads)


CASES = (foreign_bucket, empty_bucket, empty_database, foreign_database, foreign_threads, empty_threads)


@pytest.mark.parametrize("mixed", CASES)
async def test_parts_on_servers_that_do_not_belong_together_refuse_the_start(
    new_place: Callable[[str], Place], stores: dict[str, ObjectStore], mixed: Callable[[Place, Place, Place], Place]
) -> None:
    mine, other = new_place("mine"), new_place("other")
    await write(mine, "a.txt")
    await write(other, "b.txt")
    before = {url: contents(store) for url, store in stores.items()}
    wrong = mixed(mine, other, new_place("fresh"))
    # Its own data directory has no part in it: only the databases and the bucket are told apart.
    for _ in range(2):
        with pytest.raises(StorageFailureError) as refused:
            await read(wrong, "a.txt")
        assert "DRIVE_KEEP_EVERYTHING" in refused.value.texts("zh")[1]
    assert {url: contents(stores[url]) for url in before} == before
    assert await read(mine, "a.txt") == TEXT + "a.txt"
    assert await read(other, "b.txt") == TEXT + "b.txt"


async def test_a_bucket_with_contents_and_an_empty_database_goes_on_only_if_it_is_told_to(
    new_place: Callable[[str], Place], stores: dict[str, ObjectStore]
) -> None:
    mine = new_place("mine")
    await write(mine, "a.txt")
    before = contents(stores[mine.bucket])
    wrong = empty_database(mine, mine, new_place("fresh"))
    with pytest.raises(StorageFailureError, match="mine"):
        await read(wrong, "a.txt")
    async with started(wrong, keep=True) as drive:
        await drive.housekeeping.run_once()
    assert contents(stores[mine.bucket]) == before


async def test_what_belongs_together_starts_again_and_again(
    new_place: Callable[[str], Place], stores: dict[str, ObjectStore]
) -> None:
    mine = new_place("mine")
    await write(mine, "a.txt")
    for _ in range(3):
        assert await read(mine, "a.txt") == TEXT + "a.txt"
    assert len(contents(stores[mine.bucket])) == 1
