"""Hand a request over to another specialist, or have a plan made for it.

Both are tools of every specialist. They change the state, not the drive, so the graph answers them: the conditional
edges then lead to the agent that the state names, or to the plan.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from langchain_core.messages import ToolMessage

from drive_server.kernel.texts import Texts
from graph.messages.grouping import AnyCall, current_turn, unanswered
from graph.messages.others import mark, read_items
from graph.messages.written import add_messages, announce_call, outcome_of, refusal_of, report, result_message
from graph.routing.route import announce_route
from graph.state import (
    AGENTS,
    AgentName,
    Plan,
    Refusal,
    Route,
    State,
    Step,
    Update,
    active_agent,
    current_step,
    running_turn,
)

TRANSFER: Final = "transfer_to_agent"
MAKE_PLAN: Final = "make_plan"
HANDOVER_NAMES: Final = frozenset({TRANSFER, MAKE_PLAN})
MAX_HANDOVERS: Final = 2
"""In one turn; then the specialist that has the request does its best."""
REASON_CHARACTERS: Final = 300
CONFIDENCE: Final = 0.8
REFUSALS: Final[tuple[Refusal, ...]] = ("rejected", "answered", "unclear", "expired")
"""Why calls were not allowed, beginning with the person's own word."""

TEXTS: Final = Texts.beside(__file__)


async def hand_over(state: State) -> Update:
    """Answer the newest calls of these tools: with the agent that takes the turn, or its step, from here on."""
    waiting = unanswered(state["messages"])
    own = [call for call in waiting if call["name"] in HANDOVER_NAMES]
    for call in own:
        args = call["args"]
        announce_call(str(call["id"]), call["name"] or "", args if isinstance(args, dict) else {})
    if len(waiting) > 1:
        return add_messages([_refusal(call, state, "alone", tool=call["name"]) for call in own]) if own else {}
    if not own:
        return {}
    return _transfer(own[0], state) if own[0]["name"] == TRANSFER else _plan(own[0], state)


def wants_plan(state: State) -> bool:
    """Say whether the specialist that had the turn asked for a plan of it."""
    route = state.get("route")
    last = state["messages"][-1]
    made = isinstance(last, ToolMessage) and last.name == MAKE_PLAN and outcome_of(last) == "done"
    return made and bool(route and route["needs_plan"]) and not state.get("plan")


def _transfer(call: AnyCall, state: State) -> Update:
    args = _mapping(call["args"])
    agent, why = args.get("agent"), args.get("reason")
    if agent not in AGENTS or not isinstance(why, str) or not why.strip():
        return add_messages([_refusal(call, state, "no_agent", agents=", ".join(AGENTS))])
    if agent == active_agent(state):
        return add_messages([_refusal(call, state, "yourself", agent=agent)])
    if _handovers(state) >= MAX_HANDOVERS:
        return add_messages([_refusal(call, state, "too_often", most=MAX_HANDOVERS)])
    reason = " ".join(why.split())[:REASON_CHARACTERS]
    # The reason may repeat a file's words: it is withheld with them.
    read = read_items(current_turn(state["messages"]))
    done = report(mark(_result(call, _text(state, "handed_over", agent=agent, reason=reason)), read, read))
    return {**add_messages([done]), **_given_to(agent, reason, state)}


def _given_to(agent: AgentName, reason: str, state: State) -> Update:
    """Return the update that gives the running step, else the turn, to the agent."""
    route: Route = {
        "agent": agent,
        "confidence": CONFIDENCE,
        "reason": reason,
        "method": "handover",
        "needs_plan": False,
    }
    if (state.get("route") or {}).get("corrects"):
        route["corrects"] = True
    plan, step = state.get("plan"), current_step(state)
    announce_route(route, step["id"] if step else None)
    if not (plan and step):
        return {"route": route}
    changed: Step = {**step, "agent": agent}
    given: Plan = {**plan, "steps": [changed if one["id"] == step["id"] else one for one in plan["steps"]]}
    return {"plan": given}


def _plan(call: AnyCall, state: State) -> Update:
    if state.get("plan"):
        return add_messages([_refusal(call, state, "in_a_plan")])
    if running_turn(state)["changes"]:
        return add_messages([_refusal(call, state, "begun")])
    if refusal := main_refusal(_results(state)):
        return add_messages([_refusal(call, state, refusal)])
    route = state.get("route")
    before: Route = route or {
        "agent": active_agent(state),
        "confidence": CONFIDENCE,
        "reason": _text(state, "planned"),
        "method": "handover",
        "needs_plan": True,
    }
    planned: Route = {**before, "needs_plan": True}
    return {**add_messages([report(_result(call, _text(state, "planned")))]), "route": planned}


def _handovers(state: State) -> int:
    """Return how often the running turn was handed over."""
    return sum(message.name == TRANSFER and outcome_of(message) == "done" for message in _results(state))


def main_refusal(results: Iterable[ToolMessage]) -> Refusal | None:
    """Return why calls were not allowed, None if all were. Of several reasons, the person's own word comes first."""
    found = {refusal_of(result) for result in results}
    return next((refusal for refusal in REFUSALS if refusal in found), None)


def _results(state: State) -> Iterator[ToolMessage]:
    return (message for message in current_turn(state["messages"]) if isinstance(message, ToolMessage))


def _refusal(call: AnyCall, state: State, code: str, **values: Any) -> ToolMessage:
    return report(result_message(str(call["id"]), call["name"] or "", _text(state, code, **values), "error"))


def _result(call: AnyCall, text: str) -> ToolMessage:
    return result_message(str(call["id"]), call["name"] or "", text, "done")


def _text(state: State, code: str, **values: Any) -> str:
    return TEXTS.say(f"handover.{code}", running_turn(state)["language"], **values)


def _mapping(args: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", args) if isinstance(args, Mapping) else {}
