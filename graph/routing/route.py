"""Route the turn: patterns, then stickiness to the last specialist, then a score; or a small model, if there is one."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from drive_server.kernel.texts import Texts
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.drive.tool_names import EDITS
from graph.errors import ModelError
from graph.events.sending import emit
from graph.language import Language
from graph.limits.budget import Spending
from graph.messages.grouping import current_turn
from graph.models.asking import reads_structure
from graph.models.profile import is_small
from graph.models.serving import serving
from graph.models.structured import ask_for
from graph.prompts import load_prompt, section
from graph.routing.corrections import asks_for_change, is_correction
from graph.routing.followups import continues_with, is_follow_up, may_need_plan
from graph.routing.intents import pattern_agent, read_intent
from graph.routing.likely import likeliest
from graph.routing.many_files import of_each
from graph.routing.questions import asks
from graph.state import AgentName, ChangeNote, PlaceOfPerson, Route, State, Update, running_turn
from graph.supersteps import join_updates

if TYPE_CHECKING:
    from graph.events.plans import RouteDecisionEvent

logger = logging.getLogger(__name__)

PROMPT: Final = load_prompt("routing/route")
UNSURE: Final = load_prompt("routing/unsure")
"""The paragraph for a specialist that may not be the right one."""
PATTERN_CONFIDENCE: Final = 0.9
STICKY_CONFIDENCE: Final = 0.7

TEXTS: Final = Texts.beside(__file__)


ASKS_FOR_PLAN: Final = re.compile(r"\bplan\b|step by step|计划|规划|分步|一步一步", re.IGNORECASE)


async def is_small_model(deps: GraphDependencies, runtime: Runtime[RunContext]) -> bool:
    """Say whether a small model plans and works in this run."""
    model = deps.model("planner", runtime)
    name = deps.model_name("planner", runtime)
    return not reads_structure(model) and is_small(deps.settings, name, await serving(model))


class RouteDecision(BaseModel):
    """The specialist for the message, and whether it needs a plan."""

    agent: AgentName = Field(description="document_agent, drive_agent or search_agent")
    needs_plan: bool = Field(description="true if several steps are needed, at least one of which changes something")
    confidence: float = Field(ge=0, le=1, description="how sure this is, 0 to 1")
    reason: str = Field(description="one short sentence for the person, in their language")


class Brief(Protocol):
    """The briefing of the router's model beside the message."""

    @property
    def sections(self) -> list[str]:
        """The sections for its system message."""
        ...

    def mark(self, update: Update) -> Update:
        """Return the update of a node whose model was shown this."""
        ...


BriefReader = Callable[[State, Runtime[RunContext]], Awaitable[Brief]]


ReadContext = Callable[[State, AgentName, Runtime[RunContext]], Awaitable[None]]
"""Reads ahead the surroundings that this specialist will see beside the messages."""


def make_route(deps: GraphDependencies, read_context: ReadContext, read_brief: BriefReader) -> Any:
    """Return the node: a plan that goes on from the turn before has its route."""
    threshold = deps.settings.route_confidence

    async def ask(
        router: BaseChatModel, likely: Route, state: State, runtime: Runtime[RunContext], spending: Spending
    ) -> Update:
        brief = await read_brief(state, runtime)
        return brief.mark({"route": await _by_model(router, state, brief.sections, spending) or likely})

    async def decide(state: State, runtime: Runtime[RunContext], spending: Spending) -> Update:
        likely, router = by_score(state, threshold), deps.router(runtime)
        if router is None:
            return {"route": likely}
        asked = ask(router, likely, state, runtime, spending)
        decided, _ = await asyncio.gather(asked, read_context(state, likely["agent"], runtime))
        return decided

    async def route(state: State, runtime: Runtime[RunContext]) -> Update:
        if state.get("plan"):
            return {}
        spending = deps.spending("router", runtime)
        found = by_correction(state) or by_pattern(state) or by_stickiness(state)
        decided: Update = {"route": found} if found else await decide(state, runtime, spending)
        decision: Route = decided["route"]
        text = _message(state)
        wants_plan = bool(of_each(text) or ASKS_FOR_PLAN.search(text))
        is_lost = decision["needs_plan"] and not wants_plan and await is_small_model(deps, runtime)
        if is_lost or decision["confidence"] < threshold:
            # The specialist may ask back, and has a plan made once it is clear; small models lose their way.
            decided["route"] = {**decision, "needs_plan": False}
        return join_updates(decided, spending.update)

    return route


def is_unsure(state: State, threshold: float) -> bool:
    """Say whether the turn was routed with so little confidence that the specialist has to make sure first."""
    route = state.get("route")
    return bool(route) and route["confidence"] < threshold and not state.get("plan")


def announce_route(route: Route | None, step_id: str | None = None) -> None:
    """Tell clients who takes the turn, and why; the node that takes it does, so it waits for no transaction before."""
    if route is None:
        return
    event: RouteDecisionEvent = {
        "type": "route_decision",
        "agent": route["agent"],
        "confidence": route["confidence"],
        "reason": route["reason"],
        "method": route["method"],
    }
    emit({**event, "step_id": step_id} if step_id else event)


def begins_turn(state: State) -> bool:
    """Say whether nothing has answered the person's message yet: who takes it is still to be announced."""
    # Calls left open before are closed behind the message.
    has_answer = any(isinstance(message, AIMessage) for message in current_turn(state["messages"]))
    return not state.get("plan") and not has_answer


def by_correction(state: State) -> Route | None:
    """Let the agent of the thread's last change make it otherwise, if the message says no more than that."""
    last = state.get("last_change")
    if not last or not is_correction(_message(state)):
        return None
    if not (_is_of_last_turn(state, last) or asks_for_change(_message(state))):
        return None
    if _in_document(state) and last["tool"] not in EDITS:
        return None
    agent: AgentName = "document_agent" if last["tool"] in EDITS else "drive_agent"
    reason = _reason("correction", state)
    return {**_route(agent, PATTERN_CONFIDENCE, reason, "sticky"), "corrects": True}


def _is_of_last_turn(state: State, change: ChangeNote) -> bool:
    said = [at for at, message in enumerate(state["messages"]) if isinstance(message, HumanMessage)]
    turn = state["messages"][said[-2] :] if len(said) > 1 else []
    return any(isinstance(one, ToolMessage) and one.tool_call_id == change["tool_call_id"] for one in turn)


def by_pattern(state: State) -> Route | None:
    """Decide by words alone, where they leave no doubt."""
    if of_each(_message(state)) and not _in_document(state):
        reason = _reason("each", state)
        return _route("search_agent", PATTERN_CONFIDENCE, reason, "pattern", needs_plan=True)
    intent = read_intent(_message(state), in_document=_in_document(state))
    agent = pattern_agent(intent)
    if agent is None:
        return None
    reason = _reason("plan" if intent.several else agent, state)
    return _route(agent, PATTERN_CONFIDENCE, reason, "pattern", needs_plan=intent.several)


def by_stickiness(state: State) -> Route | None:
    """Stay with the last turn's specialist when the message goes on from it and asks for nothing of another's.

    A message that may need a plan is not decided here: the router judges that.
    """
    last = state.get("route")
    text = _message(state)
    in_document = _in_document(state)
    if (
        not last
        or not is_follow_up(text)
        or may_need_plan(text)
        or not continues_with(last["agent"], read_intent(text, in_document=in_document))
    ):
        return None
    if last["agent"] == "document_agent" and not in_document and not _has_asked(state["messages"]):
        return None
    return _route(last["agent"], STICKY_CONFIDENCE, _reason("sticky", state), "sticky")


def by_score(state: State, threshold: float) -> Route:
    """Name the specialist that is likely to have the tools; below the threshold, the reason says that it is a guess."""
    text, in_document, before = _message(state), _in_document(state), state.get("route")
    likely = likeliest(
        text,
        read_intent(text, in_document=in_document),
        in_document=in_document,
        last=before["agent"] if before else None,
        goes_on=is_follow_up(text) or _has_asked(state["messages"]),
    )
    reason = _reason("unsure" if likely.confidence < threshold else likely.agent, state)
    return _route(likely.agent, likely.confidence, reason, "score")


def _has_asked(messages: Sequence[AnyMessage]) -> bool:
    """Say whether the assistant's last words ask something: which of several is meant, or a missing value."""
    return asks(next((one.text for one in reversed(messages) if isinstance(one, AIMessage) and one.text), ""))


async def _by_model(router: BaseChatModel, state: State, brief: Sequence[str], spending: Spending) -> Route | None:
    """Return the router's route; None if its model fails."""
    try:
        answer = await ask_for(router, RouteDecision, _prompt(state, brief), spending=spending, repairs=1)
    except ModelError as error:
        logger.warning("The router's model failed, so the likeliest specialist takes the turn: %s", error)
        return None
    reason = answer.reason.strip() or _reason(answer.agent, state)
    return _route(answer.agent, answer.confidence, reason, "model", needs_plan=answer.needs_plan)


def _prompt(state: State, brief: Sequence[str]) -> list[AnyMessage]:
    last = state.get("route")
    sections = [PROMPT, section("last_agent", last["agent"]) if last else "", *brief]
    return [SystemMessage("\n\n".join(filter(None, sections))), HumanMessage(_message(state))]


def place_ids(place: PlaceOfPerson) -> dict[str, Any]:
    """Return the place in the shape that specialists get, with ids only: nothing is looked up for routing."""
    file_id, folder_id = place.get("file_id"), place.get("folder_id")
    return {"file": {"id": file_id} if file_id else None, "folder": {"id": folder_id} if folder_id else None}


def _message(state: State) -> str:
    return next(message.text for message in reversed(state["messages"]) if isinstance(message, HumanMessage))


def _in_document(state: State) -> bool:
    return bool(state.get("place", {}).get("file_id"))


def route_reason(code: str, language: Language) -> str:
    """Return the sentence that says why a specialist takes the turn: by its own name, or another code."""
    return TEXTS.say(f"reason.{code}", language)


def _reason(code: str, state: State) -> str:
    return route_reason(code, running_turn(state)["language"])


def _route(agent: AgentName, confidence: float, reason: str, method: Any, *, needs_plan: bool = False) -> Route:
    return {
        "agent": agent,
        "confidence": round(confidence, 2),
        "reason": reason,
        "method": method,
        "needs_plan": needs_plan,
    }
