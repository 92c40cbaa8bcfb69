"""rclone, as Debian has it: synchronised both ways, checked, mounted."""

from __future__ import annotations

import os
import shlex
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL
from typing import TYPE_CHECKING

import anyio
import pytest

from tests.conformance.webdav.programs import program
from tests.drive_server.http.service import Service, running

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from drive_server.kernel.settings import DriveSettings

FILES = {
    "plain.txt": b"plain",
    "empty.txt": b"",
    "报告/2026 年.md": "内容".encode(),
    "deep/er/100% #1?;&+.txt": b"odd",
    "deep/😀.bin": bytes(range(256)) * 4096,
    ".hidden": b"dot",
}
MOUNT_SECONDS = 30
CLIENTS = Path(__file__).parents[3] / "docs" / "CLIENTS.md"


@dataclass(frozen=True, slots=True)
class Rclone:
    """Runs rclone with a remote `drive:`, which is the folder `sync` of the drive."""

    environment: dict[str, str]
    folder: Path

    async def __call__(self, *arguments: str) -> str:
        """Run it, and return what it printed."""
        command = [program("rclone"), *arguments]
        outcome = await anyio.run_process(command, env=self.environment, cwd=self.folder, check=False)
        assert outcome.returncode == 0, (arguments, outcome.stderr.decode())
        return outcome.stdout.decode()


@pytest.fixture
async def service(drive_settings: DriveSettings) -> AsyncIterator[Service]:
    async with running(drive_settings) as service:
        yield service


@pytest.fixture
async def rclone(service: Service, tmp_path: Path) -> Rclone:
    command = [program("rclone"), "obscure", service.token]
    obscured = (await anyio.run_process(command, env={"HOME": str(tmp_path)})).stdout.decode().strip()
    settings = {"TYPE": "webdav", "URL": f"{service.url}/dav", "VENDOR": "owncloud", "USER": "x", "PASS": obscured}
    environment = {f"RCLONE_CONFIG_DRIVE_{name}": value for name, value in settings.items()}
    cache = {"RCLONE_CACHE_DIR": str(tmp_path / "cache"), "RCLONE_RETRIES": "1", "RCLONE_LOW_LEVEL_RETRIES": "1"}
    return Rclone({**environment, **cache, "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}, tmp_path)


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def read(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_a_folder_is_synchronised_both_ways_and_checked(rclone: Rclone) -> None:
    here, back = rclone.folder / "here", rclone.folder / "back"
    write(here, FILES)
    await rclone("sync", "here", "drive:sync")
    await rclone("check", "--download", "here", "drive:sync")
    await rclone("sync", "drive:sync", "back")
    assert read(back) == FILES
    changed = {"plain.txt": b"PLAIN", "new/file.txt": b"new"}
    write(here, changed)
    # Of the same size as before, and of another second: what tells that it changed is its time.
    os.utime(here / "plain.txt", (2_000_000_000, 2_000_000_000))
    (here / ".hidden").unlink()
    await rclone("sync", "here", "drive:sync")
    await rclone("moveto", "drive:sync/plain.txt", "drive:sync/deep/moved.txt")
    await rclone("copyto", "drive:sync/deep/😀.bin", "drive:sync/copied.bin")
    await rclone("sync", "drive:sync", "back")
    expected = {**FILES, **changed, "copied.bin": FILES["deep/😀.bin"], "deep/moved.txt": b"PLAIN"}
    assert read(back) == {name: data for name, data in expected.items() if name not in {".hidden", "plain.txt"}}
    assert (back / "deep/moved.txt").stat().st_mtime == 2_000_000_000
    assert "Used" in await rclone("about", "drive:")


async def test_contents_are_compared_by_checksums_and_dates_go_both_ways(rclone: Rclone) -> None:
    here, back = rclone.folder / "here", rclone.folder / "back"
    write(here, {"old.txt": b"one", "same.txt": b"same"})
    for name, seconds in (("old.txt", 981169506), ("same.txt", -157766400)):
        os.utime(here / name, (seconds, seconds))
    await rclone("copy", "--checksum", "here", "drive:sync")
    there, local = [await rclone("hashsum", "SHA1", where) for where in ("drive:sync", "here")]
    assert sorted(there.splitlines()) == sorted(local.splitlines())
    await rclone("check", "here", "drive:sync")
    write(here, {"old.txt": b"two"})
    os.utime(here / "old.txt", (981169506, 981169506))
    # Of the same size and the same second: only its checksum tells that it changed.
    await rclone("sync", "--checksum", "here", "drive:sync")
    assert await rclone("cat", "drive:sync/old.txt") == "two"
    await rclone("copy", "drive:sync", "back")
    for name in ("old.txt", "same.txt"):
        assert (back / name).stat().st_mtime == (here / name).stat().st_mtime
    os.utime(here / "old.txt", (1_000_000_000, 1_000_000_000))
    await rclone("sync", "here", "drive:sync")
    assert (await rclone("lsf", "--format", "t", "--files-only", "drive:sync", "--include", "old.txt")).startswith(
        "2001-09-09"
    )


async def test_the_command_of_the_documents_connects_it(service: Service, rclone: Rclone) -> None:
    (line,) = [line for line in CLIENTS.read_text().splitlines() if line.strip().startswith("rclone config create")]
    line = line.replace("http://127.0.0.1:8000", service.url).replace("KEY", service.token)
    name = "documented"
    await rclone(*shlex.split(line.replace("create drive", f"create {name}"))[1:])
    await rclone("mkdir", f"{name}:by the documents")
    assert "by the documents/" in await rclone("lsf", f"{name}:")


async def test_bisync_carries_changes_of_both_sides(rclone: Rclone) -> None:
    here, other = rclone.folder / "here", rclone.folder / "other"
    write(here, {"a.txt": b"a", "b.txt": b"bb", "RCLONE_TEST": b""})
    await rclone("mkdir", "drive:sync")
    await rclone("bisync", "here", "drive:sync", "--resync")
    write(here, {"from here.txt": b"1"})
    write(other, {"from there.txt": b"2"})
    await rclone("copy", "other", "drive:sync")
    await rclone("bisync", "here", "drive:sync")
    (here / "a.txt").unlink()
    await rclone("bisync", "here", "drive:sync")
    names = {"b.txt", "from here.txt", "from there.txt", "RCLONE_TEST"}
    assert set(read(here)) == names
    assert set((await rclone("lsf", "drive:sync")).split("\n")) - {""} == names


@asynccontextmanager
async def mounted(rclone: Rclone, where: Path) -> AsyncGenerator[None]:
    where.mkdir()  # noqa: ASYNC240 - at once
    command = [program("rclone"), "mount", "drive:sync", str(where), "--read-only"]
    async with await anyio.open_process(command, env=rclone.environment, stdout=DEVNULL) as process:
        try:
            with anyio.fail_after(MOUNT_SECONDS):
                while not os.path.ismount(where):  # noqa: ASYNC240 - another process mounts it
                    assert process.returncode is None, "rclone could not mount"
                    await anyio.sleep(0.05)
            yield
        finally:
            process.terminate()
            await process.wait()


async def test_a_mounted_drive_is_read_like_a_disk(rclone: Rclone) -> None:
    write(rclone.folder / "here", FILES)
    await rclone("sync", "here", "drive:sync")
    where = rclone.folder / "mount"
    async with mounted(rclone, where):
        assert await anyio.to_thread.run_sync(read, where) == FILES
        parts = await anyio.to_thread.run_sync(lambda: _part(where / "deep/😀.bin", 500_000, 100))
        assert parts == FILES["deep/😀.bin"][500_000:500_100]


def _part(path: Path, start: int, length: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(length)
