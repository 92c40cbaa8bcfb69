"""The assistant as the service uses it: the compiled graph with its storage, its models and its connections."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langgraph.store.memory import InMemoryStore

from api.clock import Clock
from api.memory import AssistantMemory
from api.storage.threads import ThreadStorage, open_threads
from graph.approvals.payload import check_edit, expired_answer
from graph.build import build_graph
from graph.context import RunContext
from graph.dependencies import GraphDependencies, PlanControl
from graph.drive.connections import ConnectionPool, SessionOpener
from graph.errors import explain
from graph.language import language_of
from graph.link_filter import LinkFilter, host_allowlist
from graph.memory.facts import Facts
from graph.messages.stored_results import delete_results
from graph.model_factory import open_models
from graph.models.asking import ModelRole
from graph.policy.grant_offers import check_grant
from graph.policy.grants import Grant, list_grants, withdraw
from graph.settings import AgentSettings
from graph.state import Mode


@dataclass(frozen=True, slots=True)
class GrantInfo:
    """What a person lets the assistant do unasked: kinds of action in folders (by id), so long and so many items."""

    grant_id: str
    kinds: tuple[str, ...]
    folder_ids: tuple[str, ...]
    max_items: int
    used: int
    until: datetime
    given_at: datetime
    approval_id: str


class Assistant:
    """The graph, and what the service has to know of its words."""

    def __init__(self, deps: GraphDependencies, storage: ThreadStorage) -> None:
        self.graph: Any = build_graph(deps)
        self._storage = storage
        self._result_cache = deps.result_cache
        self.memory = AssistantMemory(deps, self.graph)
        self._hosts = deps.hosts
        self._clock = deps.clock
        self._store = deps.store or InMemoryStore()

    def context(self, user_id: str, email: str, scopes: Sequence[str], mode: Mode = "attended") -> RunContext:
        """Return the run context for a caller."""
        return RunContext(user_id=user_id, email=email, scopes=tuple(scopes), mode=mode)

    def link_filter(self, message: str) -> LinkFilter:
        """Return the link filter for the answer to a message."""
        return LinkFilter(self._hosts.with_addresses_in(message), language_of(message))

    def expired(self, payload: Mapping[str, Any]) -> Any:
        """Return what the interrupt is resumed with when nobody decided in time."""
        return expired_answer(payload)

    def check_edit(self, payload: Mapping[str, Any], tool_call_id: str, args: Mapping[str, Any]) -> str | None:
        """Return what is wrong with edited arguments, None if they fit the tool."""
        return check_edit(payload, tool_call_id, args)

    def check_grant(self, payload: Mapping[str, Any], tool_call_id: str, grant: Mapping[str, Any]) -> str | None:
        """Return why a grant can't be given with an approval of that action, None if it can."""
        return check_grant(payload, tool_call_id, grant, self._clock())

    async def grants(self, user_id: str) -> list[GrantInfo]:
        """Return what the person lets the assistant do unasked now, the newest first."""
        return [_told(grant) for grant in await list_grants(self._store, user_id, self._clock())]

    async def withdraw_grant(self, user_id: str, grant_id: str) -> bool:
        """End a grant of the person now; False if they have none of that id."""
        return await withdraw(self._store, user_id, grant_id)

    def failure(self, error: Exception) -> tuple[str, str, bool]:
        """Return an error as (code, sentence, whether trying again may help)."""
        return explain(error)

    async def forget(self, user_id: str, thread_id: str) -> None:
        """Delete all that is kept of a thread: checkpoints, long results, and where facts are from; the facts stay."""
        await self._storage.saver.adelete_thread(thread_id)
        await delete_results(self._store, self._result_cache, user_id, thread_id)
        await Facts(self._store, user_id).unlink(thread_id)
        await self._storage.erase()

    async def check(self) -> None:
        """Raise if the checkpoints can't be read."""
        await self._storage.saver.aget_tuple({"configurable": {"thread_id": "", "checkpoint_ns": ""}})


def _told(grant: Grant) -> GrantInfo:
    bounds = grant.bounds
    return GrantInfo(
        grant_id=grant.grant_id,
        kinds=tuple(sorted(bounds.kinds)),
        folder_ids=tuple(sorted(bounds.folders)),
        max_items=bounds.max_items,
        used=bounds.used,
        until=bounds.until,
        given_at=grant.given_at,
        approval_id=grant.approval_id,
    )


@asynccontextmanager
async def open_assistant(
    root: Path,
    settings: AgentSettings,
    sessions: SessionOpener,
    clock: Clock,
    models: Mapping[ModelRole, BaseChatModel] | None = None,
    plans: PlanControl | None = None,
    public_url: str = "",
) -> AsyncGenerator[Assistant]:
    """Open the assistant on its files below `root`; `models` replaces those of the settings; people see `plans`.

    Links in answers may lead to the drive's own `public_url`, and where the settings say.
    """
    async with AsyncExitStack() as stack:
        url = settings.threads_url or f"sqlite:///{root / 'graph.db'}"
        storage = await stack.enter_async_context(open_threads(url))
        connections = ConnectionPool(
            sessions,
            call_seconds=settings.tool_timeout_seconds,
            long_call_seconds=settings.long_tool_timeout_seconds,
            idle_seconds=settings.session_idle_seconds,
            clock=clock.now,
        )
        stack.push_async_callback(connections.aclose)
        deps = GraphDependencies(
            models=models or await stack.enter_async_context(open_models(settings)),
            connections=connections,
            settings=settings,
            checkpointer=storage.saver,
            store=storage.store,
            plans=plans,
            clock=clock.now,
            hosts=host_allowlist(settings.link_hosts, public_url),
        )
        yield Assistant(deps, storage)
