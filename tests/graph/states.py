"""A state at the point where the router decides."""

from langchain_core.messages import HumanMessage

from graph.language import language_of
from graph.state import AgentName, Route, State, new_turn


def state_of(text: str, *, in_document: bool = False, last: AgentName | None = None) -> State:
    """Return the state of a turn that has just begun; `last` took the turn before."""
    state: State = {
        "messages": [HumanMessage(text)],
        "place": {"file_id": "f" if in_document else None},
        "turn": new_turn("run", language_of(text)),
    }
    if last:
        before: Route = {"agent": last, "confidence": 0.9, "reason": "", "method": "pattern", "needs_plan": False}
        state["route"] = before
    return state
