"""MCP hosts as tests play them: a session, and whoever sits in front of it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp import ClientSession
from mcp.client.stdio import stdio_client
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult, TextContent

from drive_server.connect import in_process_session
from drive_server.kernel.context import META_WHOLE_RESULTS, current_principal

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from anyio.streams.memory import MemoryObjectReceiveStream
    from mcp import StdioServerParameters
    from mcp.types import CallToolResult

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


WHOLE: Final = {META_WHOLE_RESULTS: True}
"""`_meta` of a call that is answered with every field."""


class Host:
    """Calls tools over a session; `call` for what should work, `refused` for what should not."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session

    async def result(self, tool: str, meta: dict[str, Any] | None = None, /, **arguments: Any) -> CallToolResult:
        """Call a tool and return all of its answer."""
        return await self.session.call_tool(tool, arguments, meta=meta)

    async def call(self, tool: str, meta: dict[str, Any] | None = None, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that has to work; return what it answers."""
        result = await self.result(tool, meta, **arguments)
        assert not result.isError, result.content
        assert result.structuredContent is not None
        return result.structuredContent

    async def refused(self, tool: str, meta: dict[str, Any] | None = None, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that has to refuse; return the error."""
        result = await self.result(tool, meta, **arguments)
        assert result.isError, result.structuredContent
        assert result.structuredContent is not None
        assert text_of(result).startswith(f"{result.structuredContent['code']}: ")
        return result.structuredContent


class Person:
    """Someone in front of a host that can ask: says what was prepared, and remembers the questions."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.questions: list[str] = []

    async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        """Answer one question."""
        del context
        assert isinstance(params, ElicitRequestFormParams)
        self.questions.append(params.message)
        action = self.answers.pop(0)
        if action == "accept":
            return ElicitResult(action="accept", content={})
        return ElicitResult.model_validate({"action": action})


class ProgressLog:
    """Records the progress that a host is told of, as pairs of steps done and steps in all."""

    def __init__(self) -> None:
        self.steps: list[tuple[float, float | None]] = []

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """Record one step."""
        del message
        self.steps.append((progress, total))


def text_of(result: CallToolResult) -> str:
    """Return the text of an answer, which has to be in one block."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def show_whole_tools(drive: Drive) -> None:
    """Let the drive show hosts all tools with their whole schemas, as it shows the assistant."""
    drive.server.tiers.stated = "whole"


@asynccontextmanager
async def assistant_of(drive: Drive, actor: Actor) -> AsyncGenerator[Host]:
    """Open a session for the assistant inside this process, in the person's name and with their scopes."""
    principal = await drive.identity.principal_for(actor.user_id, actor.principal.scopes)
    async with in_process_session(drive, principal) as session:
        yield Host(session)


@asynccontextmanager
async def host_of(drive: Drive, actor: Actor) -> AsyncGenerator[Host]:
    """Open a session for a host that can't ask its person."""
    async with in_process_session(drive, actor.principal) as session:
        yield Host(session)


@asynccontextmanager
async def asking_host_of(drive: Drive, actor: Actor, person: Person) -> AsyncGenerator[Host]:
    """Open a session for a host that can ask its person. Enter and leave it within one test."""
    token = current_principal.set(actor.principal)
    try:
        async with create_connected_server_and_client_session(drive.server, elicitation_callback=person) as session:
            yield Host(session)
    finally:
        current_principal.reset(token)


@asynccontextmanager
async def session_over_stdio(command: StdioServerParameters, **options: Any) -> AsyncGenerator[ClientSession]:
    """Start a server as a host does, and open a session with it; `options` are those of `ClientSession`.

    Enter and leave it within one test. What the server still says while it ends is read and passed over:
    otherwise `stdio_client` would raise `BrokenResourceError` (python-sdk, issue 1960).
    """
    async with anyio.create_task_group() as group, stdio_client(command) as (reading, writing):
        rest = reading.clone()
        try:
            async with ClientSession(reading, writing, **options) as session:
                await session.initialize()
                yield session
        finally:
            group.start_soon(_pass_over, rest)


async def _pass_over(messages: MemoryObjectReceiveStream[Any]) -> None:
    async with messages:
        async for _ in messages:
            pass
