"""The bodies about MCP servers and assistants. Limits are in characters."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, cast
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, StrictBool, StringConstraints, field_validator

from api.http.requests import Body, Id
from api.servers.assistants import AssistantChange
from api.servers.definitions import ServerChange
from api.servers.tools import ToolChange
from graph.servers.definition import Allowance, ServerType

MAX_SECRETS: Final = 64
MAX_ARGS: Final = 100
MAX_TOOLS: Final = 1_000
MAX_SECONDS: Final = 3_600
HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}")
HEADER_VALUE: Final = re.compile(r"[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?")
VARIABLE: Final = re.compile(r"[^=\x00-\x1f\x7f]{1,256}")
_OUR_HEADERS: Final = """\
connection content-length content-type host keep-alive last-event-id mcp-protocol-version mcp-session-id
proxy-authorization proxy-connection te trailer transfer-encoding upgrade"""
OUR_HEADERS: Final = frozenset(_OUR_HEADERS.split())
"""Headers that the connection itself sets."""

NAME: Final = r"^[^\x00-\x1f\x7f]*$"
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64, pattern=NAME)]
Text = Annotated[str, StringConstraints(max_length=8_192, pattern=r"^[^\x00]*$")]
Address = Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_048, pattern=r"^[^\x00-\x20\x7f]*$")]
Secret = StrictBool | Annotated[str, StringConstraints(strict=True, min_length=1, max_length=8_192)] | None
SecretMap = Annotated[dict[str, Secret], Field(max_length=MAX_SECRETS)]
ToolName = Annotated[str, StringConstraints(min_length=1, max_length=1_024, pattern=r"^[^\x00]*$")]
ToolNames = Annotated[list[ToolName], Field(max_length=MAX_TOOLS)]

KEEPS: Final = "A value is written and never read: answers say true or false. True keeps the one it has."


class AuthorizationBody(Body):
    """How the service introduces itself to a server's sign-in."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"client_id": "drive-agent", "client_secret": "..."}]}
    )

    client_id: Text = Field(default="", description="A client that you registered there; empty: it registers itself.")
    client_secret: Annotated[str, StringConstraints(max_length=8_192)] = Field(default="", description="Its secret.")


class PromptBody(Body):
    """A prompt of a server, with its arguments."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"name": "summarize", "arguments": {"topic": "leave"}}]}
    )

    name: ToolName
    arguments: dict[ToolName, Text] = Field(default={}, max_length=MAX_ARGS)


class ServerBody(Body):
    """An MCP server; with PUT, fields that are left out stay as they are."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "name": "Tickets",
                    "base_url": "https://tickets.example.com/mcp",
                    "headers": {"Authorization": "Bearer ..."},
                },
                {"name": "Files", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv"]},
            ]
        },
    )

    name: Name = ""
    type: ServerType | None = Field(
        default=None, description="Without it: streamableHttp for a URL that ends in /mcp, sse for others, else stdio."
    )
    is_active: bool = Field(default=True, description="False: no assistant uses it.")
    base_url: Address = Field(default="", description="An http or https address, without user and password.")
    headers: SecretMap = Field(default={}, description=f"Headers of every request. {KEEPS}")
    timeout: float = Field(default=60, gt=0, le=MAX_SECONDS, description="Longest wait for a tool call, in seconds.")
    command: Text = Field(default="", description="A program of the service's machine, one that the operator allows.")
    args: list[Text] = Field(default=[], max_length=MAX_ARGS)
    env: SecretMap = Field(default={}, description=f"The program's environment; it gets nothing else. {KEEPS}")
    disabled_tools: ToolNames = Field(default=[], description="Tools that no assistant uses.")
    auto_approve_tools: ToolNames = Field(default=[], description="Tools that may be called without an approval.")
    allows: Annotated[list[Allowance], Field(max_length=2)] = Field(
        default=[], description="What the server may ask of the assistant; nothing without it."
    )

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        try:
            _ = urlsplit(url).port
        except ValueError:
            msg = "this is no address"
            raise ValueError(msg) from None
        return url

    @field_validator("headers")
    @classmethod
    def _are_headers(cls, headers: Mapping[str, Secret]) -> Mapping[str, Secret]:
        names = [name.lower() for name in headers]
        if len(set(names)) < len(names) or any(not HEADER_NAME.fullmatch(name) for name in names):
            msg = "these are not names of headers, each once"
            raise ValueError(msg)
        if OUR_HEADERS & set(names):
            msg = "the connection sets some of these headers itself"
            raise ValueError(msg)
        if any(isinstance(value, str) and not HEADER_VALUE.fullmatch(value) for value in headers.values()):
            msg = "the value of a header has characters that none can have"
            raise ValueError(msg)
        return headers

    @field_validator("env")
    @classmethod
    def _are_variables(cls, env: Mapping[str, Secret]) -> Mapping[str, Secret]:
        if any(not VARIABLE.fullmatch(name) for name in env):
            msg = "these are not names of variables"
            raise ValueError(msg)
        if any(isinstance(value, str) and ("\x00" in value or not _is_text(value)) for value in env.values()):
            msg = "the value of a variable has characters that none can have"
            raise ValueError(msg)
        return env

    def to_change(self) -> ServerChange:
        """Return the fields that were sent."""
        return cast("ServerChange", self.model_dump(exclude_unset=True))


class NewServerBody(ServerBody):
    """A new MCP server: a name, and where it is."""

    name: Name  # pyright: ignore[reportGeneralTypeIssues] - required here


class ToolBody(Body):
    """A person's decisions about a tool; fields left out stay."""

    name: ToolName
    is_enabled: bool | None = Field(default=None, alias="isEnabled")
    is_auto_approve: bool | None = Field(default=None, alias="isAutoApprove", description="Call it without approval.")
    accept: Annotated[str, StringConstraints(max_length=64)] | None = Field(
        default=None, description="The `hash` of the changed definition that you have seen and accept."
    )


class ToolsBody(Body):
    """Decisions about tools of a server: all or none of them."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"tools": [{"name": "search", "isAutoApprove": True}]}]}
    )

    tools: Annotated[list[ToolBody], Field(min_length=1, max_length=MAX_TOOLS)]

    def to_changes(self) -> list[ToolChange]:
        """Return the decisions."""
        return [ToolChange(tool.name, tool.is_enabled, tool.is_auto_approve, tool.accept) for tool in self.tools]


class ImportBody(Body):
    """The JSON in which another program lists its MCP servers: `mcpServers`, or VS Code's `servers`."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={"examples": [{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}]},
    )

    def document(self) -> Mapping[str, Any]:
        """Return the document."""
        return self.model_extra or {}


class AssistantBody(Body):
    """An assistant; with PATCH, fields that are left out stay as they are."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"name": "Archivist", "instructions": "Never change a file."}]},
    )

    name: Name = ""
    description: Annotated[Text, Field(max_length=1_000)] = ""
    model: Annotated[str, StringConstraints(max_length=255)] = Field(
        default="", description="A model of `GET /api/models`; empty: the one of the settings."
    )
    instructions: Annotated[Text, Field(max_length=8_000)] = Field(default="", description="How it works.")
    drive_tools: Annotated[list[ToolName], Field(max_length=MAX_TOOLS)] | None = Field(
        default=None, description="The tools of the drive that it may use; null: all of them."
    )
    is_default: bool = Field(default=False, description="New threads have it, if none is named.")

    def to_change(self) -> AssistantChange:
        """Return the fields that were sent."""
        return cast("AssistantChange", self.model_dump(exclude_unset=True))


class NewAssistantBody(AssistantBody):
    """A new assistant."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"name": "Archivist", "instructions": "Never change a file."}]},
    )

    name: Name  # pyright: ignore[reportGeneralTypeIssues] - required here


class ServerChoiceBody(Body):
    """The servers that an assistant uses, and no others."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"server_ids": ["5f0c7d0e-6c3a-4f0e-9a55-2f3f0f1d6a11"]}]}
    )

    server_ids: Annotated[list[Id], Field(max_length=MAX_TOOLS)]


class ToolConfirmBody(Body):
    """A person's answer about one call."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"toolCallId": "call_1", "approved": True}]}
    )

    tool_call_id: Annotated[str, StringConstraints(min_length=1, max_length=256)] = Field(alias="toolCallId")
    approved: bool = Field(strict=True)


def _is_text(value: str) -> bool:
    """Say whether a string is Unicode, without half of a surrogate pair."""
    return not any("\ud800" <= character <= "\udfff" for character in value)
