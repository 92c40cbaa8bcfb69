"""The graph, wired; and the factory that `langgraph dev` calls."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

from langchain_core.messages import ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from graph.agents.briefing import make_briefing
from graph.agents.specialist import make_specialist
from graph.agents.surroundings_cache import SurroundingsCache
from graph.approvals.act import make_act, make_read, ready_tasks
from graph.approvals.approve import make_approve
from graph.approvals.payload import asked
from graph.approvals.review import EVERYONE, SPECIALISTS, make_review
from graph.citations.cite import make_cite, must_cite
from graph.context import DevelopmentContext, RunContext
from graph.dependencies import GraphDependencies
from graph.drive.connections import ALL_SCOPES, ConnectionPool, DriveSettings, LocalDrive, read_settings
from graph.errors import DriveUnavailableError
from graph.events.transformer import EventTransformer
from graph.links.allowlist import host_allowlist
from graph.memory.recall import make_recall
from graph.messages.grouping import unanswered
from graph.model_factory import build_model_set
from graph.models.sampling import LentModel
from graph.planning.advance import make_advance, make_begin_step, pause, wants_revision
from graph.planning.agree import make_agree
from graph.planning.map_reduce.map_item import make_map_item
from graph.planning.map_reduce.map_items import after_map_items, make_map_items, make_map_whole
from graph.planning.plan import make_plan
from graph.planning.revise import make_revise
from graph.planning.waiting import continue_plan
from graph.routing.handover import hand_over, wants_plan
from graph.routing.route import make_route
from graph.settings import AgentSettings
from graph.state import AGENTS, AgentName, GraphInput, State, Update, active_agent, current_step
from graph.supersteps import run_in_one_superstep

Graph = CompiledStateGraph[State, RunContext, GraphInput, State]

PROJECT_FILE: Final = Path(".env")
LOCAL_USER: Final = RunContext("local", "me@localhost", tuple(ALL_SCOPES))

_hosted: WeakKeyDictionary[asyncio.AbstractEventLoop, "Hosted"] = WeakKeyDictionary()


def build_graph(deps: GraphDependencies, context_schema: type[Any] = RunContext) -> Graph:
    """Return the compiled graph. Without a checkpointer in `deps` the platform that runs it supplies one."""
    graph = StateGraph(State, context_schema=context_schema, input_schema=GraphInput)
    surroundings = SurroundingsCache(deps)
    graph.add_node("begin", make_begin(deps, surroundings))
    graph.add_node("plan", make_plan(deps, surroundings))
    graph.add_node("agree", make_agree(deps))
    graph.add_node("begin_step", make_begin_step(deps))
    graph.add_node("pause", pause)
    graph.add_node("revise", make_revise(deps, surroundings))
    graph.add_node("map_items", make_map_items(deps))
    graph.add_node("map_item", make_map_item(deps))
    graph.add_node("map_whole", make_map_whole(deps))
    for specialist in SPECIALISTS:
        graph.add_node(specialist.name, reviewed(make_specialist(specialist, EVERYONE, deps, surroundings), deps))
    graph.add_node("approve", make_approve(deps))
    graph.add_node("act", make_act(deps))
    graph.add_node("cite", make_cite(deps))
    graph.add_node("advance", make_advance(deps))

    graph.add_edge(START, "begin")
    graph.add_conditional_edges("begin", after_route, ["plan", "begin_step", *AGENTS])
    graph.add_conditional_edges("plan", after_plan, ["agree", "begin_step"])
    graph.add_edge("agree", "begin_step")
    graph.add_conditional_edges("begin_step", after_begin_step, ["pause", "map_items", *AGENTS, END])
    graph.add_conditional_edges("map_items", after_map_items, ["map_item", "map_whole", "advance"])
    graph.add_edge("map_item", "map_whole")
    graph.add_edge("map_whole", "advance")
    graph.add_edge("pause", "begin_step")
    graph.add_edge("revise", "begin_step")
    following = ["plan", "approve", "act", "cite", "advance", *AGENTS, END]
    for agent in AGENTS:
        graph.add_conditional_edges(agent, after_specialist, following)
    graph.add_conditional_edges("approve", after_review, ["approve", "act", *AGENTS])
    graph.add_conditional_edges("act", after_act, [*AGENTS])
    graph.add_conditional_edges("cite", after_answer, ["advance", END])
    graph.add_conditional_edges("advance", after_advance, ["begin_step", "revise", END])
    shown = [EventTransformer]
    return graph.compile(checkpointer=deps.checkpointer, store=deps.store, name="drive_agent", transformers=shown)


def make_begin(deps: GraphDependencies, surroundings: SurroundingsCache) -> Any:
    """Return the node that takes the person's message, and names the agent that takes the turn."""

    async def read_context(state: State, agent: AgentName, runtime: Runtime[RunContext]) -> None:
        # A drive that gives no answer is the specialist's to report.
        with suppress(DriveUnavailableError):
            specialist = next(one for one in SPECIALISTS if one.name == agent)
            await surroundings.with_attachments(specialist.read_surroundings, state, runtime)

    recall, route = make_recall(deps), make_route(deps, read_context, make_briefing(deps, surroundings))

    async def begin(state: State, runtime: Runtime[RunContext]) -> Update:
        parts = (partial(recall, runtime=runtime), continue_plan, partial(route, runtime=runtime))
        return await run_in_one_superstep(state, *parts)

    return begin


def reviewed(specialist: Any, deps: GraphDependencies) -> Any:
    """Return a specialist's node: its calls are judged in the same step, and run there if they only read."""
    review, read = make_review(deps), make_read(deps)

    async def consult(state: State, runtime: Runtime[RunContext]) -> Update:
        calls = (partial(specialist, runtime=runtime), hand_over, partial(review, runtime=runtime))
        return await run_in_one_superstep(state, *calls, partial(read, runtime=runtime))

    return consult


async def after_route(state: State) -> str:
    """Go on with a plan that waited for an answer; plan a request of several steps; else the specialist begins."""
    if state.get("plan"):
        return "begin_step"
    route = state.get("route")
    return "plan" if route and route["needs_plan"] else active_agent(state)


async def after_specialist(state: State) -> str | list[Send]:
    """Run or ask about the calls, or make the plan it wants; check the quotations of an answer; else go on."""
    ended = state.get("limit") or state.get("failure")
    if not ended and wants_plan(state):
        return "plan"
    if not ended and (unanswered(state["messages"]) or isinstance(state["messages"][-1], ToolMessage)):
        return await after_review(state)
    return "cite" if must_cite(state) else await after_answer(state)


async def after_answer(state: State) -> str:
    """The rest of the plan, or the word about the limit that was reached; else the turn is over."""
    return "advance" if state.get("plan") or state.get("limit") else END


async def after_review(state: State) -> str | list[Send]:
    """Ask about gated calls first, edited ones included; then run all that are left at once."""
    return "approve" if asked(state.get("calls", [])) else to_act(state)


def to_act(state: State) -> str | list[Send]:
    """Each call that may run is a task of its own; without any, the specialist sees why."""
    return [Send("act", task) for task in ready_tasks(state)] or active_agent(state)


async def after_act(state: State) -> str:
    """The specialist that wanted the calls."""
    return active_agent(state)


async def after_plan(state: State) -> str:
    """The question about the plan's bounds, if there is one; else its first step."""
    plan = state.get("plan")
    return "agree" if plan and plan.get("proposal") else "begin_step"


async def after_begin_step(state: State) -> str:
    """The step's specialist; the end of the plan; or the wait for the person who has paused it."""
    plan = state.get("plan")
    if plan and plan.get("status") == "paused":
        return "pause"
    step = current_step(state)
    if step and step.get("kind") == "map":
        return "map_items"
    return active_agent(state) if step else END


async def after_advance(state: State) -> str:
    """Go on with the rest of the plan, revise it if it can't go on, or end the turn."""
    plan = state.get("plan")
    if plan is None:
        return END
    return "revise" if wants_revision(plan) and not state.get("limit") else "begin_step"


@dataclass(frozen=True, slots=True)
class Hosted:
    """The graph of one event loop of `langgraph dev`, and the drive that it works in."""

    graph: Graph
    drive: LocalDrive
    has_login: bool


async def make_graph() -> Graph:
    """Return the graph for `langgraph dev`: the drive in `DRIVE_DATA_DIR`, with its local user as every client.

    With `AGENT_DEV_LOGIN` a client is whose key it shows (`graph.hosting.auth`). It can only narrow the scopes
    (`DevelopmentContext`). The host calls this for every run and every read. The host supplies the checkpointer.
    """
    return (await hosted()).graph


async def hosted() -> Hosted:
    """Return the graph of this event loop. A drive and its sessions are opened by the first that needs them."""
    loop = asyncio.get_running_loop()
    if loop not in _hosted:
        settings, drive_settings = await asyncio.to_thread(development_settings)
        built = await asyncio.to_thread(build_model_set, settings)
        drive = LocalDrive(drive_settings, LentModel(built.models["reader"]), has_login=settings.dev_login)
        deps = GraphDependencies(
            models=built.models,
            choices=built.choices,
            connections=ConnectionPool.of(settings, drive.open_session),
            settings=settings,
            only_user=LOCAL_USER,
            has_login=settings.dev_login,
            hosts=host_allowlist(settings.link_hosts, drive_settings.resolved_public_url),
        )
        # Another request may have built it meanwhile.
        _hosted.setdefault(loop, Hosted(build_graph(deps, DevelopmentContext), drive, settings.dev_login))
    return _hosted[loop]


def development_settings() -> tuple[AgentSettings, DriveSettings]:
    """Return the settings of `langgraph dev`, the one program that reads the `.env` of the folder it is started in."""
    files = (read_settings(DriveSettings, PROJECT_FILE).config_path, PROJECT_FILE)
    return read_settings(AgentSettings, *files), read_settings(DriveSettings, *files)
