"""Keeps the garbage collector from stopping everything to go through what never becomes garbage.

A full collection visits every object of the program, hundreds of thousands of them in its modules: 0.2 seconds in which
no request is answered. What is there when the server has started is left out from then on. And what a request makes is
mostly gone without the collector when it ends: looking for cycles among it every 700 objects, as Python does, takes a
fifth of the time when many are answered at once.
"""

import asyncio
import gc
from typing import Final

AGAIN_AFTER_SECONDS: Final = 60.0
YOUNG_OBJECTS: Final = 20_000
"""So many new objects are looked through at a time: a few megabytes."""


def spare_what_is_there() -> None:
    """Collect once, then leave everything that is alive out of collections; once more when late imports are done.

    From then on, young objects are collected more seldom.

    Call it on the event loop of the server, before requests come.
    """
    _spare()
    gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
    asyncio.get_running_loop().call_later(AGAIN_AFTER_SECONDS, _spare)


def _spare() -> None:
    gc.collect()
    gc.freeze()
