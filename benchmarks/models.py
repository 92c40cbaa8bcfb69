"""A chat model without delay: what is measured is everything around it."""

from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable

TOKENS = 100


class InstantModel(BaseChatModel):
    """Calls a tool `calls` times, one after the other, then says 100 tokens."""

    calls: int = 0
    tool: str = "list_folder"

    @property
    def _llm_type(self) -> str:
        return "instant"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[Any, AIMessage]:
        """Take any tools; only `tool` is called."""
        del tools, tool_choice, kwargs
        return self

    def _answer(self, messages: Sequence[BaseMessage]) -> list[AIMessageChunk]:
        after = max((n for n, m in enumerate(messages) if isinstance(m, HumanMessage)), default=0)
        results = sum(isinstance(message, ToolMessage) for message in messages[after:])
        if results < self.calls:
            call = tool_call(name=self.tool, args={}, id=f"call_{uuid4().hex}")
            return [AIMessageChunk(content="", tool_calls=[call])]
        return [AIMessageChunk(content=f"token{number} ") for number in range(TOKENS)]

    def _generate(self, messages: list[BaseMessage], *arguments: Any, **kwargs: Any) -> ChatResult:
        del arguments, kwargs
        text = "".join(str(chunk.content) for chunk in self._answer(messages))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])

    async def _astream(
        self, messages: list[BaseMessage], *arguments: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        del arguments, kwargs
        for chunk in self._answer(messages):
            yield ChatGenerationChunk(message=chunk)
