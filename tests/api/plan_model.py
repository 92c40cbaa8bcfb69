"""A chat model that plans and acts to the letter: a message is the steps as JSON, an instruction is a command.

`wait create_folder {...}` waits at the gate before it is said.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

STEP = re.compile(r"<step>\n(.*?)\n</step>", re.DOTALL)
COMMAND = re.compile(r"^(?P<wait>wait )?(?P<tool>\w+) (?P<args>\{.*\})$")


def plan_message(*steps: dict[str, Any]) -> str:
    """Return the message that asks for these steps."""
    return json.dumps([{"title": step["instruction"], "agent": "drive_agent", **step} for step in steps])


def folder(name: str, *, wait: bool = False) -> str:
    """Return the instruction to make a folder."""
    return f"{'wait ' if wait else ''}create_folder {json.dumps({'name': name}, ensure_ascii=False)}"


class PlanModel(BaseChatModel):
    """See above. `bounds` are proposed with every plan."""

    gate: Any = None
    bounds: Any = None

    @property
    def _llm_type(self) -> str:
        return "plans"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        names = [getattr(tool, "name", None) or tool.__name__ for tool in tools]
        return self.bind(
            shapes=[name for name in names if name in {"RouteDecision", "TaskPlan", "RevisedPlan"}], **kwargs
        )

    def _generate(self, messages: list[BaseMessage], *_: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages, kwargs.get("shapes", [])))])

    async def _astream(self, messages: list[BaseMessage], *_: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        shapes = kwargs.get("shapes", [])
        if not shapes and self._waits(messages):
            await self.gate.wait()
        answer = self._answer(messages, shapes)
        yield ChatGenerationChunk(message=AIMessageChunk(content=answer.text, tool_calls=answer.tool_calls))

    def _waits(self, messages: Sequence[BaseMessage]) -> bool:
        command = COMMAND.match(_instruction(messages))
        return bool(command and command["wait"]) and not isinstance(messages[-1], ToolMessage)

    def _answer(self, messages: Sequence[BaseMessage], shapes: list[str]) -> AIMessage:
        asked = next((message.text for message in reversed(messages) if message.type == "human"), "")
        if "RouteDecision" in shapes:
            several = asked.startswith("[")
            return _call("RouteDecision", agent="drive_agent", needs_plan=several, confidence=0.9, reason="It says so.")
        if "TaskPlan" in shapes:
            return _call("TaskPlan", steps=json.loads(asked), bounds=self.bounds)
        if "RevisedPlan" in shapes:
            return _call("RevisedPlan", steps=[])
        command = COMMAND.match(_instruction(messages))
        if command is None or isinstance(messages[-1], ToolMessage):
            return AIMessage("Done. ")
        return _call(command["tool"], **json.loads(command["args"]))


def _instruction(messages: Sequence[BaseMessage]) -> str:
    step = STEP.search(messages[0].text)
    return str(json.loads(step[1])["instruction"]) if step else ""


def _call(name: str, /, **args: Any) -> AIMessage:
    call: Any = {"name": name, "args": args, "id": f"call_{uuid4().hex}", "type": "tool_call"}
    return AIMessage("", tool_calls=[call])
