"""A chat model that does what the message says to the letter: `share_item {"item_id": "..."}` calls that tool."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

COMMAND = re.compile(r"^(\w+) (\{.*\})$")


class CommandModel(BaseChatModel):
    """Calls the tool that a person's message names, in every line of it, then tells the results; else says it back."""

    @property
    def _llm_type(self) -> str:
        return "command"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        names = [getattr(tool, "name", None) or tool.__name__ for tool in tools]
        return self.bind(routes="RouteDecision" in names, **kwargs)

    def _generate(self, messages: list[BaseMessage], *_: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=answer_to(messages, routes=kwargs.get("routes", False)))])

    async def _astream(self, messages: list[BaseMessage], *_: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        answer = answer_to(messages, routes=kwargs.get("routes", False))
        for word in answer.text.split(" ") if answer.text else []:
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{word} "))
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_calls=answer.tool_calls))


def answer_to(messages: Sequence[BaseMessage], *, routes: bool) -> AIMessage:
    if routes:
        decision = {"agent": "drive_agent", "needs_plan": False, "confidence": 0.9, "reason": "It says so."}
        return AIMessage("", tool_calls=[_call("RouteDecision", decision)])
    last = messages[-1]
    if not isinstance(last, HumanMessage):
        return AIMessage(f"Done: {last.text[:200]}")
    found = [COMMAND.match(line) for line in last.text.splitlines()]
    calls = [_call(match[1], json.loads(match[2])) for match in found if match]
    return AIMessage("" if calls else f"You said {last.text}", tool_calls=calls)


def _call(name: str, args: dict[str, Any]) -> Any:
    return {"name": name, "args": args, "id": f"call_{uuid4().hex}", "type": "tool_call"}
