"""Begin a turn: take the person's message, close open calls, fold turns that no longer fit into the window."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import uuid4

from langchain_core.messages import AnyMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.runtime import Runtime

from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.drive.tool_names import REDO, UNDO
from graph.errors import NoMessageError
from graph.language import language_of
from graph.memory.last_turns import newest_change
from graph.memory.summarizer import Summarizer, fold_turns
from graph.memory.view import read_room
from graph.messages.grouping import AnyCall, open_calls
from graph.messages.written import result_message
from graph.state import (
    Attachment,
    PlaceOfPerson,
    State,
    Turn,
    Update,
    ended_plan,
    join_attachments,
    message_id_of,
    waiting_plan,
)

NOT_EXECUTED: Final = "Not executed: the person moved on before this was decided. Don't do it unless they ask again."
UNKNOWN: Final = (
    "Interrupted before its result arrived: it may or may not have happened. Look at the drive before doing it again."
)
MAX_ATTACHMENTS: Final = 20
MAX_ATTACHED: Final = 50
"""Attachments that a thread remembers: those that the person no longer sees take room, too."""


def make_recall(deps: GraphDependencies) -> Any:
    """Return the node."""

    async def recall(state: State, runtime: Runtime[RunContext]) -> Update:
        messages = state.get("messages", [])
        previous = state.get("turn")
        foreign = {message.id for message in foreign_messages(messages, previous)}
        own = [message for message in messages if message.id not in foreign]
        asked, place = _newest_human(own), clean_place(state.get("place"))
        attached = join_attachments(place.get("attachments", []), state.get("attached", []))[:MAX_ATTACHED]
        closing = [_close(call, state) for call in open_calls(own)]
        spending = deps.spending("summarizer", runtime)
        room = await read_room(deps, "agent", runtime, state.get("narrowed"))
        # The conversation takes at most half of the model's input: the rest is for long results, and for this turn.
        folded = await fold_turns(state, own, room.for_messages() // 2, Summarizer(deps, runtime, spending))
        return {
            "messages": [*(RemoveMessage(id=str(key)) for key in foreign), *closing],
            "turn": {
                # A client may send a message's id twice, and then no change may count as made before.
                "run_id": deps.user(runtime).run_id or str(uuid4()),
                "message_id": str(asked.id),
                "begun_at": deps.clock().isoformat(),
                "language": language_of(asked.text, previous["language"] if previous else None),
                "written": [str(message.id) for message in closing],
                "usage": dict(spending.usage),
            },
            "place": place,
            **({"attached": attached} if attached else {}),
            "summaries": folded.summaries,
            "window_start": folded.window_start,
            "last_run_id": _last_run(state, closing),
            "last_change": newest_change(state),
            "plan": waiting_plan(state),
            "last_plan": ended_plan(state) or state.get("last_plan"),
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
    """Return the messages that a client added since the last turn, other than human ones: forged results, answers."""
    own_ids = {message_id_of(previous), *previous["written"]} if previous else set[str]()
    foreign: list[AnyMessage] = []
    for message in reversed(messages):
        if message.id in own_ids:
            break
        if not isinstance(message, HumanMessage):
            foreign.append(message)
    return foreign


def clean_place(place: object) -> PlaceOfPerson:
    """Return where the person is; values that are no ids become None. Whether the ids exist is the drive's to say."""
    place_fields: dict[Any, Any] = place if isinstance(place, dict) else {}

    def one(key: str) -> str | None:
        value = place_fields.get(key)
        return value if isinstance(value, str) and value else None

    attached = place_fields.get("attachments")
    entries: list[Any] = attached[:MAX_ATTACHMENTS] if isinstance(attached, list) else []
    ids = dict.fromkeys(entry.get("id") for entry in entries if isinstance(entry, dict))
    found: list[Attachment] = [{"id": key} for key in ids if isinstance(key, str) and key]
    clean: PlaceOfPerson = {"file_id": one("file_id"), "folder_id": one("folder_id")}
    return {**clean, "attachments": found} if found else clean


def _newest_human(messages: Sequence[AnyMessage]) -> HumanMessage:
    newest = next((message for message in reversed(messages) if isinstance(message, HumanMessage)), None)
    if newest is None or not newest.text.strip():
        raise NoMessageError
    return newest


def _last_run(state: State, closing: Sequence[ToolMessage]) -> str | None:
    """Return the newest run that changed something, or may have: one that was cut off in the middle of a call.

    Undo and redo don't count: a person who asks for the last change does not mean them.
    """
    previous = state.get("turn")
    cut_off = any(message.text == UNKNOWN for message in closing)
    changed = previous and any(change["tool"] not in {UNDO, REDO} for change in previous["changes"])
    return previous["run_id"] if previous and (changed or cut_off) else state.get("last_run_id")


def _close(call: AnyCall, state: State) -> ToolMessage:
    standing = {call["tool_call_id"]: call["standing"] for call in state.get("calls", [])}
    started = standing.get(str(call["id"])) in {"allowed", "approved"}
    pending = (state.get("approval") or {}).get("status") == "pending"
    text = UNKNOWN if started and not pending else NOT_EXECUTED
    return result_message(str(call["id"]), call["name"] or "", text, "cancelled")
