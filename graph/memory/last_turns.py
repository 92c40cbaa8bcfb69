"""Sections about earlier turns of a thread: the last change, for a turn that corrects it, and the last plan that ended.

"And the second one?" is about the steps of a plan and their results.
"""

from collections.abc import Collection, Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from graph.drive.tool_names import REDO, UNDO
from graph.messages.others import made_of
from graph.prompts import compact, json_section
from graph.state import ChangeNote, State, Step

MAX_CHARACTERS: Final = 4_000
"""Limit of the arguments, and of the result."""
RESULT_CHARACTERS: Final = 500
OF_OTHERS: Final = "[about what others share: see the conversation]"


def newest_change(state: State) -> ChangeNote | None:
    """Return the newest change of the thread before the turn that begins; None if it was taken back."""
    previous = state.get("turn")
    if not previous or not previous["changes"]:
        return state.get("last_change")
    newest = previous["changes"][-1]
    return None if newest["tool"] in {UNDO, REDO} else newest


def last_change_section(state: State) -> str:
    """Return the last change, with its arguments; only the tool where other people's words are in it."""
    note = state.get("last_change")
    if note is None:
        return ""
    own = [message for message, others in made_of(state["messages"]) if not others]
    args, result = _args(own, note["tool_call_id"]), _result(own, note["tool_call_id"])
    shown: dict[str, Any] = {"tool": note["tool"]}
    if args is not None and result:
        shown |= {"args": args, "result": result}
    return json_section("last_change", shown)


def _args(messages: Sequence[AnyMessage], key: str) -> Any:
    calls = [call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    args = next((call["args"] for call in reversed(calls) if str(call["id"]) == key), None)
    if args is None or len(compact(args)) <= MAX_CHARACTERS:
        return args
    return compact(args)[:MAX_CHARACTERS]


def _result(messages: Sequence[AnyMessage], key: str) -> str:
    results = [one.text for one in messages if isinstance(one, ToolMessage) and one.tool_call_id == key]
    return results[-1][:MAX_CHARACTERS] if results else ""


def last_plan_section(state: State) -> str:
    """Return the steps of the last plan with their results; empty without one.

    What its steps say of other people's items is left out: it would outlive their shares.
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
