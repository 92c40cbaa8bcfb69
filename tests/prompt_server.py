"""uvicorn, which notices at once that it is to end: its own loop looks ten times a second."""

from __future__ import annotations

import asyncio

import uvicorn

PAUSE_SECONDS = 0.005


class PromptServer(uvicorn.Server):
    """A server that is started and ended for a test."""

    async def main_loop(self) -> None:
        """Return once it is to end."""
        await self.on_tick(0)
        while not self.should_exit:  # noqa: ASYNC110 - whoever ends it sets an attribute, as uvicorn has it
            await asyncio.sleep(PAUSE_SECONDS)
