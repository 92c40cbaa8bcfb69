"""A step that ends in a question or a refusal is not done: steps that need it wait for the person's answer."""

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.errors import DriveUnavailableError
from graph.events.sending import emit
from graph.language import Language
from graph.memory.facts import hidden_items
from graph.messages.others import made_of, withheld_text
from graph.planning.progress import views
from graph.routing.route import STICKY_CONFIDENCE, announce_route, by_pattern, route_reason
from graph.state import Plan, Route, State, Step, Update, join_attachments, running_turn

if TYPE_CHECKING:
    from graph.events.plans import TaskPlanEvent

_REGRET: Final = r"(?:很?抱歉|对不起|不好意思|很?遗憾)[，,。！ ]*(?:但|但是)?"
_REFUSES: Final = re.compile(
    r"^(?:(?:i(?:'m| am)? )?(?:sorry|afraid)[,:.!—-]*\s*(?:but\s+|that\s+)?|unfortunately,?\s*)?"
    r"i (?:can(?:'t|not| not)|could(?:n't| not)|won't|will not|am (?:not able|unable)|'m (?:not able|unable)"
    r"|don't have|do not have)\b"
    rf"|^(?:{_REGRET})?(?:我|目前|现在)*(?:无法|没办法|没有办法|没法|做不到)"
    rf"|^(?:{_REGRET}|我|目前|现在)(?:我|目前|现在)*(?:不能|不可以)",
    re.IGNORECASE,
)
_DID_NOTHING: Final = re.compile(
    r"\b(?:i|and|so)(?: have)? (?:changed|did|done|created|moved|shared|deleted) nothing\b"
    r"|\b(?:made no changes|did(?:n't| not) (?:change|do) anything)\b"
    r"|\bnothing (?:was|has been) (?:changed|done)(?=[.!;,]|$)"
    r"|没有(?:做|进行|执行)(?:任何|什么)?(?:改动|更改|修改|操作|变更)|什么(?:也|都)没有?(?:做|改|动)",
    re.IGNORECASE,
)


def refuses(text: str) -> bool:
    """Say whether an answer begins by saying that it can't be done, or says that nothing was done."""
    said = text.strip().replace("’", "'")
    return bool(_REFUSES.match(said) or _DID_NOTHING.search(said))


async def continue_plan(state: State) -> Update:
    """Continue the plan that waits for an answer, with the attachments of its request.

    A message that is clearly a request of its own ends it.
    """
    plan = state.get("plan")
    if plan is None:
        return {}
    if by_pattern(state):
        return {"plan": None}
    steps: list[Step] = [{**step, "question": ""} for step in plan["steps"]]
    going: Plan = {**plan, "steps": steps, "status": "running", "wanted": "run"}
    route = _route_of(plan, running_turn(state)["language"])
    announce_route(route)
    event: TaskPlanEvent = {
        "type": "task_plan",
        "plan_id": plan["plan_id"],
        "steps": views(going),
        "version": plan.get("version", 1),
    }
    emit(event)
    attachments = join_attachments(state.get("place", {}).get("attachments", []), plan.get("attachments", []))
    place = {"place": {**state.get("place", {}), "attachments": attachments}} if attachments else {}
    return {"plan": going, "route": route, **place}


async def withhold_results(plan: Plan, state: State, deps: GraphDependencies, user: RunContext) -> Plan:
    """Return the plan without its steps' words about items that are not shared with the person any more."""
    made = [(message.text, items) for message, items in made_of(state["messages"]) if items and message.text]
    if not made:
        return plan
    hidden = await _hidden(set[str]().union(*(items for _, items in made)), deps, user)
    gone, withheld = {text for text, items in made if items & hidden}, withheld_text(running_turn(state)["language"])
    steps: list[Step] = [
        {
            **step,
            "result": withheld if step["result"] in gone else step["result"],
            "error": withheld if step["error"] in gone else step["error"],
        }
        for step in plan["steps"]
    ]
    return {**plan, "steps": steps}


async def _hidden(items: Collection[str], deps: GraphDependencies, user: RunContext) -> frozenset[str]:
    try:
        return await hidden_items(await deps.connections.toolbox(user), items)
    except DriveUnavailableError:
        return frozenset(items)


def _route_of(plan: Plan, language: Language) -> Route:
    return {
        "agent": next(step["agent"] for step in plan["steps"] if step.get("question")),
        "confidence": STICKY_CONFIDENCE,
        "reason": route_reason("sticky", language),
        "method": "sticky",
        "needs_plan": False,
    }
