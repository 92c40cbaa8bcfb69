"""Processes for work that takes memory: they answer, they stay as long as they should, and they end."""

from __future__ import annotations

import os
import pickle
import signal
from io import BytesIO
from operator import add
from typing import TYPE_CHECKING

import pytest

from drive_server.knowledge import process as process_module
from drive_server.knowledge.process import ChildProcess, ProcessCrashedError, serve

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

LONG_SECONDS = 600.0


@pytest.fixture
def child() -> Iterator[ChildProcess]:
    child = ChildProcess("test")
    yield child
    child.end()


def ended(child: ChildProcess) -> int:
    """Return how the child's process ended, when it has."""
    process: subprocess.Popen[bytes] | None = child._process  # pyright: ignore[reportPrivateUsage] - there is no other
    assert process
    return process.wait(60)


def test_one_process_does_all_the_work(child: ChildProcess) -> None:
    assert child.call(LONG_SECONDS, add, "a", "b") == "ab"
    first, second = (child.call(LONG_SECONDS, os.getpid) for _ in range(2))
    assert first == second != os.getpid()


def test_an_idle_process_ends_by_itself(child: ChildProcess) -> None:
    child.call(0, os.getpid)
    assert ended(child) == -signal.SIGALRM
    with pytest.raises(ProcessCrashedError):
        child.call(0, os.getpid)


def test_work_that_keeps_the_process_longer_outlasts_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[float] = []
    monkeypatch.setattr(process_module, "_end_after", ends.append)
    asked = b"".join(pickle.dumps((seconds, add, (1, 2))) for seconds in (LONG_SECONDS, 0, 2 * LONG_SECONDS))
    serve(BytesIO(asked), BytesIO())
    during, after = ends[::2], ends[1::2]
    assert during == [0, 0, 0]
    assert after == pytest.approx([LONG_SECONDS, LONG_SECONDS, 2 * LONG_SECONDS], rel=0.1)


def test_a_file_that_can_not_be_opened_is_that_error(child: ChildProcess) -> None:
    with pytest.raises(FileNotFoundError):
        child.call(LONG_SECONDS, os.stat, "/nowhere")
    assert child.call(LONG_SECONDS, add, 1, 2) == 3


def test_a_process_that_was_ended_takes_no_more_work(child: ChildProcess) -> None:
    child.call(LONG_SECONDS, os.getpid)
    child.end()
    with pytest.raises(ProcessCrashedError):
        child.call(LONG_SECONDS, os.getpid)
