from __future__ import annotations

from threading import Event, Thread
from typing import TYPE_CHECKING

import portalocker
import portalocker.portalocker
import pytest
from portalocker.portalocker import BaseLocker

from drive_server.kernel.files.file_locks import try_lock, wait_for_lock

if TYPE_CHECKING:
    from pathlib import Path

    from portalocker.types import FileArgument

pytestmark = pytest.mark.usefixtures("file_locks")


def test_one_has_the_lock_alone_until_the_file_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("a+") as one, path.open("a+") as other:
        assert try_lock(one)
        assert not try_lock(other)
        assert not try_lock(other, shared=True)
        one.close()
        assert try_lock(other)


def test_several_share_one_that_is_shared(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("a+") as one, path.open("a+") as other, path.open("a+") as third:
        assert try_lock(one, shared=True)
        wait_for_lock(other, shared=True)
        assert not try_lock(third)


def test_a_wait_ends_when_the_holder_lets_go(tmp_path: Path) -> None:
    path, done = tmp_path / "lock", Event()

    def wait() -> None:
        with path.open("a+") as file:
            wait_for_lock(file)
            done.set()

    with path.open("a+") as holder:
        assert try_lock(holder)
        waiting = Thread(target=wait)
        waiting.start()
        assert not done.wait(0.05)
    waiting.join(10)
    assert done.is_set()


class Failing(BaseLocker):
    """Locks nothing: as Windows after ten seconds, then as a file system without locks."""

    def __init__(self) -> None:
        self.failures: list[Exception] = [portalocker.AlreadyLocked("10 s"), portalocker.LockException("no locks")]

    def lock(self, file_obj: FileArgument, flags: portalocker.LockFlags) -> None:
        del file_obj, flags
        raise self.failures.pop(0)


def test_a_wait_that_the_system_gives_up_goes_on_and_a_real_failure_is_an_error_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portalocker.portalocker, "LOCKER", Failing())

    with (tmp_path / "lock").open("a+") as file, pytest.raises(OSError, match="no locks"):
        wait_for_lock(file)
