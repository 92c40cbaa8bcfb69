"""Each file of the data directory missing, empty, foreign, older or swapped: a start refuses, and removes nothing."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import pytest
from alembic import command
from sqlalchemy import create_engine

from api.errors import SecretsKeyError
from drive_server.kernel.errors import StorageFailureError
from drive_server.storage.collector import Collector
from drive_server.storage.tables.drive_schema import SCHEMA
from tests.api.command_model import CommandModel
from tests.api.real_service import real_app, real_client
from tests.drive_server.actors import local_owner

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from drive_server.connect import Drive

pytestmark = pytest.mark.sqlite("changes the files of the databases; test_servers_of_parts does so with PostgreSQL")
DATABASES: Final = ("drive.db", "api.db", "graph.db", "store.db")
FILES: Final = (*DATABASES, "blobs")
LATER: Final = timedelta(days=2)
TEXTS: Final = {f"/{number}.txt": f"content {number}" for number in range(8)}


@asynccontextmanager
async def started(data: Path, **settings: Any) -> AsyncGenerator[Drive]:
    app = real_app(data, CommandModel(), **settings)
    async with app.router.lifespan_context(app):
        yield app.state.drive


async def write(data: Path, texts: dict[str, str]) -> None:
    async with started(data) as drive:
        owner = await local_owner(drive.identity)
        for path, text in texts.items():
            await drive.documents.create(owner, "/", path.strip("/"), text)
        await drive.ingester.drain()


async def read(data: Path, **settings: Any) -> dict[str, str]:
    async with started(data, **settings) as drive:
        owner = await local_owner(drive.identity)
        return {path: (await drive.documents.read_text(owner, path)).text for path in TEXTS}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("installations")
    return {name: root / name for name in ("mine", "older", "other")}


@pytest.fixture
async def mine(folders: dict[str, Path], tmp_path: Path) -> Path:
    """A data directory; `folders` has an older copy of it, and another one."""
    if not folders["mine"].exists():
        await write(folders["mine"], dict([*TEXTS.items()][:4]))
        shutil.copytree(folders["mine"], folders["older"])
        await write(folders["mine"], dict([*TEXTS.items()][4:]))
        await write(folders["other"], {"/strange.txt": "another drive's"})
    data = tmp_path / "data"
    shutil.copytree(folders["mine"], data)
    return data


def remove(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        shutil.rmtree(file) if file.is_dir() else file.unlink()


def put(source: Path, target: Path) -> None:
    remove(target)
    shutil.copytree(source, target) if source.is_dir() else shutil.copyfile(source, target)


def missing(path: Path, folders: dict[str, Path]) -> None:
    del folders
    remove(path)


def empty(path: Path, folders: dict[str, Path]) -> None:
    is_folder = path.is_dir()
    missing(path, folders)
    path.mkdir() if is_folder else path.touch()


def foreign(path: Path, folders: dict[str, Path]) -> None:
    put(folders["other"] / path.name, path)


def older(path: Path, folders: dict[str, Path]) -> None:
    put(folders["older"] / path.name, path)


def swapped(path: Path, folders: dict[str, Path]) -> None:
    twins = {"blobs": "index", "index": "blobs"}
    twin = twins.get(path.name) or DATABASES[DATABASES.index(path.name) - 1]
    put(folders["mine"] / twin, path)


FAULTS: Final[tuple[Callable[[Path, dict[str, Path]], None], ...]] = (missing, empty, foreign, older, swapped)


def contents(data: Path) -> list[str]:
    return sorted(path.name for path in (data / "blobs").rglob("*") if len(path.name) == 64)


async def collect(drive: Drive) -> None:
    await drive.housekeeping.run_once()
    await Collector(drive.database, drive.blobs, clock=lambda: datetime.now(UTC) + LATER).run_once()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_part_that_does_not_fit_refuses_the_start_and_nothing_is_lost(
    mine: Path, folders: dict[str, Path], name: str, fault: Callable[[Path, dict[str, Path]], None]
) -> None:
    fault(mine / name, folders)
    before = contents(mine)

    # Where there is nothing, the first start must not make what the second would take.
    for _ in range(2 if fault in {missing, empty} else 1):
        with pytest.raises(StorageFailureError, match=name) as refused:
            await read(mine)
        message, hint = refused.value.texts("zh")
        assert str(mine / name) in message
        assert "DRIVE_KEEP_EVERYTHING" in hint

    assert contents(mine) == before
    assert (mine / name).exists() == (fault is not missing)
    if fault in {missing, foreign}:
        put(folders["mine"] / name, mine / name)
        assert await read(mine) == TEXTS


@pytest.mark.parametrize("fault", [missing, foreign, swapped])
async def test_an_index_that_does_not_fit_is_built_anew(
    mine: Path, folders: dict[str, Path], fault: Callable[[Path, dict[str, Path]], None]
) -> None:
    fault(mine / "index", folders)

    async with started(mine) as drive:
        await drive.ingester.drain()
        owner = await local_owner(drive.identity)
        found = await drive.search.semantic(owner, "content", limit=20, mode="words")

    assert {hit.item.name for hit in found.items} == {path.strip("/") for path in TEXTS}


@pytest.mark.parametrize("fault", [missing, foreign])
async def test_a_start_that_is_told_to_keeps_every_content_also_after_it(
    mine: Path, folders: dict[str, Path], fault: Callable[[Path, dict[str, Path]], None]
) -> None:
    fault(mine / "drive.db", folders)
    before = contents(mine)

    async with started(mine, keep_everything=True) as drive:
        await collect(drive)
    async with started(mine) as drive:
        await collect(drive)

    assert contents(mine) == before
    await read_back(mine, folders)


async def read_back(mine: Path, folders: dict[str, Path]) -> None:
    """Put the right database back: it is older than what the other one left, and is told to keep everything."""
    put(folders["mine"] / "drive.db", mine / "drive.db")
    with pytest.raises(StorageFailureError, match=r"drive\.db"):
        await read(mine)
    assert await read(mine, keep_everything=True) == TEXTS
    assert await read(mine) == TEXTS


@pytest.mark.parametrize("name", ["api.db", "graph.db", "store.db", "blobs"])
async def test_a_start_that_is_told_to_goes_on_without_a_part(mine: Path, folders: dict[str, Path], name: str) -> None:
    missing(mine / name, folders)
    async with started(mine, keep_everything=True):
        pass
    async with started(mine) as drive:
        owner = await local_owner(drive.identity)
        assert len((await drive.files.list_folder(owner, "/")).items) == len(TEXTS)


async def test_a_killed_service_knows_an_older_database_by_the_changes_after_it(
    mine: Path, folders: dict[str, Path], tmp_path: Path
) -> None:
    del folders
    killed = tmp_path / "killed"
    async with started(mine) as drive:
        owner = await local_owner(drive.identity)
        await drive.documents.create(owner, "/", "before.txt", "x")
        shutil.copytree(mine, tmp_path / "early")
        change = (await drive.documents.create(owner, "/", "after.txt", "y")).change_id
        while f'"change": {change}' not in (mine / "blobs" / ".installation.json").read_text():
            await drive.ingester.drain()
        shutil.copytree(mine, killed)
    put(tmp_path / "early" / "drive.db", killed / "drive.db")
    put(tmp_path / "early" / "drive.db-wal", killed / "drive.db-wal")

    with pytest.raises(StorageFailureError, match=r"drive\.db is an older copy"):
        await read(killed)


async def test_the_same_folder_starts_however_often_and_wherever_it_is(mine: Path, tmp_path: Path) -> None:
    assert await read(mine) == TEXTS
    moved = tmp_path / "moved"
    shutil.move(mine, moved)
    for _ in range(3):
        assert await read(moved) == TEXTS


async def with_secret(data: Path) -> None:
    async with real_client(data, CommandModel()) as client:
        server = {"name": "mail", "type": "streamableHttp", "base_url": "https://mail.example/mcp"}
        answer = await client.post("/api/mcp-servers", json={**server, "headers": {"Authorization": "Bearer x"}})
        assert answer.status_code == 201, answer.text


async def is_set(data: Path, **settings: Any) -> bool:
    async with real_client(data, CommandModel(), **settings) as client:
        servers = (await client.get("/api/mcp-servers")).json()["items"]
        return bool(servers[0]["headers"]["Authorization"])


@pytest.mark.parametrize("fault", [missing, empty, foreign])
async def test_a_lost_key_of_secrets_is_said_and_they_come_back_with_it(
    mine: Path, folders: dict[str, Path], fault: Callable[[Path, dict[str, Path]], None]
) -> None:
    await with_secret(mine)
    key = (mine / "secrets.key").read_bytes()
    fault(mine / "secrets.key", folders)

    with pytest.raises(ExceptionGroup) as refused:
        await is_set(mine)
    assert refused.group_contains(SecretsKeyError, match="missing, or is another one")

    assert (mine / "secrets.key").exists() == (fault is not missing)
    if fault is not empty:
        assert not await is_set(mine, keep_everything=True)
    (mine / "secrets.key").write_bytes(key)
    assert await is_set(mine)


@pytest.mark.parametrize("fault", [missing, foreign])
async def test_a_key_without_secrets_may_be_another_one(
    mine: Path, folders: dict[str, Path], fault: Callable[[Path, dict[str, Path]], None]
) -> None:
    fault(mine / "secrets.key", folders)
    await with_secret(mine)
    assert await is_set(mine)


@pytest.mark.parametrize("fault", [missing, empty, foreign])
async def test_the_local_access_token_is_made_anew(
    mine: Path, folders: dict[str, Path], fault: Callable[[Path, dict[str, Path]], None]
) -> None:
    fault(mine / "token", folders)
    async with real_client(mine, CommandModel()) as client:
        assert (await client.get("/api/auth/me")).status_code == 200


async def test_a_lost_key_of_signatures_is_said(mine: Path) -> None:
    with closing(sqlite3.connect(mine / "drive.db")) as connection, connection:
        connection.execute("DELETE FROM secrets")

    with pytest.raises(StorageFailureError, match="has lost the key that signs links"):
        await read(mine)
    assert await read(mine, keep_everything=True) == TEXTS
    assert await read(mine) == TEXTS


def unmark(data: Path) -> None:
    """Make the folder one of a version without identities."""
    for mark in data.glob("*/.installation.json"):
        mark.unlink()
    for name in DATABASES[1:]:
        with closing(sqlite3.connect(data / name)) as connection, connection:
            connection.execute("DROP TABLE drive_agent_marks")
    engine = create_engine(f"sqlite:///{data / 'drive.db'}")
    with engine.begin() as connection:
        command.downgrade(SCHEMA.config(connection), "0021")
    engine.dispose()


async def test_a_folder_of_an_earlier_version_gets_an_identity_without_a_word(
    mine: Path, folders: dict[str, Path], caplog: pytest.LogCaptureFixture
) -> None:
    unmark(mine)
    assert await read(mine) == TEXTS
    assert caplog.text == ""
    foreign(mine / "blobs", folders)
    with pytest.raises(StorageFailureError, match="belongs to another drive"):
        await read(mine)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        *((name, missing) for name in ("drive.db", "blobs", "graph.db", "api.db")),
        ("drive.db", empty),
        ("graph.db", empty),
        ("blobs", swapped),
        ("api.db", swapped),
    ],
)
async def test_a_folder_of_an_earlier_version_refuses_what_is_gone_as_well(
    mine: Path, folders: dict[str, Path], name: str, fault: Callable[[Path, dict[str, Path]], None]
) -> None:
    unmark(mine)
    fault(mine / name, folders)
    before = contents(mine)

    with pytest.raises(StorageFailureError, match=name):
        await read(mine)
    assert contents(mine) == before


async def test_the_database_of_another_folder_of_an_earlier_version_is_refused(
    mine: Path, folders: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copytree(folders["other"], tmp_path / "other")
    for data in (mine, tmp_path / "other"):
        unmark(data)
    put(tmp_path / "other" / "drive.db", mine / "drive.db")
    with pytest.raises(StorageFailureError, match="belongs to another drive"):
        await read(mine)
