"""Calls of tools: begun, under way, ended; and the records of calls of a person's own servers."""

from typing import Annotated, Any, Final, Literal, NotRequired

from typing_extensions import TypedDict

from graph.events.markers import KEY
from graph.links.text_fields import DATA, PRODUCT, ProductText

CallStatus = Literal["pending", "invoking", "done", "error", "cancelled", "rejected"]


_OWN: Final = "approve_plan forget list_memories make_plan more_tools read_result remember transfer_to_agent"
OWN_TOOLS: Final = frozenset(_OWN.split())
"""Tools of the assistant itself, which are of no MCP server."""


class NamedTool(TypedDict):
    """The names of a tool: `name` as the model calls it, `displayName` with its server, `mcp__{server}__{tool}`."""

    name: str
    displayName: str


def named(name: str) -> NamedTool:
    """Return both names of a tool; one of the assistant itself has no server, and the same name twice."""
    has_server = name.startswith("mcp__") or name in OWN_TOOLS or not name
    return {"name": name, "displayName": name if has_server else f"mcp__drive__{name}"}


class ToolCallStartEvent(NamedTool):
    """The model asks for a call; it may still need an approval. Exactly one `tool_call_end` follows."""

    type: Literal["tool_call_start"]
    tool_call_id: Annotated[str, PRODUCT, KEY]
    args: Annotated[dict[str, Any], DATA]


class ToolProgressEvent(NamedTool):
    """A call is invoked, the tool reports progress, or the call needs another approval.

    `reason` says why a gated call runs without an approval: `granted`, with the grant's id, or `planned`.
    """

    type: Literal["tool_progress"]
    tool_call_id: ProductText
    status: CallStatus
    message: NotRequired[str]
    progress: NotRequired[float]
    total: NotRequired[float]
    reason: NotRequired[Literal["granted", "planned"]]
    grant_id: NotRequired[ProductText]


class ToolCallEndEvent(NamedTool):
    """A call ended. `result` is the text that the model sees; `duration_ms` is 0 if the tool was not invoked."""

    type: Literal["tool_call_end"]
    tool_call_id: Annotated[str, PRODUCT, KEY]
    status: Literal["done", "error", "cancelled", "rejected"]
    result: Annotated[str, DATA]
    duration_ms: int


class ToolCallRecord(TypedDict):
    """A call of a tool of one of the person's own MCP servers, in the assistant's message.

    `displayName` is the name that the model calls, `mcp__{server}__{tool}`, `toolTitle` its name for people.
    `response` is the answer, or the reason why there is none; empty until one comes.
    """

    id: ProductText
    serverId: ProductText
    serverName: str
    toolName: str
    displayName: str
    toolTitle: str
    arguments: Annotated[dict[str, Any], DATA]
    status: CallStatus
    response: str
    isError: bool


class ToolCallUpdatedEvent(TypedDict):
    """The record of a call in the message `messageId`, as it is now: it takes the place of the one before."""

    type: Literal["assistant.toolCall.updated"]
    messageId: ProductText
    toolCall: ToolCallRecord
