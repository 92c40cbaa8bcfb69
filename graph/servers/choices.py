"""The servers and tools that a person has chosen for the assistant of a thread."""

from dataclasses import dataclass
from typing import Protocol

from graph.context import RunContext
from graph.servers.definition import ServerDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An assistant: its instructions, the drive's tools that it may use (None: all of them), and its servers."""

    assistant_id: str = ""
    instructions: str = ""
    drive_tools: frozenset[str] | None = None
    servers: tuple[ServerDefinition, ...] = ()


class ServerChoices(Protocol):
    """Reads a person's choice of servers. The service implements it over its tables."""

    async def chosen(self, user: RunContext) -> Choice:
        """Return the choice for the assistant of this run; that of the built-in one if the person has no such."""
        ...
