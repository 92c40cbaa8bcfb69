"""The chat model that is always there: rules instead of a network, behind the interface that every model has."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any, ClassVar, Final, Literal
from uuid import uuid4

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCall, ToolCallChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from typing_extensions import override

from graph.offline.answers import answer, decide, plan, revise
from graph.offline.conversation import Conversation, read_conversation
from graph.offline.lending import lent_answer
from graph.offline.replay import Reply, Request

NAME: Final = "offline"
STRUCTURED: Final = {"RouteDecision": decide, "TaskPlan": plan, "RevisedPlan": revise}
_PIECES: Final = re.compile(r"\s*(?:[\u3400-\u9fff，。：；！？、]{1,4}|[^\s\u3400-\u9fff]+)(?:\s+$)?|\s+", re.DOTALL)
Tool = dict[str, Any] | type | Callable[..., Any] | BaseTool


class OfflineChatModel(BaseChatModel):
    """A small rule-based model for English and Chinese: deterministic, without network, and honest about what it is."""

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
        return self.bind(described_tools=described, tool_choice=tool_choice, **kwargs)

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
    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        message = _next_message(messages, kwargs)
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
    return AIMessage(reply.text, tool_calls=calls, response_metadata={"model_name": NAME, "finish_reason": reason})


def _call_id(conversation: Conversation, index: int, one: Request) -> str:
    """Return an id that no other call of the run has, the same each time: the run, the calls before, and the call."""
    if not conversation.run_id:
        return f"call_{uuid4().hex}"
    before = [made.id for made in conversation.calls if made.turn == conversation.turn]
    seed = [conversation.run_id, before, conversation.segment, index, one.name, dict(one.args)]
    return f"call_{sha256(json.dumps(seed, sort_keys=True).encode(errors='surrogatepass')).hexdigest()[:32]}"
