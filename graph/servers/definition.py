"""The definition of a person's MCP server, as the connections use it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import urlsplit

ServerType = Literal["sse", "streamableHttp", "stdio"]
Allowance = Literal["sampling", "roots"]
"""The requests that a server may make of the assistant, if the person allows it for that server."""
CALL_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDefinition:
    """One server of one person. `timeout` is the longest wait for a call, in seconds.

    `headers` and `env` hold secrets in plain text: they stay out of logs, errors and prompts. `pins` has, by the name
    of a tool, the hash of the description that the person has seen. `version` grows with each change of the definition:
    a session of an older version is closed.
    """

    id: str
    user_id: str
    name: str
    type: ServerType
    base_url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    timeout: float = CALL_SECONDS
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    disabled_tools: frozenset[str] = frozenset()
    auto_approve_tools: frozenset[str] = frozenset()
    pins: Mapping[str, str] = field(default_factory=dict[str, str])
    allows: frozenset[Allowance] = frozenset()
    version: int = 0

    @property
    def host(self) -> str:
        """Return the host that arguments of a call go to; empty for a process of this machine."""
        try:
            return urlsplit(self.base_url).hostname or "" if self.type != "stdio" else ""
        except ValueError:  # no address at all: connecting says so
            return ""

    @property
    def target(self) -> tuple[str, ...]:
        """Return where calls go: the type with the address, or with the program and its arguments."""
        if self.type == "stdio":
            return (self.type, self.command, *self.args)
        return (self.type, self.base_url)


def type_of(url: str, command: str) -> ServerType | None:
    """Return the type that a definition without one has; None if it has neither an http(s) URL nor a command."""
    parts = urlsplit(url)
    if parts.scheme in {"http", "https"} and parts.netloc:
        return "streamableHttp" if parts.path.rstrip("/").endswith("/mcp") else "sse"
    return "stdio" if command and not url else None
