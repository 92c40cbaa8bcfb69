"""The last plan that ended, for the turns after it: "and the second one?" is about its steps and their results."""

from collections.abc import Collection
from typing import Any, Final

from graph.messages.others import made_of
from graph.prompts import json_section
from graph.state import State, Step

RESULT_CHARACTERS: Final = 500
OF_OTHERS: Final = "[about what others share: see the conversation]"


def last_plan_section(state: State) -> str:
    """Return the steps of the last plan with their results; empty without one.

    Words of its steps about other people's items are left out: they would outlive their shares.
    """
    plan = state.get("last_plan")
    if plan is None or state.get("plan"):
        return ""
    of_others = {message.text for message, items in made_of(state["messages"]) if items and message.text}
    return json_section("last_plan", [_view(number, step, of_others) for number, step in enumerate(plan["steps"], 1)])


def _view(number: int, step: Step, of_others: Collection[str]) -> dict[str, Any]:
    view: dict[str, Any] = {"number": number, "title": step["title"], "status": step["status"]}
    said = (step["result"] or step["error"] or "").strip()
    if not said:
        return view
    is_of_others = any(text in of_others for text in (step["result"], step["error"]))
    return {**view, "result": OF_OTHERS if is_of_others else said[:RESULT_CHARACTERS]}
