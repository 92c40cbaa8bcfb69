"""A host that lends its language model, as tests play it, with its requests and its replies."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from mcp.types import CreateMessageRequestParams, CreateMessageResult, ErrorData, TextContent

from drive_server.connect import in_process_session
from tests.drive_server.hosts import Host

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

    Answer = str | CreateMessageResult | ErrorData | Callable[[str], Awaitable[Any]]


class Lender:
    """Answers about each file what `says` has for its name, else its first line as a summary and as the quotation.

    `asked` has every request in order. `together` is what it says when it is to bring answers together.
    """

    def __init__(self, says: Mapping[str, Answer] | None = None, together: Answer = "All of it, together.") -> None:
        self.says = says or {}
        self.together = together
        self.asked: list[CreateMessageRequestParams] = []
        self.most_at_once = 0
        self._at_once = 0

    async def __call__(self, context: Any, params: CreateMessageRequestParams) -> CreateMessageResult | ErrorData:
        """Answer one request."""
        del context
        self.asked.append(params)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await anyio.lowlevel.checkpoint()
            return await self._answer(text_in(params))
        finally:
            self._at_once -= 1

    async def _answer(self, text: str) -> CreateMessageResult | ErrorData:
        name = file_in(text)
        said = self.together if name is None else self.says.get(name, first_line(text))
        if callable(said):
            said = await said(text)
        return reply(said) if isinstance(said, str) else said

    @property
    def files(self) -> list[str]:
        """The names of the files that it was asked about, in order."""
        return [name for params in self.asked if (name := file_in(text_in(params))) is not None]


def reply(text: str) -> CreateMessageResult:
    return CreateMessageResult(role="assistant", content=TextContent(type="text", text=text), model="scripted")


def text_in(params: CreateMessageRequestParams) -> str:
    (message,) = params.messages
    assert isinstance(message.content, TextContent)
    return message.content.text


def file_in(text: str) -> str | None:
    found = re.search(r'^<file path="[^"]*?([^"/]+)"', text, re.MULTILINE)
    return found.group(1) if found else None


def first_line(text: str) -> str:
    line = text.partition("<file path=")[2].split("\n")[1]
    return f"It says: {line}\nQUOTE: {line}"


@asynccontextmanager
async def lending_host_of(drive: Drive, actor: Actor, lender: Lender) -> AsyncGenerator[Host]:
    """Open a session in this process for a host that lends its model."""
    async with in_process_session(drive, actor.principal, sampling=lender) as session:
        yield Host(session)


async def fill(drive: Drive, actor: Actor, count: int, folder: str = "Many") -> None:
    """Put so many text files into a new folder: `000.md`, `001.md`, ..."""
    await drive.files.create_folder(actor, "root", folder)
    for number in range(count):
        await drive.documents.create(actor, f"/{folder}", f"{number:03}.md", f"This is number {number}.\nMore.\n")
