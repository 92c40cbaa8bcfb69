"""The parts that every node works with."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, cast

from graph.clock import Clock, utc_now
from graph.context import DevelopmentContext, RunContext
from graph.limits.budget import Prices, Spending
from graph.limits.limits import has_budget
from graph.limits.model_table import prices_of
from graph.links.allowlist import HostAllowlist
from graph.messages.stored_results import ResultCache, ResultStore
from graph.servers.offered import OfferCache, Offers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from langchain_core.language_models import BaseChatModel
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.runtime import Runtime
    from langgraph.store.base import BaseStore

    from graph.drive.connections import ConnectionPool
    from graph.servers.choices import ServerChoices
    from graph.servers.pool import ServerPool
    from graph.settings import AgentSettings, ModelRole
    from graph.state import Plan

    Models = Mapping[ModelRole, BaseChatModel]


class PlanControl(Protocol):
    """The copies of running plans that people see and edit while the graph is at work."""

    async def exchange(self, thread_id: str, run_id: str, change: "Callable[[Plan | None], Plan]") -> "Plan":
        """Store and return the plan that `change` makes of the copy (None if there is none); no edits come between."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphDependencies:
    """The concrete parts of one graph.

    `models` are those of the settings; `choices` those of a conversation that has another one, by its name. Without a
    router, the likeliest specialist takes requests that no rule of words routes. `servers` reads a person's choice of
    servers for an assistant, `server_pool` has the connections to them. `hosts`: where links in answers may lead.
    `only_user`: if set, every run is this person's, also if a client's context names another (`langgraph dev` without
    login); with `has_login` it is whose key the host was shown. The context can only narrow the scopes of either.
    """

    models: "Models"
    connections: "ConnectionPool"
    settings: "AgentSettings"
    checkpointer: "BaseCheckpointSaver[str] | None" = None
    store: "BaseStore | None" = None
    plans: PlanControl | None = None
    servers: "ServerChoices | None" = None
    server_pool: "ServerPool | None" = None
    clock: Clock = utc_now
    only_user: RunContext | None = None
    has_login: bool = False
    choices: "Mapping[str, Models]" = field(default_factory=dict[str, "Models"])
    result_cache: ResultCache = field(default_factory=ResultCache)
    offer_cache: OfferCache = field(default_factory=OfferCache)

    def result_store(self, runtime: "Runtime[RunContext]") -> ResultStore | None:
        """Return where the run's thread keeps long texts; None without a store, or outside of any thread."""
        thread_id = runtime.execution_info.thread_id if runtime.execution_info else None
        if runtime.store is None or thread_id is None:
            return None
        return ResultStore(runtime.store, self.result_cache, self.user(runtime).user_id, thread_id)

    def offers(self, runtime: "Runtime[RunContext]") -> Offers | None:
        """Return the offers of people's own servers; None without any, or without a store to record sent calls."""
        if self.servers is None or self.server_pool is None or runtime.store is None:
            return None
        return Offers(self.servers, self.server_pool, self.settings, self.offer_cache)

    hosts: HostAllowlist = field(default_factory=HostAllowlist)

    def model(self, role: "ModelRole", runtime: "Runtime[RunContext]") -> "BaseChatModel":
        """Return the model that a role has in this run."""
        return model_in(self.choices.get(self.user(runtime).model, self.models), role)

    def router(self, runtime: "Runtime[RunContext]") -> "BaseChatModel | None":
        """Return the model that routes in this run, if there is one."""
        return self.choices.get(self.user(runtime).model, self.models).get("router")

    def model_name(self, role: "ModelRole", runtime: "Runtime[RunContext]") -> str:
        """Return the name of that model."""
        chosen = self.user(runtime).model
        return self.settings.model_of(role, chosen if chosen in self.choices else "")

    def spending(self, role: "ModelRole", runtime: "Runtime[RunContext]") -> Spending:
        """Return the counter of that model's calls."""
        return Spending(estimates=has_budget(self.settings), prices=self.prices(role, runtime))

    def prices(self, role: "ModelRole", runtime: "Runtime[RunContext]") -> Prices:
        """Return the prices of that model; zero if they are unknown."""
        return prices_of(self.settings, self.model_name(role, runtime)) or Prices()

    def user(self, runtime: "Runtime[RunContext]") -> RunContext:
        """Return the person of this run."""
        given = cast("object", runtime.context)
        person = _authenticated(runtime) if self.has_login else self.only_user
        if person:
            return person.narrowed(given if isinstance(given, DevelopmentContext) else None)
        return given if isinstance(given, RunContext) else RunContext()


def _authenticated(runtime: "Runtime[RunContext]") -> RunContext:
    """Return the person whom the host authenticated (`graph.hosting.auth`); nobody, with no scope, if it did not."""
    user = runtime.server_info.user if runtime.server_info else None
    if user is None:
        return RunContext()
    return RunContext(user.identity, user.display_name, tuple(user.permissions))


def model_in(models: "Models", role: "ModelRole") -> "BaseChatModel":
    """Return a role's model; a role that has none is done by the one that works with tools."""
    return models.get(role) or models["agent"]
