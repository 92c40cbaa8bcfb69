"""Backups of a running service: whole, incremental, checked, restored; nothing that looks whole and is not."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import ExitStack, closing
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest
from alembic import command
from sqlalchemy import create_engine

from api.cli import main
from api.cli.backups.layout import BLOBS, GENERATIONS, blob_path, generations_in
from drive_server.kernel.files.file_locks import try_lock
from drive_server.storage.aside import FOLDER, KINDS
from drive_server.storage.tables.drive_schema import SCHEMA
from tests.api.cli.command import environment
from tests.e2e.service import Service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.person import Person


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A running service with a few files, a version, something in the trash and a thread."""
    running = Service(tmp_path_factory.mktemp("backups") / "data", {"DRIVE_EMBEDDING_MODEL": "none"})
    running.data_dir.mkdir()
    running.start()
    with closing_person(running) as owner:
        file = owner.upload("plan.md", "one")
        owner.http.put(f"/api/drive/files/{file['id']}/content", content=b"two").raise_for_status()
        gone = owner.upload("gone.md", "gone")
        owner.http.post(f"/api/drive/items/{gone['id']}/trash").raise_for_status()
        at = "2026-01-01T00:00:00Z"
        thread = {"export_id": "e", "thread_id": "t", "title": "Plans", "created_at": at, "updated_at": at}
        messages = [{"id": "1", "role": "user", "text": "hello"}]
        owner.http.post("/api/threads/import", json={**thread, "messages": messages}).raise_for_status()
    yield running
    running.stop()


def closing_person(service: Service) -> Any:
    return closing(service.owner())


@pytest.fixture
def data_dir(filled: Service, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DRIVE_DATA_DIR", str(filled.data_dir))
    return filled.data_dir


def killed(data_dir: Path, target: str, number: int, *arguments: str) -> None:
    """Run a command whose process is killed at a call of one of its functions."""
    program = [sys.executable, "-m", "tests.api.cli.killed_command", target, str(number), *arguments]
    run = subprocess.run(program, env=environment({"DRIVE_DATA_DIR": str(data_dir)}), capture_output=True, check=False)
    assert run.returncode == -signal.SIGKILL, run.stderr


def test_a_backup_of_a_running_service_is_whole_and_becomes_the_same_service(
    filled: Service, data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, target = tmp_path / "backups", tmp_path / "restored"
    assert main(["backup", str(root)]) == 0
    assert main(["backup", str(root), "--verify"]) == 0
    assert main(["restore", str(root), "--into", str(target)]) == 0
    assert f"{root} holds the access token" in capsys.readouterr().out

    again = Service(target, {"DRIVE_EMBEDDING_MODEL": "none"}).start()
    with ExitStack() as stack:
        stack.callback(again.stop)
        before, after = stack.enter_context(closing_person(filled)), stack.enter_context(closing_person(again))
        assert after.token == before.token
        assert after.get("/api/drive/export") == before.get("/api/drive/export")
        assert after.get("/api/threads") == before.get("/api/threads")
        (thread,) = after.get("/api/threads")["items"]
        assert after.get(f"/api/threads/{thread['thread_id']}")["messages"][0]["text"] == "hello"
        assert after.content(after.children()[0]["id"]) == "two"
        assert indexed(after) == indexed(before)
    assert (target / "secrets.key").read_bytes() == (data_dir / "secrets.key").read_bytes()


def indexed(person: Person) -> int:
    """Return how many files can be searched once none waits any more."""
    while True:
        summary = person.get("/api/drive/index", wait_seconds="5")["summary"]
        if not summary["pending"] and not summary["indexing"]:
            return summary["indexed"]


def test_a_backup_and_a_restore_name_the_address_of_the_service_that_runs(
    filled: Service, data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "backups"
    assert main(["backup", str(root)]) == 0
    assert f"The service runs at {filled.url}." in capsys.readouterr().err
    assert main(["restore", str(root), "--force"]) == 1
    assert f"A service runs on {data_dir}, at {filled.url}." in capsys.readouterr().err


def test_nobody_else_may_read_a_backup(data_dir: Path, tmp_path: Path) -> None:
    del data_dir
    root = tmp_path / "backups"
    assert main(["backup", str(root)]) == 0
    for path in (root, *root.rglob("*")):
        assert not path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO), path


def test_a_second_backup_copies_only_what_is_new_and_old_ones_go_with_what_only_they_had(
    filled: Service, data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del data_dir
    root = tmp_path / "backups"
    main(["backup", str(root)])
    with closing_person(filled) as owner:
        added = owner.upload("added.md", "a content of its own")
        main(["backup", str(root)])
        assert "of which 1 are new" in capsys.readouterr().out
        owner.http.post(f"/api/drive/items/{added['id']}/trash").raise_for_status()
        owner.http.delete(f"/api/drive/items/{added['id']}").raise_for_status()
    before = len([path for path in (root / BLOBS).rglob("*") if path.is_file()])
    main(["backup", str(root), "--keep", "1"])

    assert len(generations_in(root)) == 1
    assert len([path for path in (root / BLOBS).rglob("*") if path.is_file()]) == before - 1
    assert main(["backup", str(root), "--verify"]) == 0


def test_backups_beside_writers_have_all_contents_that_they_refer_to(
    filled: Service, data_dir: Path, tmp_path: Path
) -> None:
    del data_dir
    root, stop = tmp_path / "backups", Event()

    def write() -> None:
        with closing_person(filled) as owner:
            number = 0
            while not stop.is_set():
                number += 1
                owner.upload(f"written {number}.md", f"text {number} of {tmp_path.name}")

    writer = Thread(target=write)
    writer.start()
    try:
        for _ in range(3):
            assert main(["backup", str(root)]) == 0
    finally:
        stop.set()
        writer.join()
    assert main(["backup", str(root), "--verify"]) == 0
    assert len(generations_in(root)) == 3


def test_no_content_is_collected_while_a_backup_copies(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[bool] = []

    def look(*given: Any) -> bool:
        del given
        with (data_dir / "housekeeping.lock").open("a") as file:
            taken.append(try_lock(file))
        return False

    monkeypatch.setattr("api.cli.backups.backup.copy_content", look)
    main(["backup", str(tmp_path / "backups")])

    assert taken
    assert not any(taken)


@pytest.mark.parametrize(
    ("target", "number"),
    [
        ("api.cli.backups.backup:copy_content", 2),
        ("api.cli.backups.backup:write_record", 1),
        ("api.cli.backups.backup:copy_databases", 1),
    ],
)
@pytest.mark.story
def test_a_killed_backup_leaves_nothing_that_looks_whole_and_the_next_one_cleans_up(
    data_dir: Path, tmp_path: Path, target: str, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "backups"
    killed(data_dir, target, number, "backup", str(root))

    assert generations_in(root) == []
    assert main(["backup", str(root), "--verify"]) == 1
    assert main(["restore", str(root), "--into", str(tmp_path / "restored")]) == 1
    assert "There is no whole backup" in capsys.readouterr().err
    assert main(["backup", str(root)]) == 0
    assert main(["backup", str(root), "--verify"]) == 0
    assert [path.name for path in (root / GENERATIONS).iterdir()] == [generations_in(root)[0].name]


@pytest.mark.parametrize("target", ["api.cli.backups.restore:copy_content", "api.cli.backups.restore:migrate_files"])
@pytest.mark.story
def test_a_killed_restore_leaves_no_data_directory_and_the_next_one_makes_it(
    data_dir: Path, tmp_path: Path, target: str
) -> None:
    root, restored = tmp_path / "backups", tmp_path / "restored"
    main(["backup", str(root)])
    killed(data_dir, target, 1, "restore", str(root), "--into", str(restored))

    assert not restored.exists()
    assert main(["restore", str(root), "--into", str(restored)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backups", "restored"]


@pytest.mark.parametrize("harm", ["content", "missing content", "database", "key"])
def test_damage_of_a_backup_is_found_and_is_not_restored(
    data_dir: Path, tmp_path: Path, harm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    del data_dir
    root = tmp_path / "backups"
    main(["backup", str(root)])
    (generation,) = generations_in(root)
    content = blob_path(root / BLOBS, next(generation.blobs())[0])
    if harm == "content":
        content.write_bytes(b"?" * content.stat().st_size)
    elif harm == "missing content":
        content.unlink()
    else:
        path = generation.folder / {"database": "drive.db", "key": "secrets.key"}[harm]
        path.write_bytes(path.read_bytes()[:-20] + b"?" * 20)

    assert main(["backup", str(root), "--verify"]) == 1
    assert "The backup is damaged: 1 problems." in capsys.readouterr().err
    assert main(["restore", str(root), "--into", str(tmp_path / "restored")]) == 1
    assert not (tmp_path / "restored").exists()


def test_a_damaged_content_of_the_drive_fails_the_backup_with_its_name(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(data_dir, copy)
    path = next(path for path in (copy / "blobs").rglob("*") if len(path.name) == 64)
    path.write_bytes(b"?")
    code = run_with(copy, ["backup", str(tmp_path / "backups")])

    assert code == 1
    assert path.name in capsys.readouterr().err
    assert generations_in(tmp_path / "backups") == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_content_that_is_set_aside_is_backed_up_if_the_database_refers_to_it_and_left_out_if_not(
    data_dir: Path, tmp_path: Path, kind: str
) -> None:
    copy, root = tmp_path / "copy", tmp_path / "backups"
    shutil.copytree(data_dir, copy)
    path = next(path for path in (copy / "blobs").rglob("*") if len(path.name) == 64)
    aside = copy / "blobs" / FOLDER / kind
    aside.mkdir(parents=True, exist_ok=True)
    path.rename(aside / path.name)
    (aside / ("0" * 64)).write_bytes(b"referred to by nobody")

    assert run_with(copy, ["backup", str(root)]) == 0
    assert main(["backup", str(root), "--verify"]) == 0
    assert blob_path(root / BLOBS, path.name).is_file()
    assert not blob_path(root / BLOBS, "0" * 64).exists()


def run_with(data_dir: Path, arguments: list[str]) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DRIVE_DATA_DIR", str(data_dir))
        return main(arguments)


def test_a_restore_takes_an_empty_folder_only_or_gives_the_one_there_another_name(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, target = tmp_path / "backups", tmp_path / "restored"
    main(["backup", str(root)])
    target.mkdir()
    (target / "mine.txt").write_text("mine")

    assert main(["restore", str(root), "--into", str(target)]) == 1
    assert "is not empty" in capsys.readouterr().err
    assert main(["restore", str(root), "--into", str(target), "--force"]) == 0
    (moved,) = tmp_path.glob("restored.before-*")
    assert (moved / "mine.txt").read_text() == "mine"
    assert main(["restore", str(root)]) == 1
    assert f"A service runs on {data_dir}" in capsys.readouterr().err


def test_a_backup_of_a_newer_version_is_refused_with_a_sentence(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newer = tmp_path / "newer"
    newer.mkdir()
    shutil.copyfile(data_dir / "drive.db", newer / "drive.db")
    (newer / "blobs").symlink_to(data_dir / "blobs")
    with closing(sqlite3.connect(newer / "drive.db")) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999_later'")
    assert run_with(newer, ["backup", str(tmp_path / "backups")]) == 0

    assert main(["restore", str(tmp_path / "backups"), "--into", str(tmp_path / "restored")]) == 1
    assert "was made by a newer version of drive-agent" in capsys.readouterr().err


def test_a_backup_of_an_older_version_is_migrated(tmp_path: Path) -> None:
    older, restored = tmp_path / "older", tmp_path / "restored"
    older.mkdir()
    engine = create_engine(f"sqlite:///{older / 'drive.db'}")
    with engine.begin() as connection:
        command.upgrade(SCHEMA.config(connection), "0007")
    engine.dispose()
    assert run_with(older, ["backup", str(tmp_path / "backups")]) == 0

    assert run_with(restored, ["restore", str(tmp_path / "backups")]) == 0
    with closing(sqlite3.connect(restored / "drive.db")) as connection:
        (version,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    assert version == SCHEMA.newest_version()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"AGENT_THREADS_URL": "postgresql://x/y"}, "pg_dump"),
        ({"DRIVE_BLOB_URL": "s3://bucket/prefix"}, "rclone copy"),
    ],
)
def test_a_drive_in_files_with_a_part_elsewhere_has_other_tools_and_the_command_says_which(
    data_dir: Path,
    tmp_path: Path,
    settings: dict[str, str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    del data_dir
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert main(["backup", str(tmp_path / "backups")]) == 1
    assert said in capsys.readouterr().err


def test_a_backup_into_the_data_directory_is_refused(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backup", str(data_dir / "backups")]) == 1
    assert "lie in one another" in capsys.readouterr().err
