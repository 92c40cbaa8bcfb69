"""The garbage collector of a server's process: paused while it starts, and blind to objects alive by then."""

import gc
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

REFREEZE_SECONDS: Final = 60.0
YOUNG_OBJECTS: Final = 20_000
"""New objects between two young collections: a few megabytes."""


@contextmanager
def paused_collector() -> Generator[None]:
    """Import and build without collections: nearly all of it stays, and looking at it again takes a sixth of a start.

    `freeze_objects` ends the pause earlier.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def freeze_objects() -> None:
    """Leave everything that is alive out of collections; again, after a collection, when late imports are done."""
    import asyncio

    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
    gc.enable()
    asyncio.get_running_loop().call_later(REFREEZE_SECONDS, _freeze_again)


def _freeze_again() -> None:
    gc.collect()
    gc.freeze()
