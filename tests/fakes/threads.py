from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def at_once(count: int, work: Callable[[], None]) -> None:
    """Run the work in so many threads, all let go at the same moment; the first error is raised."""
    gate = Barrier(count)

    def run() -> None:
        gate.wait()
        work()

    with ThreadPoolExecutor(count) as pool:
        for future in [pool.submit(run) for _ in range(count)]:
            future.result()
