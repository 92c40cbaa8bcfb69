"""The assistant as the service uses it: the compiled graph with its storage, its models and its connections."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.sqlite.aio import AsyncSqliteStore

from api.checkpoints import open_checkpoints
from api.clock import Clock
from graph.build import build_graph
from graph.connections import ConnectionPool, SessionOpener
from graph.context import GraphDependencies, ModelRole, RunContext
from graph.errors import explain
from graph.gateway.approval import check_edit, expired_answer
from graph.models import open_models
from graph.settings import AgentSettings
from graph.state import AGENTS


class Assistant:
    """The graph, and what the service has to know of its words (`GraphPort`)."""

    text_nodes = frozenset(AGENTS)

    def __init__(self, deps: GraphDependencies, saver: AsyncSqliteSaver) -> None:
        self.graph: Any = build_graph(deps)
        self._saver = saver

    def context(self, user_id: str, email: str, scopes: Sequence[str]) -> RunContext:
        """Return the run context for a caller."""
        return RunContext(user_id=user_id, email=email, scopes=tuple(scopes))

    def expired(self, payload: Mapping[str, Any]) -> Any:
        """Return what the interrupt is resumed with when nobody decided in time."""
        return expired_answer(payload)

    def check_edit(self, payload: Mapping[str, Any], tool_call_id: str, args: Mapping[str, Any]) -> str | None:
        """Return what is wrong with edited arguments, None if they fit the tool."""
        return check_edit(payload, tool_call_id, args)

    def failure(self, error: Exception) -> tuple[str, str, bool]:
        """Return an error as (code, sentence, whether trying again may help)."""
        return explain(error)

    async def forget(self, thread_id: str) -> None:
        """Delete the thread's checkpoints."""
        await self._saver.adelete_thread(thread_id)

    async def check(self) -> None:
        """Raise if the checkpoints can't be read."""
        await self._saver.aget_tuple({"configurable": {"thread_id": "", "checkpoint_ns": ""}})


@asynccontextmanager
async def open_assistant(
    root: Path,
    settings: AgentSettings,
    sessions: SessionOpener,
    clock: Clock,
    models: Mapping[ModelRole, BaseChatModel] | None = None,
) -> AsyncGenerator[Assistant]:
    """Open the assistant on its files below `root`; `models` replaces those of the settings."""
    async with AsyncExitStack() as stack:
        saver = await stack.enter_async_context(open_checkpoints(root / "graph.db"))
        store = await stack.enter_async_context(AsyncSqliteStore.from_conn_string(str(root / "store.db")))
        await store.setup()
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
            checkpointer=saver,
            store=store,
            clock=clock.now,
        )
        yield Assistant(deps, saver)
