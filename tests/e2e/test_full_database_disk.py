"""The disk of the database's server is full, for real: requests are refused with a sentence, and runs have an end."""

from __future__ import annotations

import os
import subprocess
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.api.command_model import command
from tests.api.real_service import RealService
from tests.api.storage.postgres_server import running_server
from tests.databases import async_url
from tests.e2e.stopped import GATE, WAIT, GatedModel

if TYPE_CHECKING:
    from collections.abc import Generator

    import httpx

    from tests.e2e.person import Person

pytestmark = [
    pytest.mark.story,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small disk that the server's own user sees"),
]

MANY: Final = 2000
TABLES_MB: Final = 40
LOG_MB: Final = 60
PARTS: Final = ("part 1", "part 2", "part 3")


class SmallDisk:
    """A disk of its own, which can be filled to the last byte."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self.folder = folder
        self._filling = folder / "filling"
        options = f"size={megabytes}m,mode=0755"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True)

    def fill(self) -> None:
        """Leave no room."""
        descriptor = os.open(self._filling, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        try:
            while True:
                os.write(descriptor, bytes(4096))
        except OSError:
            os.close(descriptor)

    def make_room(self) -> None:
        """Have all room again that was free."""
        self._filling.unlink()

    def remove(self) -> None:
        """Unmount it."""
        subprocess.run(["umount", "--lazy", self.folder], check=True)


@contextmanager
def small_disk(megabytes: int) -> Generator[SmallDisk]:
    with TemporaryDirectory(prefix="pg-") as folder:
        Path(folder).chmod(0o755)
        (disk_folder := Path(folder) / "disk").mkdir()
        disk = SmallDisk(disk_folder, megabytes)
        try:
            yield disk
        finally:
            disk.remove()


@contextmanager
def serving(tmp_path: Path, url: str) -> Generator[Person]:
    options: Any = {"database_url": async_url(url), "blob_url": (tmp_path / "blobs").as_uri()}
    service = RealService(tmp_path / "data", GatedModel(gate=tmp_path / GATE), **options).start()
    try:
        with closing(service.owner()) as person:
            yield person
    finally:
        service.stop()


def make_folders(person: Person, name: str) -> tuple[list[str], httpx.Response]:
    """Make folders until one is refused; return the names of those that were made, and the refusal."""
    made: list[str] = []
    for number in range(MANY):
        body = {"kind": "folder", "name": f"{name} {number} {'x' * 200}", "parent_id": "root"}
        response = person.http.post("/api/drive/items", json=body)
        if not response.is_success:
            return made, response
        made.append(body["name"])
    raise AssertionError("there is still room")


def names(person: Person) -> list[str]:
    """Return all names in the drive's root."""
    found: list[str] = []
    cursor = ""
    while True:
        page = person.get("/api/drive/items/root/children", limit="200", **({"cursor": cursor} if cursor else {}))
        found += [item["name"] for item in page["items"]]
        cursor = page.get("next_cursor") or ""
        if not cursor:
            return found


def test_without_room_for_the_tables_nothing_is_half_done_and_a_run_has_its_end(tmp_path: Path) -> None:
    message = "\n".join([*(command("create_folder", name=part) for part in PARTS), WAIT])
    with (
        small_disk(TABLES_MB) as disk,
        running_server() as server,
        serving(tmp_path, server.new_database_in(disk.folder / "tables")) as person,
    ):
        with person.chat(message) as turn:
            turn.until("run")
            disk.fill()
            made, refused = make_folders(person, "Full")
            assert (refused.status_code, refused.json()["code"]) == (507, "storage_failure")
            assert "disk of the database's server" in refused.json()["hint"]
            upload = person.http.post("/api/drive/files", params={"name": "a.txt", "parent_id": "root"}, content=b"a")
            assert upload.status_code == 507
            assert sorted(names(person)) == sorted(made)
            (tmp_path / GATE).touch()
            disk.make_room()
            last = turn.until("done", "error")
        assert len(last["changes"]) == len({*PARTS} & {*names(person)}), last
        person.folder("After")
        with person.chat(command("create_folder", name="By a later run")) as turn:
            assert len(turn.finish()["changes"]) == 1


def test_without_room_for_the_log_of_the_server_the_database_is_away_until_there_is_some(tmp_path: Path) -> None:
    with (
        small_disk(LOG_MB) as disk,
        running_server(disk.folder) as server,
        serving(tmp_path, server.new_database()) as person,
    ):
        person.folder("Before")
        disk.fill()
        server.write_log()
        made, refused = make_folders(person, "Full")
        assert (refused.status_code, refused.json()["code"], made) == (503, "database_away", [])
        disk.make_room()
        server.start_again()
        person.folder("After")
        assert sorted(names(person)) == ["After", "Before"]
        with person.chat(command("create_folder", name="By a later run")) as turn:
            assert len(turn.finish()["changes"]) == 1
