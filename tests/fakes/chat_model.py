"""A chat model that says what a test wrote down, on the real `BaseChatModel` interface: streaming, tools, usage."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import Field

Line = AIMessage | str | Exception | Callable[[Sequence[BaseMessage]], "AIMessage | str"]
"""What comes next: a message, a text, an error to raise, or a function of what the model was sent."""


class ScriptExhaustedError(AssertionError):
    """The model was asked more often than the script has lines."""


class ScriptedChatModel(BaseChatModel):
    """Answers with the script's lines, one per request. `requests` and `bound` record what it was asked and with what.

    A line for a structured request is a message with one tool call; see `tool_call`.
    """

    script: list[Any] = Field(default_factory=list[Any])
    requests: list[list[BaseMessage]] = Field(default_factory=list[list[BaseMessage]])
    bound: list[list[str]] = Field(default_factory=list[list[str]])

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Note the tools' names; the script decides what is called."""
        self.bound.append([getattr(tool, "name", None) or tool.__name__ for tool in tools])
        return self.bind(tool_choice=tool_choice, **kwargs)

    def _next(self, messages: Sequence[BaseMessage]) -> AIMessage:
        self.requests.append(list(messages))
        if not self.script:
            raise ScriptExhaustedError(f"request {len(self.requests)}: {messages[-1].text[:200]}")
        line: Line = self.script.pop(0)
        if isinstance(line, Exception):
            raise line
        said = line(messages) if callable(line) else line
        return AIMessage(said) if isinstance(said, str) else said

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        del stop, run_manager, kwargs
        return ChatResult(generations=[ChatGeneration(message=self._next(messages))])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        del stop, run_manager, kwargs
        answer = self._next(messages)
        for word in answer.text.split(" ") if answer.text else []:
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{word} "))
        last = AIMessageChunk(
            content="",
            tool_calls=answer.tool_calls,
            invalid_tool_calls=answer.invalid_tool_calls,
            usage_metadata=answer.usage_metadata,
        )
        yield ChatGenerationChunk(message=last)


def tool_call(name: str, key: str = "", /, **args: Any) -> AIMessage:
    """Return a message that calls one tool; its id is made of the name unless given."""
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": key or f"{name}-1"}])


def tool_calls(*calls: AIMessage) -> AIMessage:
    """Return one message with the calls of all given ones."""
    return AIMessage("", tool_calls=[call for message in calls for call in message.tool_calls])


def plan_of(*steps: tuple[str, str] | tuple[str, str, list[str]]) -> AIMessage:
    """Return the planner's answer: (agent, instruction) of each step, and the numbers of those that it needs."""
    listed = [
        {"id": str(number), "title": text, "agent": agent, "instruction": text, "depends_on": [*needs]}
        for number, (agent, text, *rest) in enumerate(steps, 1)
        for needs in [rest[0] if rest else []]
    ]
    return tool_call("TaskPlan", steps=listed)
