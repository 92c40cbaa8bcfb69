"""Keeps the garbage collector from stopping everything to go through what never becomes garbage.

A full collection visits every object of the program, hundreds of thousands of them in its modules: 0.2 seconds in which
no request is answered. What is there when the server has started is left out from then on.
"""

import asyncio
import gc
from typing import Final

AGAIN_AFTER_SECONDS: Final = 60.0


def spare_what_is_there() -> None:
    """Collect once, then leave everything that is alive out of collections; once more when late imports are done.

    Call it on the event loop of the server, before requests come.
    """
    _spare()
    asyncio.get_running_loop().call_later(AGAIN_AFTER_SECONDS, _spare)


def _spare() -> None:
    gc.collect()
    gc.freeze()
