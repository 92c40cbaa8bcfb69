"""Chat models on the real `BaseChatModel` interface (streaming, tools, usage), with scripted or computed answers."""

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import Field

from graph.messages.turn_context import context_of

Line = AIMessage | str | Exception | Callable[[Sequence[BaseMessage]], "AIMessage | str"]
"""A line of a script: a message, a text, an error to raise, or a function of the messages sent to the model."""


def prompt_of(request: Sequence[BaseMessage]) -> str:
    """Return all that the product says in a request: the system message, and the part before the turn's words."""
    said = [message.text if message.type == "system" else context_of(message).strip() for message in request]
    return "\n\n".join(filter(None, said))


def words_of(message: BaseMessage) -> str:
    """Return what the person says in a message of a request, without the product's part before it."""
    return message.text[len(context_of(message)) :]


class ScriptExhaustedError(AssertionError):
    """The model was asked more often than the script has lines."""


class FakeChatModel(BaseChatModel):
    """Streams the text of `_answer` word by word, then its tool calls."""

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind the tools' names: `_answer` gets them as `offered`."""
        return self.bind(offered=[getattr(tool, "name", None) or tool.__name__ for tool in tools], **kwargs)

    def _answer(self, messages: Sequence[BaseMessage], offered: Sequence[str]) -> AIMessage:
        raise NotImplementedError

    def _pieces(self, text: str) -> list[str]:
        return re.findall(r"\S+\s*", text)

    def _generate(self, messages: list[BaseMessage], *_: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages, kwargs.get("offered", ())))])

    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **kwargs: Any
    ) -> AsyncGenerator[ChatGenerationChunk]:
        answer = self._answer(messages, kwargs.get("offered", ()))
        for piece in self._pieces(answer.text):
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
        last = AIMessageChunk(
            content="",
            tool_calls=answer.tool_calls,
            invalid_tool_calls=answer.invalid_tool_calls,
            usage_metadata=answer.usage_metadata,
            additional_kwargs=answer.additional_kwargs,
            response_metadata=answer.response_metadata,
        )
        yield ChatGenerationChunk(message=last)


class ScriptedChatModel(FakeChatModel):
    """Answers with the script's lines, one per request. `requests` and `bound` record what it was asked and with what.

    A line for a structured request is a message with one tool call; see `tool_call`.
    """

    script: list[Any] = Field(default_factory=list[Any])
    requests: list[list[BaseMessage]] = Field(default_factory=list[list[BaseMessage]])
    bound: list[list[str]] = Field(default_factory=list[list[str]])

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        """Record the tools' names; the script decides what is called."""
        self.bound.append([getattr(tool, "name", None) or tool.__name__ for tool in tools])
        return super().bind_tools(tools, **kwargs)

    def _answer(self, messages: Sequence[BaseMessage], offered: Sequence[str]) -> AIMessage:
        del offered
        self.requests.append(list(messages))
        if not self.script:
            raise ScriptExhaustedError(f"request {len(self.requests)}: {messages[-1].text[:200]}")
        line: Line = self.script.pop(0)
        if isinstance(line, Exception):
            raise line
        said = line(messages) if callable(line) else line
        return AIMessage(said) if isinstance(said, str) else said

    def _pieces(self, text: str) -> list[str]:
        return [f"{word} " for word in text.split(" ")] if text else []


def tool_call(name: str, key: str = "", /, **args: Any) -> AIMessage:
    """Return a message that calls one tool; `key` is the call's id, by default made of the tool's name."""
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": key or f"{name}-1"}])


def tool_calls(*calls: AIMessage) -> AIMessage:
    """Return one message with the calls of all these messages."""
    return AIMessage("", tool_calls=[call for message in calls for call in message.tool_calls])


def route_to(agent: str, *, needs_plan: bool = False) -> AIMessage:
    """Return the router's answer: this specialist takes the turn."""
    return tool_call("RouteDecision", agent=agent, needs_plan=needs_plan, confidence=0.9, reason="It says so.")


def plan_of(*steps: tuple[str, str] | tuple[str, str, list[str]]) -> AIMessage:
    """Return the planner's answer: (agent, instruction) of each step, and the numbers of those that it needs."""
    listed = [
        {"id": str(number), "title": text, "agent": agent, "instruction": text, "depends_on": [*needs]}
        for number, (agent, text, *rest) in enumerate(steps, 1)
        for needs in [rest[0] if rest else []]
    ]
    return tool_call("TaskPlan", steps=listed)
