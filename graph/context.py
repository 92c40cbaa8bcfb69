"""What every node is given: who the run is for, and the parts it works with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.runtime import Runtime
    from langgraph.store.base import BaseStore

    from graph.connections import ConnectionPool
    from graph.settings import AgentSettings

ModelRole = Literal["router", "planner", "agent"]
Clock = Callable[[], datetime]
"""The time now, in UTC. Given from outside so that expiry can be tested without waiting."""


def utc_now() -> datetime:
    """Return the time now, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class RunContext:
    """Who a run is for, as the service established it. Never taken from a message or an argument."""

    user_id: str = ""
    email: str = ""
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphDependencies:
    """The concrete parts of one graph.

    `only_user`: if set, every run is this person's, whatever context a client sends (`langgraph dev` has no login).
    """

    models: "Mapping[ModelRole, BaseChatModel]"
    connections: "ConnectionPool"
    settings: "AgentSettings"
    checkpointer: "BaseCheckpointSaver[str] | None" = None
    store: "BaseStore | None" = None
    clock: Clock = utc_now
    only_user: RunContext | None = None

    def user(self, runtime: "Runtime[RunContext]") -> RunContext:
        """Return who this run is for."""
        return self.only_user or runtime.context or RunContext()
