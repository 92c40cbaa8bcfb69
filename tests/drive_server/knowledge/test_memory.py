"""Freed memory goes back to the system, and threads share the arenas that hold it."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from drive_server.knowledge.memory import ARENAS, release_unused, without_collections

pytestmark = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux's /proc")

BLOCKS = 40_000
BLOCK_BYTES = 1_000
THREADS = """
import ctypes, os, threading
from drive_server.knowledge.memory import limit_arenas

{begin}
everybody = threading.Barrier(7)

def allocate():
    block = bytes(10_000)
    everybody.wait()
    everybody.wait()

for _ in range(6):
    threading.Thread(target=allocate).start()
everybody.wait()
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
everybody.wait()
"""


def resident_bytes() -> int:
    """Return the memory of this process."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Rss:"))


def arenas_of_six_threads(begin: str) -> int:
    """Return how many arenas a process has in which six threads allocate at the same time."""
    code = THREADS.format(begin=begin)
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    return shown.count("<heap nr=")


def test_what_was_freed_between_blocks_that_stay_goes_back_to_the_system() -> None:
    blocks = [bytes(BLOCK_BYTES) for _ in range(BLOCKS)]
    last = bytes(BLOCK_BYTES)
    blocks.clear()
    before = resident_bytes()

    release_unused()

    assert before - resident_bytes() > BLOCKS * BLOCK_BYTES // 2
    assert len(last) == BLOCK_BYTES


def test_threads_share_a_few_arenas() -> None:
    assert arenas_of_six_threads("limit_arenas()") <= ARENAS
    assert arenas_of_six_threads("pass") > ARENAS


def fail_without_collections() -> None:
    with without_collections():
        assert not gc.isenabled()
        with without_collections():
            pass
        assert not gc.isenabled()
        raise KeyError


def test_no_circles_are_looked_for_while_cells_are_read_and_they_are_again_after_a_failure() -> None:
    assert gc.isenabled()
    with pytest.raises(KeyError):
        fail_without_collections()
    assert gc.isenabled()
