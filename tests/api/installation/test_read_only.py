"""Each file and folder of the data directory that may only be read, at the start and while the service runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

from tests.e2e.person import Person
from tests.e2e.read_only import can_mount, mount_read_only
from tests.e2e.service import ADDRESS, Service
from tests.e2e.waiting import wait_until_indexed
from tests.forked import Forked

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

pytestmark = [
    pytest.mark.story,
    pytest.mark.skipif(not can_mount(), reason="needs the right to mount in a namespace"),
]

PROGRAM: Final = "tests.e2e.read_only"
REFUSED: Final = ("drive.db", "api.db", "graph.db", "store.db", "blobs", "index", "index.lock")
ONLY_READ: Final = ("token", "secrets.key", "housekeeping.lock")
SAYS: Final = "may only be read, not written."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory that was in use."""
    service = Service(tmp_path_factory.mktemp("made") / "data", {"DRIVE_EMBEDDING_MODEL": "none"})
    service.data_dir.mkdir()
    service.start()
    person = service.owner()
    person.upload("a.txt", "kept")
    wait_until_indexed(person)  # the index's folder is made with its first file
    with person.chat("what can you do?") as turn:
        turn.finish()
    person.close()
    service.stop()
    (service.data_dir / "housekeeping.lock").touch()
    return service.data_dir


@pytest.fixture
def data(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "data")


@contextmanager
def started(data: Path, *read_only: Path) -> Generator[tuple[Forked, Path]]:
    printed = data.with_suffix(".printed")
    printed.write_bytes(b"")
    environment = {**os.environ, "DRIVE_DATA_DIR": str(data), "DRIVE_EMBEDDING_MODEL": "none", "NO_COLOR": "1"}
    words = [*map(str, read_only), "--", "serve", "--port", "0"]
    with Forked(PROGRAM, words, environment, output=printed) as process:
        try:
            yield process, printed
        finally:
            process.kill()


def address(process: Forked, printed: Path) -> str:
    while not (found := ADDRESS.search(printed.read_bytes())):
        assert process.poll() is None, printed.read_text()
        time.sleep(0.05)
    return found.group(0).decode()


def is_kept(data: Path) -> None:
    with started(data) as (process, printed):
        person = Person.owner(address(process, printed), data)
        item = next(item for item in person.children() if item["name"] == "a.txt")
        assert person.content(item["id"]) == "kept"
        assert person.get("/readyz")["status"] == "ready"
        person.close()


@pytest.mark.parametrize("name", REFUSED)
def test_a_start_refuses_a_part_that_may_only_be_read_with_one_sentence(data: Path, name: str) -> None:
    with started(data, data / name) as (process, printed):
        assert process.wait(120) == 1
    said = printed.read_text()
    assert SAYS in said
    assert name.removesuffix(".lock") in said
    assert "Traceback" not in said
    if name in {"drive.db", "blobs"}:
        is_kept(data)


def test_files_that_need_not_be_written_may_only_be_read(data: Path) -> None:
    with started(data, *(data / name for name in ONLY_READ)) as (process, printed):
        person = Person.owner(address(process, printed), data)
        person.upload("b.txt", "x")
        assert person.get("/readyz")["status"] == "ready"
        person.close()
    assert "Traceback" not in printed.read_text()


def test_a_data_directory_that_may_only_be_read_is_said(data: Path) -> None:
    with started(data, data) as (process, printed):
        assert process.wait(120) == 1
    assert "can't be used: Read-only file system" in printed.read_text()
    assert "Traceback" not in printed.read_text()


@pytest.mark.parametrize("name", REFUSED[:-1])
def test_what_may_only_be_read_while_it_runs_is_told_and_loses_nothing(data: Path, name: str) -> None:
    with started(data) as (process, printed):
        person = Person.owner(address(process, printed), data)
        inside = ["nsenter", "-t", str(process.pid), "-m"]
        mount_read_only(str(data / name), *inside)
        state = person.http.get("/readyz")
        person.http.post("/api/drive/files", params={"name": "b.txt"}, content=b"x")
        with person.chat("create a folder X") as turn:
            turn.until("done", "error")
        if name == "index":
            assert (state.status_code, state.json()["checks"]["index"]) == (200, "read_only")
        else:
            assert (state.status_code, f"{name} {SAYS}" in state.text) == (503, True)
        assert str(data) not in state.text
        subprocess.run([*inside, "umount", "--lazy", str(data / name)], check=True)
        assert person.get("/readyz")["status"] == "ready"
        person.close()
    assert "Traceback" not in printed.read_text()
    if name in {"drive.db", "blobs"}:
        is_kept(data)
