"""One open connection: its session, the tools that it offered last, and the calls that wait for it."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from mcp import ClientSession, McpError
from mcp.types import (
    CONNECTION_CLOSED,
    InitializeResult,
    PaginatedRequestParams,
    Prompt,
    Resource,
    ServerNotification,
    Tool,
    ToolListChangedNotification,
)

from graph.servers.connections.in_flight import CallsInFlight
from graph.servers.faults import LostError
from graph.servers.pins import cleaned, pinned

T = TypeVar("T")
TOOLS_SECONDS: Final = 300.0
MAX_PAGES: Final = 20
MAX_LISTED: Final = 500
"""Resources and prompts that are shown."""
MAX_NAME_CHARACTERS: Final = 128
MAX_DEFINITION_CHARACTERS: Final = 50_000
"""Of a tool, as JSON: no model could be given more, and it takes time to check."""
END_SECONDS: Final = 5.0
"""The longest wait for the reason why a connection broke."""


@dataclass(frozen=True, slots=True)
class ServerDetails:
    """A server's introduction of itself, and the things it offers."""

    name: str
    version: str
    protocol: str
    instructions: str
    tools: Sequence[Tool]
    resources: Sequence[Resource]
    prompts: Sequence[Prompt]


@dataclass(slots=True, eq=False)
class ServerConnection:
    """A session with a server, for the definition of that version. `most_tools` are used; the rest is left out."""

    version: int
    most_tools: int
    _tools: Sequence[Tool] | None = None
    _listed_at: float = 0.0
    _changes: int = 0
    in_flight: CallsInFlight = field(default_factory=CallsInFlight)
    listing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _opened: tuple[ClientSession, InitializeResult] | None = None

    def open(self, session: ClientSession, introduction: InitializeResult) -> None:
        """Take the session that has been opened."""
        self._opened = session, introduction

    @property
    def session(self) -> ClientSession:
        """Return the session."""
        assert self._opened  # noqa: S101 - nobody gets the connection before
        return self._opened[0]

    @property
    def introduction(self) -> InitializeResult:
        """Return how the server introduced itself."""
        assert self._opened  # noqa: S101 - nobody gets the connection before
        return self._opened[1]

    async def hear(self, message: object) -> None:
        """Take a notification of the server."""
        if isinstance(message, ServerNotification) and isinstance(message.root, ToolListChangedNotification):
            self.forget_tools()

    def forget_tools(self) -> None:
        """Ask for the tools anew next time."""
        self._tools = None
        self._changes += 1

    async def tools(self, now: float) -> Sequence[Tool]:
        """Return the tools; those that were asked for at most 5 minutes before `now`, in seconds."""
        async with self.listing:
            if self._tools is None or now - self._listed_at >= TOOLS_SECONDS:
                changes, self._listed_at = self._changes, now
                tools = await self._list_tools()
                self._tools = tools if changes == self._changes else None
                return tools
            return self._tools

    async def _list_tools(self) -> Sequence[Tool]:
        """Ask for the tools; of two with one name the first counts."""
        if not self.introduction.capabilities.tools:
            return ()

        async def page(params: PaginatedRequestParams) -> tuple[Sequence[Tool], str | None]:
            listed = await self.session.list_tools(params=params)
            return listed.tools, listed.nextCursor

        by_name: dict[str, Tool] = {}
        for tool in await _all(page, MAX_LISTED):
            if _is_usable(tool):
                by_name.setdefault(tool.name, tool)
        return tuple(by_name.values())[: self.most_tools]

    async def details(self, now: float) -> ServerDetails:
        """Ask for all that the server offers, and return it with the introduction."""
        self.forget_tools()
        about = self.introduction
        return ServerDetails(
            name=cleaned(about.serverInfo.title or about.serverInfo.name)[:MAX_NAME_CHARACTERS],
            version=cleaned(about.serverInfo.version)[:MAX_NAME_CHARACTERS],
            protocol=str(about.protocolVersion),
            instructions=cleaned(about.instructions or ""),
            tools=await self.tools(now),
            resources=await self.resources(),
            prompts=await self.prompts(),
        )

    async def resources(self) -> Sequence[Resource]:
        """Ask for the resources."""
        if not self.introduction.capabilities.resources:
            return ()

        async def page(params: PaginatedRequestParams) -> tuple[Sequence[Resource], str | None]:
            listed = await self.session.list_resources(params=params)
            return listed.resources, listed.nextCursor

        return await _all(page, MAX_LISTED)

    async def prompts(self) -> Sequence[Prompt]:
        """Ask for the prompts."""
        if not self.introduction.capabilities.prompts:
            return ()

        async def page(params: PaginatedRequestParams) -> tuple[Sequence[Prompt], str | None]:
            listed = await self.session.list_prompts(params=params)
            return listed.prompts, listed.nextCursor

        return await _all(page, MAX_LISTED)


def _is_usable(tool: Tool) -> bool:
    """Say whether a tool has a name that a person can read, and a definition of a sensible size."""
    is_named = 0 < len(tool.name) <= MAX_NAME_CHARACTERS and tool.name.isprintable() and tool.name == cleaned(tool.name)
    return is_named and len(json.dumps(pinned(tool))) <= MAX_DEFINITION_CHARACTERS


async def _all(
    page: Callable[[PaginatedRequestParams], Awaitable[tuple[Sequence[T], str | None]]], most: int
) -> Sequence[T]:
    """Return the entries of all pages, and stop at a number of them: a server may go on for ever."""
    found: list[T] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        entries, cursor = await page(PaginatedRequestParams(cursor=cursor))
        found += entries
        if cursor is None or len(found) >= most:
            break
    return found[:most]


async def unless_over(work: Coroutine[Any, Any, T], owner: "asyncio.Task[None]") -> T:
    """Return the result of the work; if the session's task ends before, raise its error.

    The SDK leaves those waiting who have asked something when a connection breaks, or says only that it is closed.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.wait({task, owner}, return_when=asyncio.FIRST_COMPLETED)
        if task.done() and not _is_closed(task):
            return task.result()
    finally:
        task.cancel()
    await asyncio.wait({owner}, timeout=END_SECONDS)
    raise LostError from (owner.exception() if owner.done() and not owner.cancelled() else None)


def _is_closed(task: "asyncio.Task[Any]") -> bool:
    error = task.exception()
    return isinstance(error, McpError) and error.error.code == CONNECTION_CLOSED
