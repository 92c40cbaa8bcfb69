"""Backups of a service on PostgreSQL with its contents in a bucket: whole, checked, and restored into empty ones."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import anyio
import obstore
import psycopg
import pytest

from api.cli import main
from api.cli.backups.layout import CONTENTS, DRIVE_DUMP, GENERATIONS, THREADS_DUMP, generations_in
from api.cli.backups.servers import Servers, held_collector, restore_dump
from drive_server.storage import blobs
from drive_server.storage.collector import Collector, Rules
from drive_server.storage.drive_database import open_database
from tests.api.cli.backups.installations import buckets, stack
from tests.api.real_service import RealService
from tests.api.storage.postgres_server import programs_folder
from tests.databases import async_url, server
from tests.fakes.chat_model import ScriptedChatModel

if TYPE_CHECKING:
    from pathlib import Path

    from obstore.store import ObjectStore

    from tests.e2e.person import Person


__all__ = ["buckets", "stack"]


@dataclass
class Place:
    """The parts of an installation."""

    root: Path
    drive: str
    threads: str
    contents: str

    def serve(self, stack: ExitStack) -> Person:
        """Start the service; return its owner."""
        options: Any = {"database_url": async_url(self.drive), "blob_url": self.contents}
        service = RealService(self.root, ScriptedChatModel(), **options)
        service.start()
        stack.callback(service.stop)
        return stack.enter_context(closing(service.owner()))

    def name(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Have commands find it by their settings."""
        monkeypatch.setenv("DRIVE_DATA_DIR", str(self.root))
        monkeypatch.setenv("DRIVE_DATABASE_URL", async_url(self.drive))
        monkeypatch.setenv("AGENT_THREADS_URL", self.threads)
        monkeypatch.setenv("DRIVE_BLOB_URL", self.contents)


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the tests' PostgreSQL on the PATH."""
    monkeypatch.setenv("PATH", f"{programs_folder()}{os.pathsep}{os.environ['PATH']}")


def new_place(root: Path, contents: str) -> Place:
    url = server().new_database()
    return Place(root, url, url, contents)


def fill(owner: Person) -> None:
    file = owner.upload("plan.md", "one")
    owner.http.put(f"/api/drive/files/{file['id']}/content", content=b"two").raise_for_status()
    at = "2026-01-01T00:00:00Z"
    thread = {"export_id": "e", "thread_id": "t", "title": "Plans", "created_at": at, "updated_at": at}
    messages = [{"id": "1", "role": "user", "text": "hello"}]
    owner.http.post("/api/threads/import", json={**thread, "messages": messages}).raise_for_status()


@pytest.mark.parametrize("target", ["s3://after", "folder"])
def test_a_backup_of_a_running_service_becomes_the_same_service(
    tmp_path: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place, root = new_place(tmp_path / "before", "s3://before"), tmp_path / "backups"
    owner = place.serve(stack)
    fill(owner)
    place.name(monkeypatch)
    assert main(["backup", str(root)]) == 0
    assert main(["backup", str(root), "--verify"]) == 0
    (generation,) = generations_in(root)
    assert {DRIVE_DUMP, CONTENTS} <= generation.record.files.keys()
    assert THREADS_DUMP not in generation.record.files
    assert generation.record.blobs == 2

    contents = (tmp_path / "contents").as_uri() if target == "folder" else target
    restored = new_place(tmp_path / "after", contents)
    restored.name(monkeypatch)
    assert main(["restore", str(root)]) == 0, capsys.readouterr()
    again = restored.serve(stack)
    assert again.get("/readyz")["status"] == "ready"
    assert again.token == owner.token
    assert again.get("/api/drive/export") == owner.get("/api/drive/export")
    (thread,) = again.get("/api/threads")["items"]
    assert again.get(f"/api/threads/{thread['thread_id']}")["messages"][0]["text"] == "hello"
    assert again.content(again.children()[0]["id"]) == "two"
    assert not (restored.root / DRIVE_DUMP).exists()


def test_a_database_with_tables_is_not_restored_into(
    tmp_path: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place, root = new_place(tmp_path / "before", "s3://before"), tmp_path / "backups"
    fill(place.serve(stack))
    place.name(monkeypatch)
    assert main(["backup", str(root)]) == 0
    assert main(["restore", str(root), "--into", str(tmp_path / "after")]) == 1
    assert "is not empty" in capsys.readouterr().err
    monkeypatch.setenv("DRIVE_DATABASE_URL", "")
    assert main(["restore", str(root), "--into", str(tmp_path / "after")]) == 1
    assert "DRIVE_DATABASE_URL" in capsys.readouterr().err


def test_threads_in_a_database_of_their_own_are_dumped_and_restored_into_one(
    tmp_path: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, root = new_place(tmp_path / "before", "s3://before"), tmp_path / "backups"
    fill(place.serve(stack))
    place.threads = server().new_database()
    with psycopg.connect(place.threads) as connection:
        connection.execute("CREATE TABLE checkpoints (thread_id text)")
        connection.execute("INSERT INTO checkpoints VALUES ('t')")
    place.name(monkeypatch)
    assert main(["backup", str(root)]) == 0
    assert main(["backup", str(root), "--verify"]) == 0

    restored = new_place(tmp_path / "after", "s3://after")
    restored.threads = server().new_database()
    restored.name(monkeypatch)
    assert main(["restore", str(root)]) == 0
    with psycopg.connect(restored.threads) as connection:
        assert connection.execute("SELECT * FROM checkpoints").fetchall() == [("t",)]


def test_what_is_damaged_or_missing_in_a_backup_is_found(
    tmp_path: Path,
    stack: ExitStack,
    monkeypatch: pytest.MonkeyPatch,
    buckets: dict[str, ObjectStore],
    capsys: pytest.CaptureFixture[str],
) -> None:
    place, root = new_place(tmp_path / "before", "s3://before"), tmp_path / "backups"
    fill(place.serve(stack))
    place.name(monkeypatch)
    assert main(["backup", str(root)]) == 0
    for name in (DRIVE_DUMP, CONTENTS):
        shutil.copytree(root, copy := tmp_path / name)
        (path,) = (copy / GENERATIONS).glob(f"*/{name}")
        path.write_bytes(path.read_bytes()[:-5] + b"other")
        assert main(["backup", str(copy), "--verify"]) == 1
        assert name in capsys.readouterr().out
    next(path for path in (root / "blobs").rglob("*") if path.is_file()).unlink()
    assert main(["backup", str(root), "--verify"]) == 1

    for listed in obstore.list(buckets["s3://before"]):
        for meta in listed:
            obstore.delete(buckets["s3://before"], meta["path"])
    assert main(["backup", str(tmp_path / "other")]) == 1
    assert generations_in(tmp_path / "other") == []


async def test_no_process_collects_contents_while_a_backup_is_made(tmp_path: Path) -> None:
    url = server().new_database()
    database = await open_database(async_url(url))
    store = await blobs.open_blobs((tmp_path / "blobs").as_uri())
    await store.put_bytes(b"nobody refers to it")
    collector = Collector(database, store, grace=timedelta(-1), rules=Rules(takes_all_unknown=True))
    with held_collector(Servers.of(url, "").drive):
        assert (await collector.run_once()).blobs == 0
    assert (await collector.run_once()).blobs == 1
    await database.dispose()


async def test_a_backup_waits_for_the_end_of_a_round_of_the_collector() -> None:
    url = server().new_database()
    database = await open_database(async_url(url))
    begun: list[str] = []

    def hold() -> None:
        with held_collector(Servers.of(url, "").drive):
            begun.append("backup")

    async with anyio.create_task_group() as group, database.alone("collecting") as is_alone:
        assert is_alone
        group.start_soon(anyio.to_thread.run_sync, hold)
        async with database.read():
            assert begun == []
    assert begun == ["backup"]
    await database.dispose()


def test_a_password_is_in_no_argument_of_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = tmp_path / "seen"
    program = tmp_path / "pg_restore"
    program.write_text(f'#!/bin/sh\necho "$@" > {seen}\necho "$PGPASSWORD" >> {seen}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    restore_dump(Servers.of("postgresql+psycopg://ana:horse@db/drive", "").drive, tmp_path / "x.dump")
    arguments, password = seen.read_text().splitlines()
    assert "horse" not in arguments
    assert password == "horse"
