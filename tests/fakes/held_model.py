"""A scripted model whose stream stops in the middle until a test lets it go on."""

import asyncio
import re
from collections.abc import AsyncGenerator
from threading import Event
from typing import Any, Final

from httpx import RemoteProtocolError
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from pydantic import PrivateAttr

from tests.fakes.chat_model import ScriptedChatModel

HOLD: Final = "[hold]"
"""Where a text stops; no part of what is said."""
BREAK: Final = "[break]"
"""Where the connection to the model is lost; no part of what is said."""
LONGEST: Final = 30.0
"""Seconds; a test that forgets to release its model ends all the same."""


class HeldModel(ScriptedChatModel):
    """Stops at each `HOLD` of a line until `release`; the service goes on meanwhile."""

    _gate: Event = PrivateAttr(default_factory=Event)

    def release(self) -> None:
        """Let the stream go on, from here to its end."""
        self._gate.set()

    def hold(self) -> None:
        """Stop at the next `HOLD`."""
        self._gate.clear()

    def _pieces(self, text: str) -> list[str]:
        return re.findall(r"\[hold\]|\[break\]|[^\s\[]+\s*|\s+|\[", text)

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncGenerator[ChatGenerationChunk]:
        async for chunk in super()._astream(messages, *args, **kwargs):
            if chunk.message.text == BREAK:
                raise RemoteProtocolError("the connection was closed in the middle")
            if chunk.message.text != HOLD:
                yield chunk
                continue
            await asyncio.to_thread(self._gate.wait, LONGEST)
