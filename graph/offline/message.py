"""The next message of the offline model: an answer, an object of a schema, or tool calls that a replay makes again."""

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final, Literal
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, ToolCall

from graph.offline.answers import answer, decide, plan, revise
from graph.offline.conversation import Conversation, read_conversation
from graph.offline.lending import lent_answer
from graph.offline.replay import Reply, Request

STRUCTURED: Final = {"RouteDecision": decide, "TaskPlan": plan, "RevisedPlan": revise}


def next_message(messages: Sequence[BaseMessage], options: dict[str, Any], model: str) -> AIMessage:
    """Return what comes next in a conversation; `options` are those that `model` was bound with."""
    conversation = read_conversation(messages)
    tools: dict[str, str] = options.get("described_tools") or {}
    schema = next((name for name in STRUCTURED if name in tools), "")
    lent = None if tools else lent_answer(conversation.asked)
    if schema:
        reply = Reply(calls=(Request(schema, STRUCTURED[schema](conversation)),))
    else:
        reply = answer(conversation, tools) if lent is None else Reply(lent)
    calls = [
        ToolCall(name=one.name, args=dict(one.args), id=_call_id(conversation, index, one), type="tool_call")
        for index, one in enumerate(reply.calls)
    ]
    reason: Literal["tool_calls", "stop"] = "tool_calls" if calls else "stop"
    return AIMessage(reply.text, tool_calls=calls, response_metadata={"model_name": model, "finish_reason": reason})


def _call_id(conversation: Conversation, index: int, one: Request) -> str:
    """Return an id that no other call of the run has, the same each time: the run, the calls before, and the call."""
    if not conversation.run_id:
        return f"call_{uuid4().hex}"
    before = [made.id for made in conversation.calls if made.turn == conversation.turn]
    seed = [conversation.run_id, before, conversation.segment, index, one.name, dict(one.args)]
    return f"call_{sha256(json.dumps(seed, sort_keys=True).encode(errors='surrogatepass')).hexdigest()[:32]}"
