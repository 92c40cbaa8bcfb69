"""What the tests of LangGraph's API say to the service, and a model that waits where they want it to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import httpx
from langchain_core.messages import BaseMessage, HumanMessage
from langgraph_sdk.errors import NotFoundError

from tests.api.command_model import COMMAND, CommandModel, command
from tests.api.fakes import Gate
from tests.fakes.chat_model import words_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from langchain_core.outputs import ChatGenerationChunk

    from tests.e2e.person import Person

AGENT: Final = "drive_agent"
NOT_FOUND: Final = (NotFoundError, httpx.HTTPStatusError)
"""Where the client waits for values it raises the second one."""
WAIT: Final = "wait here"
HELD: Final = "held "


def said(text: str, **more: Any) -> dict[str, Any]:
    """Return the input of a run that says something."""
    return {"messages": [{"type": "human", "content": text}], **more}


def new_thread(client: Any) -> str:
    """Make a thread, and return its id."""
    return client.threads.create()["thread_id"]


def texts(values: Any) -> list[tuple[str, str]]:
    """Return the messages of values as type and text."""
    return [(message["type"], message["content"]) for message in values["messages"]]


def asks(client: Any, owner: Person, name: str) -> tuple[str, dict[str, Any]]:
    """Have a file deleted, which asks; return the thread and the interrupt."""
    file = owner.upload(name, "x")
    thread_id = new_thread(client)
    values = client.runs.wait(thread_id, AGENT, input=said(command("trash_item", item_id=file["id"])))
    (interrupt,) = values["__interrupt__"]
    return thread_id, interrupt


class WaitingModel(CommandModel):
    """Waits at its gate before it answers a message, or a result, with `WAIT` in it; calls it makes at once."""

    gate: Any = None

    async def _astream(
        self, messages: list[BaseMessage], *given: Any, **options: Any
    ) -> AsyncGenerator[ChatGenerationChunk]:
        if "RouteDecision" not in options.get("offered", ()) and _waits(messages[-1]):
            await self.gate.wait()
        async for piece in super()._astream(messages, *given, **options):
            yield piece


class HoldingModel(CommandModel):
    """Stops before the word "held" of an answer while its gate is shut."""

    gate: Any = None

    async def _astream(
        self, messages: list[BaseMessage], *given: Any, **options: Any
    ) -> AsyncGenerator[ChatGenerationChunk]:
        async for piece in super()._astream(messages, *given, **options):
            if piece.message.text == HELD:
                await self.gate.wait()
            yield piece

    def hold(self) -> None:
        """Stop at the next word from now on."""
        self.gate = Gate()

    def release(self) -> None:
        """Let all go on."""
        self.gate.open()


def _waits(message: BaseMessage) -> bool:
    words = words_of(message)
    if isinstance(message, HumanMessage):
        # One that was not answered stands before the next one, in the same message.
        return words.strip().endswith(WAIT) and COMMAND.search(words) is None
    return WAIT in words
