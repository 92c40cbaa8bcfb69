"""The memory of a process: freed memory that allocators keep, given back to the system, and no needless collections.

LanceDB works in a dozen threads and pyarrow has an allocator of its own. glibc gives each thread an arena, up to eight
times as many as there are cores, and keeps freed memory in it: so every upkeep of an index took more memory for good.
`python -m benchmarks.search.memory` measures it.
"""

import ctypes
import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any, Final

M_ARENA_MAX: Final = -8
"""The parameter of glibc's `mallopt` (malloc.h)."""

ARENAS: Final = 2
"""Threads that allocate at the same time wait for each other; most work is in other processes."""


def limit_arenas() -> None:
    """Have all threads share a few arenas. It has no effect once there are eight."""
    with suppress(OSError, AttributeError):  # only glibc has it
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)


def release_unused() -> None:
    """Return freed memory to the system. Blocks for milliseconds."""
    pyarrow: Any = sys.modules.get("pyarrow")
    if pyarrow is not None:
        pyarrow.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)


@contextmanager
def without_collections() -> Generator[None]:
    """Don't look for circles among thousands of cells, which have none. Not for two threads at once.

    That took half of the time of a table, and a tenth of that of a page.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
