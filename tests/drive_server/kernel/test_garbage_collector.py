"""The settings of the garbage collector, tested in a separate process because they hold for a whole process."""

import subprocess
import sys

CODE = """
import asyncio, gc, weakref
from drive_server.kernel.garbage_collector import YOUNG_OBJECTS, freeze_objects

class Cycle:
    def __init__(self):
        self.me = self

async def main():
    freeze_objects()
    assert gc.get_freeze_count() > 1000
    assert gc.get_threshold()[0] == YOUNG_OBJECTS
    gone = weakref.ref(Cycle())
    assert gone() is not None
    kept = [[] for _ in range(YOUNG_OBJECTS + 1000)]
    assert gone() is None, len(kept)

asyncio.run(main())
"""


def test_what_was_there_is_left_alone_and_what_comes_is_still_collected() -> None:
    subprocess.run([sys.executable, "-c", CODE], check=True, timeout=60)
