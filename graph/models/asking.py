"""Asking a chat model for a whole answer, and the one seam for a model's failures."""

import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from functools import cache
from typing import Any, Final, cast

import aiohttp
import httpx
import orjson
from langchain_core.callbacks import BaseCallbackManager
from langchain_core.exceptions import (
    ContextOverflowError,
    LangChainException,
    ModelAPIError,
    ModelConnectionError,
    ModelInvalidRequestError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
)
from langchain_core.exceptions import ModelAuthenticationError as ForeignAuthenticationError
from langchain_core.exceptions import ModelNotFoundError as ForeignNotFoundError
from langchain_core.exceptions import ModelTimeoutError as ForeignTimeoutError
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    InvalidToolCall,
    ToolCall,
    ToolCallChunk,
    message_chunk_to_message,
)
from langchain_core.messages.ai import add_ai_message_chunks
from langchain_core.messages.tool import invalid_tool_call
from langchain_core.messages.tool import tool_call as create_tool_call
from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.constants import TAG_NOSTREAM

from graph.errors import (
    ModelAuthenticationError,
    ModelContextError,
    ModelError,
    ModelNotFoundError,
    ModelOutputError,
    ModelQuotaError,
    ModelRateLimitedError,
    ModelRequestError,
    ModelTimeoutError,
    ModelUnavailableError,
)
from graph.events.sending import ReasoningDelta, TextDelta
from graph.language import Language
from graph.messages.steps import STEP
from graph.models.client import LeanChatModel
from graph.models.client.reasoning import without_tags
from graph.models.dialects import REASONING
from graph.models.overflow import is_too_long

ChatRunnable = Runnable[LanguageModelInput, AIMessage]

NO_CREDIT: Final = ("insufficient_quota", "insufficient balance", "insufficient_balance")
"""Codes that services send with 429 or 402 where only money helps."""
HALF_CHARACTER: Final = "\\ud"
"""Begins the escape of a surrogate. One that stands alone is no text, and no service takes it back."""
CUT: Final = frozenset({"length", "max_tokens", "max_output_tokens"})
"""The reasons of services for an answer that ends at its limit."""
CUT_OFF: Final[Mapping[Language, str]] = {
    "en": "(The answer is cut off here: the language model reached its length limit. Ask me to go on.)",
    "zh": "（回答在此中断：语言模型已达到长度上限。可以让我接着说。）",
}
GO_ON: Final = "Go on with the request."
HIDDEN: Final[RunnableConfig] = {"tags": [TAG_NOSTREAM]}
"""Keeps a call's tokens from the clients' message stream."""

MADE_BY: Final = "made_by"
"""Key in the metadata of an answer of blocks: the package whose model made it, and that alone takes them back."""
CALL_BLOCKS: Final = frozenset({"tool_use", "input_json_delta"})
"""Parts of an answer's content that are in its calls as well."""

ErrorMap = tuple[tuple[type[Exception], type[ModelError]], ...]

NEUTRAL_ERRORS: Final[ErrorMap] = (
    (ContextOverflowError, ModelContextError),
    (ForeignAuthenticationError, ModelAuthenticationError),
    (ModelPermissionDeniedError, ModelAuthenticationError),
    (ForeignNotFoundError, ModelNotFoundError),
    (ModelRateLimitError, ModelRateLimitedError),
    (ForeignTimeoutError, ModelTimeoutError),
    (ModelConnectionError, ModelUnavailableError),
    (ModelAPIError, ModelUnavailableError),
    (ModelInvalidRequestError, ModelRequestError),
    (LangChainException, ModelOutputError),
    (TimeoutError, ModelTimeoutError),
    (httpx.TimeoutException, ModelTimeoutError),
    (httpx.HTTPError, ModelUnavailableError),
    (aiohttp.ClientError, ModelUnavailableError),
    (ConnectionError, ModelUnavailableError),
    (ValueError, ModelOutputError),
    (TypeError, ModelOutputError),
)
"""The first class that fits counts. ValueError and TypeError are what the client raises on a body that is no answer."""

BY_STATUS: Final[Mapping[int, type[ModelError]]] = {
    401: ModelAuthenticationError,
    403: ModelAuthenticationError,
    404: ModelNotFoundError,
    408: ModelTimeoutError,
    429: ModelRateLimitedError,
}
"""For the errors of a provider's own library, which have an HTTP status (`ollama.ResponseError`)."""
SERVER_FAULT: Final = 500


async def ask(
    model: ChatRunnable,
    messages: Sequence[BaseMessage],
    *,
    hidden: bool = False,
    said: Callable[[TextDelta | ReasoningDelta], None] | None = None,
) -> AIMessage:
    """Return the model's answer, `hidden` from LangGraph's stream, piece by piece to `said`. Raises `ModelError`."""
    chunks: list[AIMessage] = []
    try:
        async with aclosing(_pieces(model, end_with_turn(messages), hidden=hidden)) as pieces:
            async for chunk in pieces:
                chunks.append(chunk)
                if said:
                    for delta in _deltas(chunk):
                        said(delta)
        if said:
            said(TextDelta(None, ""))
    except Exception as error:
        translated = translate(error)
        if translated is None:
            raise
        raise translated from error
    return _signed(_whole(chunks), model)


def end_with_turn(messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """Return the messages with one of the user's last if the assistant's would be: some services refuse that."""
    if not messages or not isinstance(messages[-1], AIMessage):
        return messages
    return [*messages, HumanMessage(GO_ON, additional_kwargs={STEP: True})]


def reads_structure(model: object) -> bool:
    """Say whether a model is a program that reads sections and results as data, and pays for no tokens."""
    return bool(getattr(model, "reads_structure", False))


def _pieces(model: ChatRunnable, messages: Sequence[BaseMessage], *, hidden: bool) -> AsyncGenerator[AIMessage]:
    """Ask through LangChain's callbacks only if anybody hears them: they take time with each answer and each piece."""
    lean, messages = _unbound(model), _readable(model, messages)
    if isinstance(model, RunnableBinding) and isinstance(lean, LeanChatModel) and _has_no_listener():
        return lean.pieces(messages, **model.kwargs)
    pieces = cast("AsyncGenerator[AIMessage]", model.astream(list(messages), HIDDEN if hidden else None))
    return pieces if isinstance(lean, LeanChatModel) else without_tags(pieces)


def _unbound(model: ChatRunnable) -> object:
    return cast("object", model.bound) if isinstance(model, RunnableBinding) else model


def _package(model: ChatRunnable) -> str:
    return type(_unbound(model)).__module__.partition(".")[0]


def _signed(answer: AIMessage, model: ChatRunnable) -> AIMessage:
    """Return the answer with the package of its model, if it has blocks of it."""
    if isinstance(answer.content, str):
        return answer
    return answer.model_copy(update={"response_metadata": {**answer.response_metadata, MADE_BY: _package(model)}})


def _readable(model: ChatRunnable, messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """Return the messages with the text alone of answers that another provider's model made: it can't read the rest."""
    package = _package(model)
    return [
        message.model_copy(update={"content": str(message.text)})
        if isinstance(message, AIMessage)
        and isinstance(message.content, list)
        and message.response_metadata.get(MADE_BY) != package
        else message
        for message in messages
    ]


def _has_no_listener() -> bool:
    """Say whether the graph runs under callbacks that nobody listens to; tracing and debugging listen too."""
    callbacks = (var_child_runnable_config.get() or {}).get("callbacks")
    return isinstance(callbacks, BaseCallbackManager) and not (callbacks.handlers or callbacks.inheritable_handlers)


def _whole(chunks: Sequence[AIMessage]) -> AIMessage:
    """Join a streamed answer. The calls are read from the raw text: the library completes cut JSON by guessing."""
    parts = [chunk for chunk in chunks if isinstance(chunk, AIMessageChunk)]
    if not parts:
        return chunks[0]
    merged = add_ai_message_chunks(*parts)
    read = [_read_call(raw) for raw in merged.tool_call_chunks]
    whole = cast("AIMessage", message_chunk_to_message(merged))
    calls = [call for call in read if call.get("type") == "tool_call"]
    invalid = [call for call in read if call.get("type") == "invalid_tool_call"]
    content = _without_calls(cast("str | list[Any]", whole.content))
    return whole.model_copy(update={"content": content, "tool_calls": calls, "invalid_tool_calls": invalid})


def _without_calls(content: str | list[Any]) -> str | list[Any]:
    """Return the content without the calls, which Anthropic has there too: a call may get another id or arguments."""
    if isinstance(content, str):
        return content
    blocks = [block for block in content if not (isinstance(block, dict) and block.get("type") in CALL_BLOCKS)]
    return content if len(blocks) == len(content) else blocks or ""


def _read_call(raw: ToolCallChunk) -> ToolCall | InvalidToolCall:
    name, text, key = raw["name"] or "", raw["args"] or "{}", raw["id"]
    try:
        args = json.loads(text)
        if HALF_CHARACTER in text.lower():
            args = json.loads(json.dumps(args, ensure_ascii=False).encode("utf-8", "replace"))
        # A thread holds numbers of 64 bits at most; one beyond would end the turn when it is stored.
        orjson.dumps(args)
    except (ValueError, TypeError, RecursionError) as error:
        return invalid_tool_call(name=name, args=text, id=key, error=str(error))
    if not isinstance(args, dict):
        return invalid_tool_call(name=name, args=text, id=key, error="not an object")
    return create_tool_call(name=name, args=args, id=key)


def was_cut(answer: AIMessage) -> bool:
    """Say whether the answer ends where it does because the model may not write more."""
    said = answer.response_metadata
    details: Mapping[str, Any] = said.get("incomplete_details") or {}
    reasons = (said.get(key) for key in ("finish_reason", "stop_reason", "done_reason"))
    return any(reason in CUT for reason in (*reasons, details.get("reason")))


def cut_notice(answer: AIMessage, language: Language) -> str:
    """Return the sentence for the person about an answer that was cut off; empty for others."""
    return f"\n\n{CUT_OFF[language]}" if was_cut(answer) else ""


def _deltas(chunk: AIMessage) -> Iterator[TextDelta | ReasoningDelta]:
    if reasoning := _reasoning_in(chunk):
        yield ReasoningDelta(chunk.id, reasoning)
    if text := str(chunk.text):
        yield TextDelta(chunk.id, text)


def _reasoning_in(chunk: AIMessage) -> str:
    """Return what the model thought: a field of its own, or blocks beside the text (OpenAI's items, Anthropic's)."""
    if found := chunk.additional_kwargs.get(REASONING):
        return str(found)
    if isinstance(chunk.content, str):
        return ""
    blocks = [block for block in chunk.content if isinstance(block, dict)]
    return "".join(_thought(block) for block in blocks if block.get("type") in {"reasoning", "thinking"})


def _thought(block: Mapping[str, Any]) -> str:
    parts = [part.get("text") for part in block.get("summary") or () if isinstance(part, dict)]
    return "".join(str(part) for part in (*parts, block.get("reasoning"), block.get("thinking")) if part)


def translate(error: Exception) -> ModelError | None:
    """Return our error for a foreign one; None if it does not come from a model."""
    if isinstance(error, ModelError):
        return error
    if is_too_long(f"{getattr(error, 'code', '')} {error}", getattr(error, "status_code", None)):
        return ModelContextError(str(error))
    if any(words in f"{getattr(error, 'code', '')} {error}".lower() for words in NO_CREDIT):
        return ModelQuotaError(str(error))
    for foreign, ours in (*_openai_errors(type(error).__module__), *NEUTRAL_ERRORS):
        if isinstance(error, foreign):
            return ours(f"{type(error).__name__}: {error}")
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        return None
    return BY_STATUS.get(status, ModelUnavailableError if status >= SERVER_FAULT else ModelRequestError)(str(error))


def _openai_errors(module: str) -> ErrorMap:
    return _openai_map() if module.split(".")[0] == "openai" else ()


@cache
def _openai_map() -> ErrorMap:
    import openai

    return cast(
        "ErrorMap",
        (
            (openai.RateLimitError, ModelRateLimitedError),
            (openai.AuthenticationError, ModelAuthenticationError),
            (openai.PermissionDeniedError, ModelAuthenticationError),
            (openai.NotFoundError, ModelNotFoundError),
            (openai.InternalServerError, ModelUnavailableError),
            (openai.APITimeoutError, ModelTimeoutError),
            (openai.APIConnectionError, ModelUnavailableError),
            (openai.APIResponseValidationError, ModelOutputError),
            (openai.APIStatusError, ModelRequestError),
            (openai.APIError, ModelUnavailableError),
            (openai.LengthFinishReasonError, ModelOutputError),
            (openai.ContentFilterFinishReasonError, ModelRequestError),
            (openai.OpenAIError, ModelError),
        ),
    )
