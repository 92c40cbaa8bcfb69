"""The records of calls of people's own servers, which stand in the assistant's messages.

Which server and tool a call is of is noted in the message that makes it, so that a record outlives the server.
Consecutive calls, without a word of the assistant between them, stand together in the message of the first.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from drive_server.kernel.texts import Texts
from graph.events.calls import CallStatus, ToolCallRecord, ToolCallUpdatedEvent
from graph.events.sending import emit
from graph.language import Language
from graph.messages.others import others_items
from graph.messages.written import SOURCES, outcome_of
from graph.policy.tools import ToolFacts
from graph.state import Call, OutsideCall

SENT: Final = "sent_arguments"
"""Key in a result's `additional_kwargs`: the arguments that went to the server, as the person left them."""
RUNNING: Final = frozenset({"allowed", "approved"})
TEXTS: Final = Texts.beside(__file__)


def with_sources(answer: AIMessage, facts: Mapping[str, ToolFacts]) -> AIMessage:
    """Return the answer with a note of each of its calls that is of a person's own server."""
    found = {
        str(call["id"]): {
            "server_id": of.server_id,
            "server_name": of.server_name,
            "tool": of.tool,
            "display_name": of.display_name,
        }
        for call in answer.tool_calls
        if (tool := facts.get(call["name"])) and (of := tool.server)
    }
    if not found:
        return answer
    return answer.model_copy(update={"additional_kwargs": {**answer.additional_kwargs, SOURCES: found}})


def outside_calls(messages: Sequence[AnyMessage]) -> dict[str, OutsideCall]:
    """Return the calls of people's own servers in these messages, by their ids, in order."""
    found: dict[str, OutsideCall] = {}
    group = ""
    for message in messages:
        if isinstance(message, HumanMessage):
            group = ""
        elif isinstance(message, AIMessage):
            noted: Mapping[str, Any] = message.additional_kwargs.get(SOURCES, {})
            if message.text.strip() or not group:
                group = str(message.id) if noted else ""
            others = sorted(others_items([message])) if noted else []
            names = {str(call["id"]): call["name"] for call in message.tool_calls}
            for key, source in noted.items():
                found[key] = cast("OutsideCall", {**source, "name": names[key], "message_id": group, "others": others})
    return found


def records_in(
    messages: Sequence[AnyMessage], calls: Sequence[Call], language: Language, *, is_over: bool
) -> dict[str, list[ToolCallRecord]]:
    """Return the records by the id of the message that they stand in.

    `calls` are those that the newest round makes; `is_over`: no run works in the thread, or waits.
    """
    results = {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}
    made = {
        str(call["id"]): call["args"]
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }
    judged = {call["tool_call_id"]: call for call in calls}
    found: dict[str, list[ToolCallRecord]] = {}
    for key, source in outside_calls(messages).items():
        if result := results.get(key):
            args = result.additional_kwargs.get(SENT, made[key])
            shown = record(source, key, args, outcome_of(result), result.text)
        else:
            call = judged.get(key)
            # Arguments that are withheld are empty.
            args = call["args"] if call and made[key] else made[key]
            shown = record(source, key, args, *_open(call, language, is_over=is_over))
        found.setdefault(source["message_id"], []).append(shown)
    return found


def _open(call: Call | None, language: Language, *, is_over: bool) -> tuple[CallStatus, str]:
    """Return the status of a call without a result, and the sentence about it."""
    is_running = call is not None and call["standing"] in RUNNING
    if is_over:
        return "cancelled", cancelled_text(language, was_sent=is_running)
    return ("invoking" if is_running else "pending"), ""


def cancelled_text(language: Language, *, was_sent: bool) -> str:
    """Return the sentence about a call that ended without a result."""
    return TEXTS.say("cancelled.unknown" if was_sent else "cancelled.not_sent", language)


def record(
    source: OutsideCall, tool_call_id: str, args: Mapping[str, Any], status: CallStatus, response: str = ""
) -> ToolCallRecord:
    """Return the record of a call."""
    return {
        "id": tool_call_id,
        "serverId": source["server_id"],
        "serverName": source["server_name"],
        "toolName": source["tool"],
        "displayName": source.get("name", source["tool"]),
        "toolTitle": source["display_name"],
        "arguments": dict(args),
        "status": status,
        "response": response,
        "isError": status == "error",
    }


def announce(
    source: OutsideCall, tool_call_id: str, args: Mapping[str, Any], status: CallStatus, response: str = ""
) -> None:
    """Tell clients the outcome of a call."""
    emit(record_event(source["message_id"], record(source, tool_call_id, args, status, response)))


def record_event(message_id: str, shown: ToolCallRecord) -> ToolCallUpdatedEvent:
    """Return the event that a record has changed."""
    return {"type": "assistant.toolCall.updated", "messageId": message_id, "toolCall": shown}


def announce_results(calls: Mapping[str, OutsideCall], made: Mapping[str, Any], results: Sequence[AnyMessage]) -> None:
    """Tell clients of the results among these that are of people's own servers; `made` has their arguments by id."""
    for message in results:
        if isinstance(message, ToolMessage) and (source := calls.get(message.tool_call_id)):
            args = made.get(message.tool_call_id)
            announce(
                source,
                message.tool_call_id,
                args if isinstance(args, Mapping) else {},
                outcome_of(message),
                message.text,
            )
