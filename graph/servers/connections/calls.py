"""One call of a tool, as it is sent, and the result that a server's refusal becomes."""

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from mcp import ClientSession, McpError
from mcp.types import CONNECTION_CLOSED, CallToolResult, ErrorData, RequestId, TextContent

from drive_server.connect import next_request_id
from graph.servers.connections.in_flight import ProgressReports
from graph.servers.elicitation.questions import Ask, UrlsRequiredError, read_required_urls
from graph.servers.faults import REQUEST_TIMEOUT, SESSION_TERMINATED, LostError
from graph.servers.pins import cleaned

T = TypeVar("T")
WATCH_SECONDS: Final = 5.0
"""How often a server over Streamable HTTP is asked whether it is there while a call waits: the SDK does not tell."""


@dataclass(frozen=True, slots=True)
class CallRequest:
    """One call of a tool."""

    tool: str
    args: Mapping[str, Any]
    meta: Mapping[str, Any] | None = None
    reports: ProgressReports | None = None
    ask: Ask | None = None

    async def send(self, session: ClientSession, sent: list[RequestId]) -> CallToolResult:
        """Send the call, note its id, and return the answer. The caller limits the time."""
        sent.append(next_request_id(session))
        meta = dict(self.meta) if self.meta else None
        return await session.call_tool(self.tool, dict(self.args), None, self.reports, meta=meta)


def refused_call(error: ErrorData) -> CallToolResult:
    """Return an error of the protocol as the result of the call.

    Raises `UrlsRequiredError` if the server would take the call after the person has gone to some addresses.
    """
    try:
        required = read_required_urls(error)
    except ValueError:
        required = ()
    if required:
        raise UrlsRequiredError(required)
    return CallToolResult(content=[TextContent(type="text", text=cleaned(error.message))], isError=True)


def is_timeout(error: Exception) -> bool:
    """Say whether an answer did not come in time."""
    return isinstance(error, TimeoutError) or (isinstance(error, McpError) and error.error.code == REQUEST_TIMEOUT)


async def watched(work: Coroutine[Any, Any, T], session: ClientSession) -> T:
    """Return the result of a request. Raises `LostError` if the server has forgotten the session meanwhile.

    If the server is gone, a ping ends the session, and with it the request.
    """
    task, watch = asyncio.create_task(work), asyncio.create_task(_until_forgotten(session))
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise LostError
    finally:
        task.cancel()
        watch.cancel()


async def _until_forgotten(session: ClientSession) -> None:
    """Ping until the server does not know the session any more; one that does not answer is busy."""
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        try:
            await session.send_ping()
        except McpError as error:
            if error.error.code in {SESSION_TERMINATED, CONNECTION_CLOSED}:
                return
