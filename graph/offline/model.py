"""The chat model that is always there: rules instead of a network, behind the interface that every model has."""

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, ClassVar, Final

import anyio.to_thread
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCallChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from typing_extensions import override

NAME: Final = "offline"
_PIECES: Final = re.compile(r"\s*(?:[\u3400-\u9fff，。：；！？、]{1,4}|[^\s\u3400-\u9fff]+)(?:\s+$)?|\s+", re.DOTALL)
Tool = dict[str, Any] | type | Callable[..., Any] | BaseTool


class OfflineChatModel(BaseChatModel):
    """A small rule-based model for English and Chinese: deterministic, without network, and honest about its nature."""

    reads_structure: ClassVar[bool] = True

    @property
    @override
    def _llm_type(self) -> str:
        return NAME

    @override
    def bind_tools(
        self, tools: Sequence[Tool], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with these tools: MCP tools, schemas, functions, or their JSON."""
        functions = [convert_to_openai_tool(tool)["function"] for tool in tools]
        described = {str(one["name"]): _chinese_title(tool) for tool, one in zip(tools, functions, strict=True)}
        forms = {one["name"]: one.get("parameters") or {} for one in functions} if tool_choice else {}
        return self.bind(described_tools=described, forms=forms, **kwargs)

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=_next_message(messages, kwargs))])

    @override
    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        # The inherited method fetches each word from a thread.
        message = await anyio.to_thread.run_sync(_next_message, messages, kwargs)
        for chunk in _chunks(message):
            yield chunk


def _chunks(message: AIMessage) -> Iterator[ChatGenerationChunk]:
    for piece in _PIECES.findall(str(message.content)):
        yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
    for index, call in enumerate(message.tool_calls):
        args = json.dumps(call["args"], ensure_ascii=False)
        chunk = ToolCallChunk(name=call["name"], args=args, id=call["id"], index=index, type="tool_call_chunk")
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[chunk]))
    last = AIMessageChunk(content="", response_metadata=message.response_metadata, chunk_position="last")
    yield ChatGenerationChunk(message=last)


def _chinese_title(tool: Tool) -> str:
    metadata = tool.metadata or {} if isinstance(tool, BaseTool) else {}
    published = (record for record in (metadata.get("_meta") or {}).values() if isinstance(record, dict))
    return next((str(record["title_zh"]) for record in published if "title_zh" in record), "")


def _next_message(messages: Sequence[BaseMessage], options: dict[str, Any]) -> AIMessage:
    # Imported late: a service starts without the grammars, and nobody may write to it for hours.
    from graph.offline.answers import next_message

    return next_message(messages, options, NAME)
