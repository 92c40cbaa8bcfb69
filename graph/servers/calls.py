"""One call of a tool, as it is sent, and what a server's refusal of it says."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp import ClientSession, McpError
from mcp.types import CallToolResult, ErrorData, RequestId, TextContent

from drive_server.connect import next_request_id
from graph.servers.elicitation.questions import Ask, UrlsRequiredError, read_required_urls
from graph.servers.faults import REQUEST_TIMEOUT
from graph.servers.in_flight import ProgressReports
from graph.servers.pins import cleaned


@dataclass(frozen=True, slots=True)
class CallRequest:
    """One call of a tool."""

    tool: str
    args: Mapping[str, Any]
    meta: Mapping[str, Any] | None = None
    reports: ProgressReports | None = None
    ask: Ask | None = None

    async def send(self, session: ClientSession, sent: list[RequestId]) -> CallToolResult:
        """Send the call, note its id, and return the answer. Whoever waits for it limits the time."""
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
