"""The messages that the graph itself writes, each with the outcome of its call."""

import re
from collections.abc import Sequence
from typing import Any, Final, Literal
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from mcp.types import CallToolResult, TextContent

from graph.events.calls import named
from graph.events.sending import emit
from graph.links.allowlist import HostAllowlist
from graph.links.filter import LinkFilter
from graph.policy.provenance import FOREIGN
from graph.state import Refusal, State, Taint, Update, message_id_of, running_turn

Outcome = Literal["done", "error", "cancelled", "rejected"]

USABLE_ID = re.compile(r"[\w:-]{1,128}", re.ASCII)
"""A valid id of a call: it goes into keys, addresses, the journal and, unfiltered, to clients."""
OUTCOME = "outcome"
"""Key in a result's `additional_kwargs`: a rejection has the same status as a failure, so clients look here."""

REFUSAL: Final = "refusal"
"""Key in a rejected call's `additional_kwargs`: why it was not made."""

SOURCES: Final = "outside_calls"
"""Key in an answer's `additional_kwargs`: the server and tool of each call of a person's own server, by its id."""


def result_message(
    tool_call_id: str,
    name: str,
    text: str,
    outcome: Outcome,
    foreign: Sequence[Taint] = (),
    refusal: Refusal | None = None,
) -> ToolMessage:
    """Return a call's result as the model gets it; `foreign` are the files in it whose words are not the person's.

    `refusal` is why a rejected call was not made.
    """
    return ToolMessage(
        text,
        id=str(uuid4()),
        tool_call_id=tool_call_id,
        name=name,
        status="success" if outcome == "done" else "error",
        additional_kwargs={
            OUTCOME: outcome,
            **({FOREIGN: [*foreign]} if foreign else {}),
            **({REFUSAL: refusal} if refusal else {}),
        },
    )


def outcome_of(message: ToolMessage) -> Outcome:
    """Return the outcome of the call."""
    return message.additional_kwargs.get(OUTCOME, "done" if message.status == "success" else "error")


def refusal_of(message: ToolMessage) -> Refusal | None:
    """Return why the call was not made, None if nothing stood in its way."""
    return message.additional_kwargs.get(REFUSAL, "rejected") if outcome_of(message) == "rejected" else None


def announce_call(tool_call_id: str, name: str, args: dict[str, Any]) -> None:
    """Tell clients that the model asks for a call."""
    emit({"type": "tool_call_start", "tool_call_id": tool_call_id, **named(name), "args": args})


def report(message: ToolMessage, duration_ms: int = 0) -> ToolMessage:
    """Tell clients that the call is over, and return the message."""
    emit(
        {
            "type": "tool_call_end",
            "tool_call_id": message.tool_call_id,
            **named(message.name or ""),
            "status": outcome_of(message),
            "result": message.text,
            "duration_ms": duration_ms,
        }
    )
    return message


def say(text: str) -> AIMessage:
    """Tell clients a text that no model made, and return it as a message."""
    message = AIMessage(text, id=str(uuid4()))
    emit({"type": "content", "text": text, "message_id": str(message.id)})
    return message


def with_own_ids(answer: AIMessage, taken: set[str]) -> AIMessage:
    """Return the answer with an id and a new one for each call whose id can't serve as idempotency key."""
    calls = [_with_own_id(call, taken) for call in answer.tool_calls]
    invalid = [_with_own_id(call, taken) for call in answer.invalid_tool_calls]
    update = {"id": answer.id or str(uuid4()), "tool_calls": calls, "invalid_tool_calls": invalid}
    return answer.model_copy(update=update)


def _with_own_id(call: Any, taken: set[str]) -> Any:
    given = str(call["id"] or "")
    key = given if USABLE_ID.fullmatch(given) and given not in taken else f"call_{uuid4().hex}"
    taken.add(key)
    return {**call, "id": key}


def link_filter_for(state: State, hosts: HostAllowlist) -> LinkFilter:
    """Return the link filter of this turn: it allows the hosts, and addresses in the person's message."""
    turn = running_turn(state)
    asked = next((message.text for message in reversed(state["messages"]) if message.id == message_id_of(turn)), "")
    return LinkFilter(hosts.with_addresses_in(asked))


def add_messages(messages: Sequence[AnyMessage], **turn: Any) -> Update:
    """Return the update that adds messages of ours, together with their ids: the ledger of own messages.

    A message that repeats foreign words taints the turn and the thread.
    """
    written = [str(message.id) for message in messages]
    taints = [taint for message in messages for taint in message.additional_kwargs.get(FOREIGN, ())]
    if not taints:
        return {"messages": [*messages], "turn": {**turn, "written": written}}
    return {"messages": [*messages], "turn": {**turn, "written": written, "tainted": True}, "taint": taints[0]}


def text_of(result: CallToolResult) -> str:
    """Return the text blocks of a tool's result, one per line."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))
