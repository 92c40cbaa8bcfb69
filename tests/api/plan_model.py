"""A chat model that plans and acts to the letter: a message is the steps as JSON, an instruction is a command.

`wait create_folder {...}` waits at the gate before it is said.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from graph.messages.steps import is_step
from tests.fakes.chat_model import FakeChatModel, route_to, tool_call

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from langchain_core.outputs import ChatGenerationChunk

STEP = re.compile(r"<step>\n(.*?)\n</step>", re.DOTALL)
SHAPES = {"RouteDecision", "TaskPlan", "RevisedPlan"}
COMMAND = re.compile(r"^(?P<wait>wait )?(?P<tool>\w+) (?P<args>\{.*\})$")


def plan_message(*steps: dict[str, Any]) -> str:
    """Return the message that asks for these steps."""
    return json.dumps([{"title": step["instruction"], "agent": "drive_agent", **step} for step in steps])


def folder(name: str, *, wait: bool = False) -> str:
    """Return the instruction to make a folder."""
    return f"{'wait ' if wait else ''}create_folder {json.dumps({'name': name}, ensure_ascii=False)}"


class PlanModel(FakeChatModel):
    """Plans and acts as the messages say. `bounds` are proposed with every plan."""

    gate: Any = None
    bounds: Any = None

    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **kwargs: Any
    ) -> AsyncGenerator[ChatGenerationChunk]:
        if not SHAPES.intersection(kwargs.get("offered", ())) and self._waits(messages):
            await self.gate.wait()
        async for chunk in super()._astream(messages, **kwargs):
            yield chunk

    def _waits(self, messages: Sequence[BaseMessage]) -> bool:
        command = COMMAND.match(_instruction(messages))
        return bool(command and command["wait"]) and not isinstance(messages[-1], ToolMessage)

    def _answer(self, messages: Sequence[BaseMessage], offered: Sequence[str]) -> AIMessage:
        said = (one.text for one in reversed(messages) if one.type == "human" and not is_step(one))
        asked = next(said, "")
        if "RouteDecision" in offered:
            return route_to("drive_agent", needs_plan=asked.startswith("["))
        if "TaskPlan" in offered:
            return tool_call("TaskPlan", steps=json.loads(asked), bounds=self.bounds)
        if "RevisedPlan" in offered:
            return tool_call("RevisedPlan", steps=[])
        command = COMMAND.match(_instruction(messages))
        if command is None or isinstance(messages[-1], ToolMessage):
            return AIMessage("Done. ")
        return tool_call(command["tool"], f"call_{uuid4().hex}", **json.loads(command["args"]))


def _instruction(messages: Sequence[BaseMessage]) -> str:
    step = STEP.search("\n".join(message.text for message in messages if is_step(message)))
    return str(json.loads(step[1])["instruction"]) if step else ""
