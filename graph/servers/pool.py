"""The pool of connections to people's own MCP servers, one session per person and server."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mcp.shared.session import ProgressFnT
from mcp.types import CallToolResult, Prompt, Resource, Tool

from graph.clock import Clock, utc_now
from graph.servers.definition import ServerDefinition
from graph.servers.reasons import Reason
from graph.settings import AgentSettings
from graph.state import Language

OnProgress = ProgressFnT
StatusName = Literal["disconnected", "connecting", "connected", "error"]


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The state of one connection; with `error` comes the reason."""

    status: StatusName
    reason: Reason | None = None

    @property
    def sentence(self) -> str | None:
        """Return the reason in English."""
        return self.sentence_in("en")

    def sentence_in(self, language: Language) -> str | None:
        """Return the reason in that language; None if there is none."""
        return self.reason.sentence(language) if self.reason else None


@dataclass(frozen=True, slots=True)
class ServerDetails:
    """A server, as it introduces itself, and what it offers."""

    name: str
    version: str
    protocol: str
    instructions: str
    tools: Sequence[Tool]
    resources: Sequence[Resource]
    prompts: Sequence[Prompt]


class ServerPool:
    """Sessions by (user id, server id): opened when first needed, reopened when dead, closed when idle."""

    def __init__(self, settings: AgentSettings, *, clock: Clock = utc_now) -> None: ...

    async def tools(self, definition: ServerDefinition, *, wait_seconds: float | None = None) -> Sequence[Tool]:
        """Return the server's tools, at most 5 minutes old. Raises `ServerUnavailableError`.

        After `wait_seconds` the caller waits no longer, while the connection goes on being opened.
        """
        raise NotImplementedError

    async def call(
        self,
        definition: ServerDefinition,
        tool: str,
        args: Mapping[str, Any],
        *,
        meta: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
    ) -> CallToolResult:
        """Return the answer of a tool. Raises `ServerUnavailableError` if none comes."""
        raise NotImplementedError

    async def details(self, definition: ServerDefinition) -> ServerDetails:
        """Connect now, whatever failed before, and return what the server offers. Raises `ServerUnavailableError`."""
        raise NotImplementedError

    def status(self, user_id: str, server_id: str) -> ServerStatus:
        """Return the state of a person's connection."""
        raise NotImplementedError

    def watch(self, user_id: str) -> AsyncIterator[tuple[str, ServerStatus]]:
        """Yield (server id, status): those that are, then each change, until the caller stops."""
        raise NotImplementedError

    async def close(self, user_id: str, server_id: str) -> None:
        """Close a connection and forget its failures: the server was changed, switched off or deleted."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """Close every session, and wait until each is closed."""
        raise NotImplementedError
