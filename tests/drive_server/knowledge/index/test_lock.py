from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from drive_server.knowledge.index.lock import WriterLock
from tests.fakes.file_locks import USE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("file_locks")

HOLD = f"""{USE}
import sys
from pathlib import Path
from drive_server.knowledge.index.lock import WriterLock
print(WriterLock(Path(sys.argv[1])).acquire(), flush=True)
sys.stdin.read()
"""


def test_only_one_holds_the_lock(tmp_path: Path) -> None:
    one, other = WriterLock(tmp_path / "data" / "index.lock"), WriterLock(tmp_path / "data" / "index.lock")
    assert one.acquire()
    assert not other.acquire()
    assert (one.is_held, other.is_held) == (True, False)
    one.release()
    assert other.acquire()
    other.release()


def test_the_holder_may_take_it_again_and_lets_go_as_often(tmp_path: Path) -> None:
    one, other = WriterLock(tmp_path / "index.lock"), WriterLock(tmp_path / "index.lock")
    assert one.acquire()
    assert one.acquire()
    one.release()
    assert not other.acquire()
    one.release()
    assert other.acquire()
    other.release()


@pytest.mark.story
def test_a_process_that_is_killed_lets_go_of_it(tmp_path: Path) -> None:
    path = tmp_path / "index.lock"
    lock = WriterLock(path)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"True\n"
        assert not lock.acquire()
        holder.kill()
    assert lock.acquire()
    lock.release()
