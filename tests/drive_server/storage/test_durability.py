"""Disks that are full and disks that fail, for real: what was acknowledged stays, what was not is refused."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

pytestmark = [pytest.mark.story, pytest.mark.sqlite("the disk is that of the process; PostgreSQL has its own")]

ROOT = Path(__file__).parents[3]
STORE = (sys.executable, "-m", "tests.drive_server.storage.store_process")
DISK = "8m"
MOUNTED = 'mount -t tmpfs -o size="$0",mode=700 tmpfs "$1" && shift && exec "$@"'


@dataclass
class Other:
    """The store in another process."""

    process: subprocess.Popen[str]

    def tell(self, *command: Any) -> Any:
        """Have it do something, and return its answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self) -> Any:
        """Return the next thing that it says."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the store ended with {self.process.wait()}"
        return json.loads(line)


@contextmanager
def store_in(folder: Path, prefix: Sequence[str] = ()) -> Generator[Other]:
    command = [*prefix, *STORE, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        other = Other(process)
        try:
            assert other.answer() == "ready"
            yield other
        finally:
            process.kill()


def impossible(reason: str) -> None:
    """Skip where this machine can't do it; in CI that is a failure: there it has to be tried."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def small_disk(tmp_path: Path) -> Sequence[str]:
    """The beginning of a command that runs with a small disk of its own at `tmp_path / "disk"`."""
    (tmp_path / "disk").mkdir()
    prefix = ["unshare", "-rm", "sh", "-c", MOUNTED, DISK, str(tmp_path / "disk")]
    if shutil.which("unshare") is None or subprocess.run([*prefix, "true"], check=False).returncode != 0:
        impossible("a disk can't be mounted here (unshare -rm)")
    return prefix


@contextmanager
def watched_store_in(folder: Path) -> Generator[Other]:
    """Yield a store whose system calls are seen, and fail when it is told so."""
    with store_in(folder) as other:
        if (said := other.tell("watch")) != "ok":
            impossible(f"system calls can't be filtered here: {said}")
        yield other


def leftovers(folder: Path) -> list[Path]:
    return list((folder / "store" / "blobs" / ".incoming").iterdir())


@pytest.mark.parametrize("left", [0, 16_384, 65_536, 400_000])
def test_a_full_disk_refuses_and_loses_nothing(small_disk: Sequence[str], tmp_path: Path, left: int) -> None:
    with store_in(tmp_path / "disk", small_disk) as other:
        kept = {"first.txt": "before"}
        assert other.tell("write", "first.txt", "before") == "ok"
        other.tell("fill", left)
        answers: list[str] = []
        while answers[-3:] != ["storage_failure"] * 3:
            name, text = f"{len(answers)}.txt", f"{len(answers)} " * 1000
            answers.append(other.tell("write", name, text))
            if answers[-1] == "ok":
                kept[name] = text

        assert set(answers) <= {"ok", "storage_failure"}
        assert other.tell("read") == kept
        other.tell("free")
        assert other.tell("write", "after.txt", "works again") == "ok"
        kept["after.txt"] = "works again"
        assert other.tell("read") == kept
        assert other.tell("reopen") == "ready"
        assert other.tell("read") == kept


@pytest.mark.parametrize("calls", [["fsync"], ["fdatasync"], ["fsync", "fdatasync"]], ids="-".join)
def test_a_disk_that_fails_to_sync_refuses_and_loses_nothing(tmp_path: Path, calls: list[str]) -> None:
    with watched_store_in(tmp_path) as other:
        assert other.tell("write", "first.txt", "before") == "ok"
        other.tell("fail", calls, 1)
        answers = [other.tell("write", name, "new") for name in ("first.txt", "second.txt", "third.txt")]
        seen = other.tell("read")
        other.tell("fail", [], 1)

        assert answers == ["storage_failure"] * 3
        assert seen == {"first.txt": "before"}
        assert leftovers(tmp_path) == []
        assert other.tell("write", "after.txt", "works again") == "ok"
        other.process.kill()

    with store_in(tmp_path) as other:
        assert other.tell("read") == {"first.txt": "before", "after.txt": "works again"}


def test_a_disk_that_fails_now_and_then_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    kept: dict[str, str] = {}
    with watched_store_in(tmp_path) as other:
        other.tell("fail", ["fsync", "fdatasync"], 5)
        for number in range(30):
            if other.tell("write", f"{number % 10}.txt", f"text {number}") == "ok":
                kept[f"{number % 10}.txt"] = f"text {number}"
        other.tell("fail", [], 1)
        assert len(kept) > 0
        assert other.tell("read") == kept
        # SQLite finds a refused commit again after a crash, until the next one takes its place in the log.
        assert other.tell("write", "0.txt", "works again") == "ok"
        kept["0.txt"] = "works again"
        other.process.kill()

    with store_in(tmp_path) as other:
        assert other.tell("read") == kept


def test_the_content_is_on_the_disk_before_the_database_says_so(tmp_path: Path) -> None:
    with watched_store_in(tmp_path) as other:
        assert other.tell("write", "a.txt", "a content") == "ok"
        lines = [f"{name} {path}" for name, path in other.tell("seen")]

    blobs = re.escape(str(tmp_path / "store" / "blobs"))
    steps = [
        rf"fsync {blobs}/\.incoming/",
        rf"rename\w* {blobs}/\w\w/",
        rf"fsync {blobs}/\w\w/\w\w$",
        rf"fsync {blobs}/\w\w$",
        rf"fsync {blobs}$",
        rf"f(data)?sync {re.escape(str(tmp_path))}/store/drive\.db-wal$",
    ]
    found = [next((number for number, line in enumerate(lines) if re.search(step, line)), None) for step in steps]
    assert None not in found, (steps, lines)
    assert found == sorted(number for number in found if number is not None)
