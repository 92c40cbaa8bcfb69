"""The JSON that the routes of MCP servers and assistants answer with."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from mcp.types import Prompt, Resource
from pydantic import BaseModel, Field

from api.servers.prompts import FilledMessage
from api.servers.service import ConnectionTest, Servers
from api.servers.tools import ListedTool
from api.storage.tables import AssistantRow, ServerRow
from graph.language import Language
from graph.links.text_fields import DATA
from graph.servers.definition import ServerType
from graph.servers.pins import cleaned
from graph.servers.reasons import Reason
from graph.servers.status import StatusName

PersonsText = Annotated[str, DATA]
"""Text that the person wrote."""


class ServerStatusEvent(BaseModel):
    """The state of the connection to one of your servers; `sentence` is the reason for an error."""

    type: Literal["server_status"] = "server_status"
    server_id: str
    status: StatusName
    sentence: str | None


class ServerView(BaseModel):
    """An MCP server. Of the values of `headers` and `env` it only says whether they are set.

    `code` and `sentence` say why the `status` is `error`: the code `sign_in` asks for `POST .../authorize`.
    """

    id: str
    name: PersonsText
    type: ServerType
    is_active: bool
    base_url: PersonsText
    headers: dict[str, bool]
    timeout: float
    command: PersonsText
    args: Annotated[list[str], DATA]
    env: dict[str, bool]
    disabled_tools: Annotated[list[str], DATA]
    auto_approve_tools: Annotated[list[str], DATA]
    allows: list[Literal["sampling", "roots"]]
    signed_in: bool
    status: StatusName
    code: str | None
    sentence: str | None
    created_at: datetime
    updated_at: datetime


class AuthorizationView(BaseModel):
    """The address of a server's sign-in, to open in the browser of the person."""

    url: Annotated[str, DATA]


class ServerList(BaseModel):
    """Your MCP servers by name."""

    items: list[ServerView]


class ToolDifference(BaseModel):
    """A part of a tool's definition, before and after its server changed it."""

    field: Literal["name", "title", "description", "input_schema"]
    before: Annotated[str, DATA]
    after: Annotated[str, DATA]


class ToolView(BaseModel):
    """A tool of a server. `changed`: it is disabled until you accept its new definition, by its `hash`."""

    server_id: str = Field(serialization_alias="serverId")
    server_name: PersonsText = Field(serialization_alias="serverName")
    name: Annotated[str, DATA]
    display_name: str = Field(serialization_alias="displayName")
    description: str
    input_schema: Annotated[dict[str, Any], DATA] = Field(serialization_alias="inputSchema")
    is_enabled: bool = Field(serialization_alias="isEnabled")
    is_auto_approve: bool = Field(serialization_alias="isAutoApprove")
    hash: str
    changed: bool
    difference: list[ToolDifference]


class ToolList(BaseModel):
    """The tools of a server. If it can't be used, `sentence` says why, and the tools are those that you have seen."""

    items: list[ToolView]
    status: StatusName
    sentence: str | None


class ResourceView(BaseModel):
    """A resource that a server offers."""

    uri: Annotated[str, DATA]
    name: str
    description: str


class ResourceList(BaseModel):
    """The resources that a server offers."""

    items: list[ResourceView]


class PromptView(BaseModel):
    """A prompt that a server offers, with the names of its arguments."""

    name: Annotated[str, DATA]
    description: str
    arguments: Annotated[list[str], DATA]
    required: Annotated[list[str], DATA]


class PromptList(BaseModel):
    """The prompts that a server offers."""

    items: list[PromptView]


class FilledMessageView(BaseModel):
    """A message of a prompt; content that is no text is named by its kind in brackets."""

    role: Literal["user", "assistant"]
    text: str


class FilledPromptView(BaseModel):
    """A prompt with its arguments in place. The server wrote it: read the `text` before you send it as a message."""

    messages: list[FilledMessageView]
    text: str


class ConnectionView(BaseModel):
    """The result of a test. `name`, `version` and `instructions` are the server's own words about itself.

    If it fails, `code` and `sentence` say why; `last_lines` are the last ones that the server, or its program, wrote.
    """

    status: StatusName
    code: str | None = None
    sentence: str | None = None
    last_lines: str | None = None
    name: str | None = None
    version: str | None = None
    protocol: str | None = None
    instructions: str | None = None
    tools: list[ToolView] = []
    resources: list[ResourceView] = []
    prompts: list[PromptView] = []


class ImportedView(BaseModel):
    """A server of an imported document: its id, or the problem for which it was left out.

    `missing` are the headers and variables whose values the document does not have.
    """

    name: PersonsText
    id: str | None = None
    problem: str | None = None
    missing: Annotated[list[str], DATA] = []


class ImportView(BaseModel):
    """The servers of an imported document."""

    items: list[ImportedView]


class AssistantView(BaseModel):
    """An assistant. The built-in one has the id `drive_agent`, and no times."""

    id: str
    owner: str
    name: PersonsText
    description: PersonsText
    model: str
    instructions: PersonsText
    drive_tools: Annotated[list[str], DATA] | None
    is_default: bool
    is_built_in: bool
    created_at: datetime | None
    updated_at: datetime | None


class AssistantList(BaseModel):
    """Your assistants: the built-in one, then your own by name."""

    items: list[AssistantView]


class ServerChoiceView(BaseModel):
    """The servers that an assistant uses."""

    server_ids: list[str]


def server_view(row: ServerRow, servers: Servers, language: Language) -> ServerView:
    """Return a server as its person sees it."""
    headers, env = servers.which_are_set(row)
    status = servers.status(row)
    plain = ("id", "name", "type", "is_active", "base_url", "timeout", "command", "args", "created_at", "updated_at")
    lists = ("disabled_tools", "auto_approve_tools", "allows")
    return ServerView(
        **{name: getattr(row, name) for name in (*plain, *lists)},
        headers=headers,
        env=env,
        signed_in=bool(row.credentials),
        status=status.status,
        code=_code(status.reason),
        sentence=status.sentence_in(language),
    )


def tool_views(row: ServerRow, tools: Sequence[ListedTool]) -> list[ToolView]:
    """Return the tools of a server as its person sees them."""
    return [_tool_view(row, tool) for tool in tools]


def connection_view(tested: ConnectionTest, language: Language) -> ConnectionView:
    """Return the result of a test."""
    if tested.details is None:
        reason = tested.reason
        wrote = reason.last_lines if reason else ""
        return ConnectionView(
            status="error", code=_code(reason), sentence=_sentence(reason, language), last_lines=wrote or None
        )
    details = tested.details
    return ConnectionView(
        status="connected",
        name=cleaned(details.name),
        version=cleaned(details.version),
        protocol=cleaned(details.protocol),
        instructions=cleaned(details.instructions),
        tools=tool_views(tested.server, tested.tools),
        resources=resource_views(details.resources),
        prompts=prompt_views(details.prompts),
    )


def tool_list(listed: ConnectionTest, servers: Servers, language: Language) -> ToolList:
    """Return the tools of a server, and its state."""
    status = servers.status(listed.server)
    return ToolList(
        items=tool_views(listed.server, listed.tools),
        status="error" if listed.reason else status.status,
        sentence=_sentence(listed.reason, language),
    )


def resource_views(resources: Sequence[Resource]) -> list[ResourceView]:
    """Return the resources of a server as its person sees them."""
    return [
        ResourceView(uri=str(one.uri), name=cleaned(one.title or one.name), description=cleaned(one.description or ""))
        for one in resources
    ]


def prompt_views(prompts: Sequence[Prompt]) -> list[PromptView]:
    """Return the prompts of a server as its person sees them."""
    return [
        PromptView(
            name=one.name,
            description=cleaned(one.description or ""),
            arguments=[argument.name for argument in one.arguments or ()],
            required=[argument.name for argument in one.arguments or () if argument.required],
        )
        for one in prompts
    ]


def filled_prompt_view(messages: Sequence[FilledMessage]) -> FilledPromptView:
    """Return a prompt with its arguments in place, as its person sees it."""
    views = [FilledMessageView(role=one.role, text=one.text) for one in messages]
    return FilledPromptView(messages=views, text="\n\n".join(one.text for one in messages))


def assistant_view(row: AssistantRow, built_in: str) -> AssistantView:
    """Return an assistant as its person sees it."""
    names = AssistantView.model_fields.keys() - {"is_built_in"}
    return AssistantView(**{name: getattr(row, name) for name in names}, is_built_in=row.id == built_in)


def _tool_view(row: ServerRow, tool: ListedTool) -> ToolView:
    return ToolView(
        server_id=row.id,
        server_name=row.name,
        name=tool.name,
        display_name=tool.display_name,
        description=tool.description,
        input_schema=tool.input_schema,
        is_enabled=tool.is_enabled,
        is_auto_approve=tool.is_auto_approve,
        hash=tool.hash,
        changed=tool.changed,
        difference=[ToolDifference(field=part.field, before=part.before, after=part.after) for part in tool.difference],
    )


def _code(reason: Reason | None) -> str | None:
    return reason.code if reason else None


def _sentence(reason: Reason | None, language: Language) -> str | None:
    return reason.sentence(language) if reason else None
