"""uvicorn, which notices at once that it is to end: its own loop looks ten times a second."""

from __future__ import annotations

import asyncio

import uvicorn

PAUSE_SECONDS = 0.005
PAUSES = 100
"""Between two looks at the clock, for the `Date` of the answers."""


class PromptServer(uvicorn.Server):
    """A server that is started and ended for a test."""

    async def main_loop(self) -> None:
        """Return once it is to end."""
        pauses = 0
        while not self.should_exit:
            if pauses % PAUSES == 0:
                await self.on_tick(0)
            pauses += 1
            await asyncio.sleep(PAUSE_SECONDS)
