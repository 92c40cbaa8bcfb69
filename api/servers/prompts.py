"""Offers of servers beside tools: resources, and prompts that a person can send as a message."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from mcp.types import EmbeddedResource, Prompt, PromptMessage, Resource, TextContent, TextResourceContents

from api.drive import Principal
from api.errors import ServerDownError
from api.servers.service import Servers
from graph.servers.pins import cleaned
from graph.servers.reasons import ServerUnavailableError

MAX_MESSAGES: Final = 100


@dataclass(frozen=True, slots=True)
class FilledMessage:
    """A message of a prompt; content that is no text is named by its kind in brackets."""

    role: Literal["user", "assistant"]
    text: str


class Offers:
    """The offers of a caller's own servers. Each raises `NotFoundError` for others, and `ServerDownError`."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers

    async def resources(self, caller: Principal, server_id: str) -> Sequence[Resource]:
        """Return the resources of a server."""
        definition = await self._servers.definition(caller, server_id)
        try:
            return await self._servers.pool.resources(definition)
        except ServerUnavailableError as error:
            raise _down(error) from None

    async def prompts(self, caller: Principal, server_id: str) -> Sequence[Prompt]:
        """Return the prompts of a server."""
        definition = await self._servers.definition(caller, server_id)
        try:
            return await self._servers.pool.prompts(definition)
        except ServerUnavailableError as error:
            raise _down(error) from None

    async def fill(
        self, caller: Principal, server_id: str, name: str, arguments: Mapping[str, str]
    ) -> list[FilledMessage]:
        """Return the messages of a prompt with its arguments in place."""
        definition = await self._servers.definition(caller, server_id)
        try:
            found = await self._servers.pool.prompt(definition, name, arguments)
        except ServerUnavailableError as error:
            raise _down(error) from None
        return [_filled(message) for message in found.messages[:MAX_MESSAGES]]


def _filled(message: PromptMessage) -> FilledMessage:
    match message.content:
        case TextContent(text=text) | EmbeddedResource(resource=TextResourceContents(text=text)):
            return FilledMessage(message.role, cleaned(text))
        case other:
            return FilledMessage(message.role, f"[{other.type}]")


def _down(error: ServerUnavailableError) -> ServerDownError:
    # The person may read the server's words: which argument is missing, say.
    return ServerDownError((error.reason.for_person("en"), error.reason.for_person("zh")))
