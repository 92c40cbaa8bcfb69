"""Route the turn: patterns, then stickiness to the last specialist, then one model call."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Protocol

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.errors import ModelError
from graph.events import emit
from graph.limits.budget import Spending
from graph.limits.limits import has_budget
from graph.models.structured import ask_for
from graph.prompts import load_prompt, section
from graph.routing.followups import continues_with, is_follow_up, may_need_plan
from graph.routing.intents import pattern_agent, read_intent
from graph.routing.many_files import of_each
from graph.state import AgentName, Language, Place, Route, State, Update, running_turn

logger = logging.getLogger(__name__)

PROMPT: Final = load_prompt("routing/route")
PATTERN_CONFIDENCE: Final = 0.9
STICKY_CONFIDENCE: Final = 0.7
FALLBACK_CONFIDENCE: Final = 0.2

REASONS: Final[dict[str, dict[Language, str]]] = {
    "drive_agent": {"en": "This is about organising your drive.", "zh": "这是整理云盘的请求。"},
    "document_agent": {"en": "This is about the text of a document.", "zh": "这是关于文档内容的请求。"},
    "search_agent": {"en": "This needs something found in your files.", "zh": "这需要在文件中查找内容。"},
    "plan": {"en": "Several things are to be done, so there will be a plan.", "zh": "需要完成多件事，先制定计划。"},
    "each": {
        "en": "Each file is read, and then all of them are put together, so there will be a plan.",
        "zh": "先逐个读取文件，再汇总成整体，先制定计划。",
    },
    "sticky": {"en": "This goes on from what we were doing.", "zh": "这是接着刚才的内容。"},
    "fallback": {
        "en": "It is not clear who should take this, so the Drive agent tries.",
        "zh": "无法确定由谁处理，先由云盘助手尝试。",
    },
}


class RouteDecision(BaseModel):
    """The specialist for the message, and whether it needs a plan."""

    agent: AgentName = Field(description="document_agent, drive_agent or search_agent")
    needs_plan: bool = Field(description="true if several steps are needed, at least one of which changes something")
    confidence: float = Field(ge=0, le=1, description="how sure this is, 0 to 1")
    reason: str = Field(description="one short sentence for the person, in their language")


class Brief(Protocol):
    """What the router's model is shown beside the message."""

    @property
    def sections(self) -> list[str]:
        """The sections for its system message."""
        ...

    def mark(self, update: Update) -> Update:
        """Return the update of a node whose model was shown this."""
        ...


BriefReader = Callable[[State, Runtime[RunContext]], Awaitable[Brief]]


def make_route(deps: GraphDependencies, read_brief: BriefReader) -> Any:
    """Return the node: a plan that goes on from the turn before has its route."""
    router = deps.models["router"]

    async def route(state: State, runtime: Runtime[RunContext]) -> Update:
        if state.get("plan"):
            return {}
        if decision := by_pattern(state) or by_stickiness(state):
            return {"route": decision}
        spending = Spending(estimates=has_budget(deps.settings))
        brief = await read_brief(state, runtime)
        decision = await _by_model(router, state, brief.sections, spending)
        return brief.mark({"route": decision, **spending.update})

    return route


def announce_route(route: Route | None) -> None:
    """Tell clients who takes the turn, and why; the node that takes it does, so it waits for no transaction before."""
    if route is None:
        return
    emit(
        {
            "type": "route_decision",
            "agent": route["agent"],
            "confidence": route["confidence"],
            "reason": route["reason"],
            "method": route["method"],
        }
    )


def by_pattern(state: State) -> Route | None:
    """Decide by words alone, where they leave no doubt."""
    if of_each(_message(state)) and not _in_document(state):
        reason = REASONS["each"][running_turn(state)["language"]]
        return _route("search_agent", PATTERN_CONFIDENCE, reason, "pattern", needs_plan=True)
    intent = read_intent(_message(state), in_document=_in_document(state))
    agent = pattern_agent(intent)
    if agent is None:
        return None
    reason = REASONS["plan" if intent.several else agent][running_turn(state)["language"]]
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
    if last["agent"] == "document_agent" and not in_document:
        return None
    return _route(last["agent"], STICKY_CONFIDENCE, REASONS["sticky"][running_turn(state)["language"]], "sticky")


async def _by_model(router: BaseChatModel, state: State, brief: Sequence[str], spending: Spending) -> Route:
    language = running_turn(state)["language"]
    try:
        answer = await ask_for(router, RouteDecision, _prompt(state, brief), spending=spending, repairs=1)
    except ModelError as error:
        logger.warning("Routing fell back: %s", error)
        return _route("drive_agent", FALLBACK_CONFIDENCE, REASONS["fallback"][language], "model")
    reason = answer.reason.strip() or REASONS[answer.agent][language]
    return _route(answer.agent, answer.confidence, reason, "model", needs_plan=answer.needs_plan)


def _prompt(state: State, brief: Sequence[str]) -> list[AnyMessage]:
    last = state.get("route")
    sections = [PROMPT, section("last_agent", last["agent"]) if last else "", *brief]
    return [SystemMessage("\n\n".join(filter(None, sections))), HumanMessage(_message(state))]


def place_ids(place: Place) -> dict[str, Any]:
    """Return the place in the shape that specialists get, with ids only: nothing is looked up for routing."""
    file_id, folder_id = place.get("file_id"), place.get("folder_id")
    return {"file": {"id": file_id} if file_id else None, "folder": {"id": folder_id} if folder_id else None}


def _message(state: State) -> str:
    return next(message.text for message in reversed(state["messages"]) if isinstance(message, HumanMessage))


def _in_document(state: State) -> bool:
    return bool(state.get("place", {}).get("file_id"))


def _route(agent: AgentName, confidence: float, reason: str, method: Any, *, needs_plan: bool = False) -> Route:
    return {
        "agent": agent,
        "confidence": round(confidence, 2),
        "reason": reason,
        "method": method,
        "needs_plan": needs_plan,
    }
