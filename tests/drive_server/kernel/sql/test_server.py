"""A database's server that is away, full or crowded is told as that, and used again as soon as it is back."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import anyio
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolTimeout
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.dialects.postgresql.psycopg import PGDialectAsync_psycopg
from sqlalchemy.exc import OperationalError

from drive_server.connect import open_drive
from drive_server.kernel.errors import DatabaseAwayError, DriveError, StorageFailureError
from drive_server.kernel.sql import engine as storage_engine
from drive_server.kernel.sql import turns
from drive_server.kernel.sql.database import Database, translate
from drive_server.kernel.sql.engine import open_engine
from drive_server.kernel.sql.server import server_url, translated
from drive_server.storage.drive_database import open_database
from drive_server.storage.tables.drive_schema import SCHEMA
from tests.api.storage.postgres_server import running_pair, running_server
from tests.databases import async_url, new_url
from tests.drive_server.http.service import running

if TYPE_CHECKING:
    from drive_server.kernel.settings import DriveSettings


@pytest.mark.parametrize(
    ("state", "kind", "code"),
    [
        ("08006", DatabaseAwayError, "database_away"),
        ("57P01", DatabaseAwayError, "database_away"),
        ("57P03", DatabaseAwayError, "database_away"),
        ("25P03", DatabaseAwayError, "database_away"),
        ("25006", DatabaseAwayError, "database_away"),
        ("53000", DatabaseAwayError, "database_away"),
        ("53200", DatabaseAwayError, "database_away"),
        ("53300", DatabaseAwayError, "database_away"),
        ("40P01", DatabaseAwayError, "database_away"),
        (None, DatabaseAwayError, "database_away"),
        ("53100", StorageFailureError, "storage_failure"),
        ("53400", StorageFailureError, "storage_failure"),
        ("XX001", StorageFailureError, "storage_failure"),
    ],
)
def test_each_failure_has_its_own_sentence(state: str | None, kind: type[DriveError], code: str) -> None:
    failed = psycopg.OperationalError("FATAL")
    failed.sqlstate = state
    failure = translate(OperationalError("SELECT 1", {}, failed), SCHEMA)
    assert failure is not None
    assert type(failure) is kind
    assert failure.code == code
    is_full = state in {"53100", "53400"}
    assert ("disk" in failure.hint) == is_full
    with pytest.raises(kind if kind is DatabaseAwayError or is_full else psycopg.Error), translated():
        raise failed


@pytest.mark.parametrize(
    "failed",
    [
        psycopg.InterfaceError("the connection is closed"),
        psycopg.errors.PipelineAborted("pipeline aborted"),
        psycopg.errors.ConnectionTimeout("connection timeout expired"),
        PoolTimeout("couldn't get a connection after 10.00 sec"),
    ],
)
def test_what_no_server_sent_tells_that_there_is_none(failed: psycopg.Error) -> None:
    with pytest.raises(DatabaseAwayError), translated():
        raise failed


@pytest.mark.parametrize("failed", [OSError(5, "Input/output error"), ConnectionResetError(), TimeoutError()])
def test_a_failure_of_a_disk_or_of_a_blob_store_is_none_of_the_databases_server(failed: OSError) -> None:
    failure = translate(failed, SCHEMA)
    assert type(failure) is StorageFailureError


def test_a_server_that_cannot_be_reached_is_away() -> None:
    engine = create_engine("postgresql+psycopg://nobody@127.0.0.1:1/nothing?connect_timeout=1")
    with pytest.raises(OperationalError) as refused:
        engine.connect()
    assert isinstance(translate(refused.value, SCHEMA), DatabaseAwayError)


async def test_a_server_that_is_away_is_told_and_the_first_request_after_it_is_back_is_answered(
    drive_settings: DriveSettings,
) -> None:
    with running_server() as server:
        settings = drive_settings.model_copy(update={"database_url": async_url(server.new_database())})
        async with running(settings) as service, service.client() as client:
            assert (await client.get("/api/drive/items/root")).status_code == 200
            server.stop()
            away = await client.get("/api/drive/items/root")
            server.start()
            assert (away.status_code, away.json()["code"]) == (503, "database_away")
            assert int(away.headers["Retry-After"]) > 0
            assert (await client.get("/api/drive/items/root")).status_code == 200


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("postgresql+psycopg://me:w%40@/files?host=a,b&port=1,2", "a,b", "1,2"),
        ("postgresql+psycopg://me:w%40@/files?host=a:1&host=b:2", "a,b", "1,2"),
        ("postgresql://me:w%40@a:1/files", "a", 1),
        ("postgresql://me:w%40@/files?host=/run/a,/run/b", "/run/a,/run/b", ","),
    ],
)
def test_every_form_of_a_url_with_servers_is_one_that_libpq_reads(url: str, host: str, port: object) -> None:
    read = conninfo_to_dict(server_url(url).render_as_string(hide_password=False))
    assert (read["host"], read.get("port")) == (host, str(port))
    assert (read["dbname"], read["password"], read["connect_timeout"]) == ("files", "w@", "10")


def test_parameters_of_a_url_are_kept() -> None:
    query = server_url("postgresql://a/files?connect_timeout=2&target_session_attrs=read-write").query
    assert (query["connect_timeout"], query["target_session_attrs"]) == ("2", "read-write")


async def test_a_server_that_became_read_only_is_away_and_left_for_the_one_that_writes(
    drive_settings: DriveSettings,
) -> None:
    with running_pair() as (first, second):
        url = async_url(first.either(first.new_database(), second))
        settings = drive_settings.model_copy(update={"database_url": url})
        async with running(settings) as service, service.client() as client:
            folder = {"kind": "folder", "name": "First", "parent_id": "root"}
            assert (await client.post("/api/drive/items", json=folder)).status_code == 201
            second.promote()
            first.execute("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
            folder["name"] = "Second"
            with anyio.fail_after(20):
                while (made := await client.post("/api/drive/items", json=folder)).status_code == 503:
                    assert made.json()["code"] == "database_away"
            assert made.status_code == 201
            listed = await client.get("/api/drive/items/root/children")
        assert [item["name"] for item in listed.json()["items"]] == ["First", "Second"]


async def test_the_first_request_after_a_restart_is_answered(drive_settings: DriveSettings) -> None:
    with running_server() as server:
        settings = drive_settings.model_copy(update={"database_url": async_url(server.new_database())})
        async with running(settings) as service, service.client() as client:
            assert (await client.get("/api/drive/items/root")).status_code == 200
            server.stop()
            server.start()
            assert (await client.get("/api/drive/items/root")).status_code == 200


async def test_a_connection_is_tried_by_a_look_at_its_socket_and_by_a_question_from_time_to_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []
    ping = PGDialectAsync_psycopg.do_ping

    def counted(dialect: PGDialectAsync_psycopg, connection: Any) -> bool:
        asked.append(connection)
        return ping(dialect, connection)

    monkeypatch.setattr(PGDialectAsync_psycopg, "do_ping", counted)
    engine = open_engine(make_url(new_url()))
    pids: set[int] = set()

    async def use() -> None:
        async with engine.connect() as connection:
            pids.add(await connection.scalar(text("SELECT pg_backend_pid()")))

    for _ in range(3):
        await use()
    assert (len(asked), len(pids)) == (0, 1)
    monkeypatch.setattr(storage_engine, "PING_SECONDS", 0)
    await use()
    assert (len(asked), len(pids)) == (1, 1)
    monkeypatch.setattr(storage_engine, "PING_SECONDS", 1000)
    with psycopg.connect(new_url().replace("+psycopg", ""), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [*pids])
    await use()
    assert (len(asked), len(pids)) == (2, 2)
    await engine.dispose()


async def test_a_connection_in_use_is_not_asked_for_and_one_that_rested_is(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    ping = PGDialectAsync_psycopg.do_ping

    def counted(dialect: PGDialectAsync_psycopg, connection: Any) -> bool:
        asked.append(connection)
        return ping(dialect, connection)

    clock = SimpleNamespace(monotonic=lambda: 0.0)
    monkeypatch.setattr(PGDialectAsync_psycopg, "do_ping", counted)
    monkeypatch.setattr(storage_engine, "time", clock)
    engine = open_engine(make_url(new_url()))
    found: list[int] = []
    for now in (0.0, 20.0, 40.0, 60.0, 80.0, 80.0 + storage_engine.PING_SECONDS):
        clock.monotonic = partial(float, now)
        async with engine.connect() as connection:
            assert await connection.scalar(text("SELECT 1")) == 1
        found.append(len(asked))
    assert found == [0, 0, 0, 0, 0, 1]
    await engine.dispose()


async def stand_still_while_another_writes(database: Database) -> None:
    async with database.write("alice"), database.write("alice") as another:
        assert await another.scalar(text("SELECT 1")) == 1


async def test_a_writer_that_stands_still_in_its_transaction_holds_up_others_for_a_while_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "IDLE_SECONDS", 1)
    with running_server() as server:
        database = await open_database(async_url(server.new_database()))
        with anyio.fail_after(20), pytest.raises(DatabaseAwayError):
            await stand_still_while_another_writes(database)
        async with database.write("alice") as again:
            assert await again.scalar(text("SELECT 1")) == 1
        await database.dispose()


async def test_times_are_utc_whatever_zone_the_server_has(drive_settings: DriveSettings) -> None:
    with running_server() as server:
        url = async_url(server.new_database())
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute("ALTER ROLE postgres SET TimeZone = 'Asia/Shanghai'")
        settings = drive_settings.model_copy(update={"database_url": url})
        async with running(settings) as service, service.client() as client:
            tus = {"Tus-Resumable": "1.0.0", "Upload-Length": "6", "Upload-Metadata": "filename YS50eHQ="}
            begun = await client.post("/api/drive/uploads", headers=tus)
            address = f"/api/drive/uploads/{begun.headers['Location'].rpartition('/')[2]}"
            assert (await client.head(address, headers=tus)).status_code == 200
            part = {**tus, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
            sent = await client.patch(address, headers=part, content=b"one")
            assert (sent.status_code, sent.headers["Upload-Expires"][-3:]) == (204, "GMT")


async def test_services_that_first_start_at_once_on_one_empty_database_agree(drive_settings: DriveSettings) -> None:
    names = "first", "second", "third"
    with running_server() as server:
        url = async_url(server.new_database())
        keys: set[str] = set()

        async def start(name: str) -> None:
            settings = drive_settings.model_copy(
                update={"database_url": url, "data_dir": drive_settings.data_dir.parent / name}
            )
            async with open_drive(settings) as drive:
                keys.add(drive.database.signer.sign("test", b"payload"))

        async with anyio.create_task_group() as tasks:
            for name in names:
                tasks.start_soon(start, name)
    assert len(keys) == 1
