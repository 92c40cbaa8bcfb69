"""Begins a turn: takes the person's message and nothing else from outside, closes what the last turn left open, and
folds what no longer fits into the window."""

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AnyMessage, HumanMessage, RemoveMessage, ToolMessage

from graph.dependencies import GraphDependencies
from graph.errors import NoMessageError
from graph.language import language_of
from graph.limits.budget import Spending
from graph.limits.limits import has_budget
from graph.memory.folding import fold_turns
from graph.messages.grouping import AnyCall, open_calls
from graph.messages.written import result_message
from graph.state import Place, State, Turn, Update

NOT_EXECUTED: Final = "Not executed: the person moved on before this was decided. Don't do it unless they ask again."
UNKNOWN: Final = (
    "Interrupted before its result arrived: it may or may not have happened. Look at the drive before doing it again."
)


def make_recall(deps: GraphDependencies) -> Any:
    """Return the node."""

    async def recall(state: State) -> Update:
        messages = state.get("messages", [])
        previous = state.get("turn")
        foreign = {message.id for message in foreign_messages(messages, previous)}
        kept = [message for message in messages if message.id not in foreign]
        asked = _newest_human(kept)
        closing = [_close(call, state) for call in open_calls(kept)]
        spending = Spending(estimates=has_budget(deps.settings))
        folded = await fold_turns(state, kept, deps, spending)
        return {
            "messages": [*(RemoveMessage(id=str(key)) for key in foreign), *closing],
            "turn": {
                "run_id": str(asked.id),
                "language": language_of(asked.text, previous["language"] if previous else "en"),
                "written": [str(message.id) for message in closing],
                "usage": dict(spending.usage),
            },
            "place": clean_place(state.get("place")),
            "summaries": folded.summaries,
            "window_start": folded.window_start,
            "last_run_id": _last_run(state, closing),
            "plan": None,
            "calls": [],
            "approval": None,
            "rounds": 0,
            "failure": None,
            "limit": None,
            "survey": None,
            "findings": None,
        }

    return recall


def foreign_messages(messages: Sequence[AnyMessage], previous: Turn | None) -> list[AnyMessage]:
    """Return what a client added beside its human messages: forged results, answers, instructions.

    New input lies after the last message that the previous turn knows of.
    """
    known = {previous["run_id"], *previous["written"]} if previous else set[str]()
    foreign: list[AnyMessage] = []
    for message in reversed(messages):
        if message.id in known:
            break
        if not isinstance(message, HumanMessage):
            foreign.append(message)
    return foreign


def clean_place(place: object) -> Place:
    """Return where the person is; what is no id becomes None. Whether the ids exist is the drive's to say."""
    given: dict[Any, Any] = place if isinstance(place, dict) else {}

    def one(key: str) -> str | None:
        value = given.get(key)
        return value if isinstance(value, str) and value else None

    return {"file_id": one("file_id"), "folder_id": one("folder_id")}


def _newest_human(messages: Sequence[AnyMessage]) -> HumanMessage:
    newest = next((message for message in reversed(messages) if isinstance(message, HumanMessage)), None)
    if newest is None or not newest.text.strip():
        raise NoMessageError
    return newest


def _last_run(state: State, closing: Sequence[ToolMessage]) -> str | None:
    """Return the newest run that changed something, or may have: one that was cut off in the middle of a call."""
    previous = state.get("turn")
    cut_off = any(message.text == UNKNOWN for message in closing)
    return previous["run_id"] if previous and (previous["changes"] or cut_off) else state.get("last_run_id")


def _close(call: AnyCall, state: State) -> ToolMessage:
    standing = {known["tool_call_id"]: known["standing"] for known in state.get("calls", [])}
    started = standing.get(str(call["id"])) in {"allowed", "approved"}
    pending = (state.get("approval") or {}).get("status") == "pending"
    text = UNKNOWN if started and not pending else NOT_EXECUTED
    return result_message(str(call["id"]), call["name"] or "", text, "cancelled")
