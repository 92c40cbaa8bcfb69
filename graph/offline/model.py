"""The chat model that is always there: rules instead of a network, behind the interface that every model has."""

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Final, Literal
from uuid import uuid4

import anyio
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCall, ToolCallChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from typing_extensions import override

from graph.offline.lending import lent_answer
from graph.offline.planning import plan, revise
from graph.offline.reading.conversation import Conversation, read_conversation
from graph.offline.replay import Reply, Request
from graph.offline.routing import decide
from graph.offline.specialist import answer

NAME: Final = "offline"
ROUTE: Final = "RouteDecision"
PLAN: Final = "TaskPlan"
REVISION: Final = "RevisedPlan"
_PIECES = re.compile(r"\s*(?:[\u3400-\u9fff，。：；！？、]{1,4}|[^\s\u3400-\u9fff]+)(?:\s+$)?|\s+", re.DOTALL)
Tool = dict[str, Any] | type | Callable[..., Any] | BaseTool


class OfflineChatModel(BaseChatModel):
    """A small rule-based model for English and Chinese: deterministic, without network, and honest about what it is.

    It sees the messages and the bound tools, nothing else. With `RouteDecision`, `TaskPlan` or `RevisedPlan` bound it
    answers with that; with other tools it is a specialist that finds, reads, organises and shares. Without any it
    answers the drive, which has it read many files.
    """

    @property
    @override
    def _llm_type(self) -> str:
        return NAME

    @override
    def bind_tools(
        self, tools: Sequence[Tool], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with these tools: MCP tools, schemas, functions, or their JSON."""
        names = [str(convert_to_openai_tool(tool)["function"]["name"]) for tool in tools]
        return self.bind(tool_names=names, tool_choice=tool_choice, **kwargs)

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _result(_next_message(messages, kwargs))

    @override
    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _result(await _next_message_async(messages, kwargs))

    @override
    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _chunks(_next_message(messages, kwargs)):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    @override
    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in _chunks(await _next_message_async(messages, kwargs)):
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk


async def _next_message_async(messages: Sequence[BaseMessage], options: dict[str, Any]) -> AIMessage:
    return await anyio.to_thread.run_sync(_next_message, messages, options)


def _next_message(messages: Sequence[BaseMessage], options: dict[str, Any]) -> AIMessage:
    conversation = read_conversation(messages)
    tools = frozenset[str](options.get("tool_names") or ())
    lent = None if tools else lent_answer(conversation.asked)
    reply = _reply(conversation, tools) if lent is None else Reply(lent)
    calls = [
        ToolCall(name=one.name, args=dict(one.args), id=_call_id(conversation, index, one), type="tool_call")
        for index, one in enumerate(reply.calls)
    ]
    reason: Literal["tool_calls", "stop"] = "tool_calls" if calls else "stop"
    return AIMessage(reply.text, tool_calls=calls, response_metadata={"model_name": NAME, "finish_reason": reason})


def _reply(conversation: Conversation, tools: frozenset[str]) -> Reply:
    if ROUTE in tools:
        return Reply(calls=(Request(ROUTE, decide(conversation)),))
    if PLAN in tools:
        return Reply(calls=(Request(PLAN, plan(conversation)),))
    if REVISION in tools:
        return Reply(calls=(Request(REVISION, revise(conversation)),))
    return answer(conversation, tools)


def _call_id(conversation: Conversation, index: int, one: Request) -> str:
    """Return an id that no other call of the run has, the same each time: the run, the calls before, and the call.

    Ids are keys of exactly-once, so without a run id to tell conversations apart it is a random one.
    """
    if not conversation.run_id:
        return f"call_{uuid4().hex}"
    before = [made.id for made in conversation.calls if made.turn == conversation.turn]
    seed = json.dumps(
        [conversation.run_id, before, conversation.segment, index, one.name, dict(one.args)], sort_keys=True
    )
    return f"call_{sha256(seed.encode(errors='surrogatepass')).hexdigest()[:32]}"


def _result(message: AIMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])


def _chunks(message: AIMessage) -> Iterator[ChatGenerationChunk]:
    """Cut a message into what streams: a few words or characters at a time, then each call."""
    for piece in _PIECES.findall(str(message.content)):
        yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
    for index, call in enumerate(message.tool_calls):
        args = json.dumps(call["args"], ensure_ascii=False)
        chunk = ToolCallChunk(name=call["name"], args=args, id=call["id"], index=index, type="tool_call_chunk")
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[chunk]))
    yield ChatGenerationChunk(
        message=AIMessageChunk(content="", response_metadata=message.response_metadata, chunk_position="last")
    )
