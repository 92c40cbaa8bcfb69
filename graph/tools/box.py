"""The assistant's own tools, beside those of the drive: the full text of long results, and its long-term memory."""

from typing import Final

from langgraph.runtime import Runtime

from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.servers.offered import NOTHING, OfferedTools
from graph.tools.handover import MAKE_A_PLAN, TRANSFER_TO_AGENT
from graph.tools.local import ToolContext, Toolset
from graph.tools.memory import FORGET, LIST_MEMORIES, REMEMBER
from graph.tools.more import MORE_TOOLS
from graph.tools.results import READ_RESULT

__all__ = ["LOCAL_NAMES", "LOCAL_TOOLS", "toolset"]

HANDOVER_TOOLS: Final = (TRANSFER_TO_AGENT, MAKE_A_PLAN)
WITHOUT_STORE: Final = (MORE_TOOLS, *HANDOVER_TOOLS)
LOCAL_TOOLS: Final = (READ_RESULT, REMEMBER, FORGET, LIST_MEMORIES, *WITHOUT_STORE)
LOCAL_NAMES: Final = frozenset(tool.name for tool in LOCAL_TOOLS)
"""Every specialist has them."""


async def toolset(deps: GraphDependencies, runtime: Runtime[RunContext]) -> Toolset:
    """Return the person's tools in this run; with a store, all of its own. Raises `DriveUnavailableError`."""
    offers = deps.offers(runtime)
    return await drive_toolset(deps, runtime, await offers.of(deps.user(runtime)) if offers else NOTHING)


async def drive_toolset(
    deps: GraphDependencies, runtime: Runtime[RunContext], outside: OfferedTools = NOTHING
) -> Toolset:
    """Return the tools of the drive and the assistant's own; no server of the person is asked for any."""
    user = deps.user(runtime)
    thread_id = runtime.execution_info.thread_id if runtime.execution_info else None
    context = ToolContext(
        toolbox=await deps.connections.toolbox(user),
        store=runtime.store,
        result_store=deps.result_store(runtime),
        user_id=user.user_id,
        thread_id=thread_id or "",
        clock=deps.clock,
        time_zone=user.time_zone,
    )
    return Toolset.of(context, LOCAL_TOOLS if runtime.store is not None else WITHOUT_STORE, outside)
