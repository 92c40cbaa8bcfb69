"""The parts that every node works with."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from graph.clock import Clock, utc_now
from graph.context import RunContext
from graph.link_allowlist import HostAllowlist
from graph.messages.stored_results import ResultCache, ResultStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from langchain_core.language_models import BaseChatModel
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.runtime import Runtime
    from langgraph.store.base import BaseStore

    from graph.drive.connections import ConnectionPool
    from graph.models.asking import ModelRole
    from graph.settings import AgentSettings
    from graph.state import Plan


class PlanControl(Protocol):
    """The copies of running plans that people see and edit while the graph is at work."""

    async def exchange(self, thread_id: str, run_id: str, change: "Callable[[Plan | None], Plan]") -> "Plan":
        """Store and return what `change` makes of the copy, None if there is none yet; nobody edits it meanwhile."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphDependencies:
    """The concrete parts of one graph.

    `models`: without a router, the likeliest specialist takes what no words route.
    `hosts`: where links in answers may lead. `only_user`: if set, every run is this person's, whatever context a client
    sends (`langgraph dev` has no login).
    """

    models: "Mapping[ModelRole, BaseChatModel]"
    connections: "ConnectionPool"
    settings: "AgentSettings"
    checkpointer: "BaseCheckpointSaver[str] | None" = None
    store: "BaseStore | None" = None
    plans: PlanControl | None = None
    clock: Clock = utc_now
    only_user: RunContext | None = None
    result_cache: ResultCache = field(default_factory=ResultCache)

    def result_store(self, runtime: "Runtime[RunContext]") -> ResultStore | None:
        """Return where the run's thread keeps long texts; None without a store, or outside of any thread."""
        thread_id = runtime.execution_info.thread_id if runtime.execution_info else None
        if runtime.store is None or thread_id is None:
            return None
        return ResultStore(runtime.store, self.result_cache, self.user(runtime).user_id, thread_id)

    hosts: HostAllowlist = field(default_factory=HostAllowlist)

    def user(self, runtime: "Runtime[RunContext]") -> RunContext:
        """Return who this run is for."""
        return self.only_user or runtime.context or RunContext()
