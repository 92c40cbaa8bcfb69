"""Asking a chat model for a whole answer, and the one seam for a model's failures."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
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
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
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

from drive_server.kernel.telemetry.conventions import CHAT, INPUT_TOKENS, MODEL, OPERATION, OUTPUT_TOKENS
from drive_server.kernel.telemetry.traces import SpanKind, span
from drive_server.kernel.texts import Texts
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
from graph.events.sending import Delta
from graph.langgraph_internals import wants_message_events
from graph.language import Language
from graph.models.answer_reader import LOST_CALL, AnswerReader
from graph.models.answer_text import Expected
from graph.models.cache_marks import with_cache_marks
from graph.models.client import LeanChatModel
from graph.models.client.reasoning import CLOSED, without_tags
from graph.models.dialects import BARE_THOUGHTS, Dialect
from graph.models.overflow import is_too_long
from graph.models.roles import alternating, ended_with_turn
from graph.models.serving import UNKNOWN
from graph.models.text_calls.reader import OPENERS

ChatRunnable = Runnable[LanguageModelInput, AIMessage]

NO_CREDIT: Final = ("insufficient_quota", "insufficient balance", "insufficient_balance")
"""Codes that services send with 429 or 402 where only money helps."""
HALF_CHARACTER: Final = "\\ud"
"""Begins the escape of a surrogate. One that stands alone is no text, and no service takes it back."""
CUT: Final = frozenset({"length", "max_tokens", "max_output_tokens"})
"""The reasons of services for an answer that ends at its limit."""
TEXTS: Final = Texts.beside(__file__)
THINKS: Final = re.compile(r"thinking|qwq|(?:^|[/-])r1\b", re.IGNORECASE)
"""In the names of models that think before each answer, and whose templates begin the thoughts."""
HIDDEN: Final[RunnableConfig] = {"tags": [TAG_NOSTREAM]}
"""Keeps a call's tokens from the clients' message stream."""

MADE_BY: Final = "made_by"
"""Key in the metadata of an answer of blocks: the package whose model made it, and that alone takes them back."""
WANTS_MARKS: Final = "langchain_anthropic"
"""The package whose service caches only requests that are marked."""
WITH_GRAMMAR: Final = frozenset({"llama.cpp", "vllm"})
"""Servers that keep a model to a tool's schema if a call is required, or to the schema of an answer."""
IGNORES_REQUIRED: Final = "llama.cpp"
"""It lets a model write anything if it does not know the markup of calls in the model's template."""
SMALL_ANSWER: Final = 2_048
"""Tokens that a small model writes at most in one answer."""
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
"""The first class that fits counts. The client raises ValueError and TypeError on a body that is no answer."""

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
    said: Callable[[Delta], None] | None = None,
) -> AIMessage:
    """Return the model's answer, `hidden` from LangGraph's stream, piece by piece to `said`. Raises `ModelError`."""
    name = str(getattr(_unbound(model), "model_name", None) or getattr(_unbound(model), "model", ""))
    with span(f"{CHAT} {name}".rstrip(), {OPERATION: CHAT, MODEL: name}, SpanKind.CLIENT) as measured:
        answer = await _ask(model, messages, hidden=hidden, said=said)
        usage: Mapping[str, Any] = answer.usage_metadata or {}
        for key, kind in ((INPUT_TOKENS, "input_tokens"), (OUTPUT_TOKENS, "output_tokens")):
            measured.set_attribute(key, int(usage.get(kind) or 0))
        return answer


async def _ask(
    model: ChatRunnable,
    messages: Sequence[BaseMessage],
    *,
    hidden: bool,
    said: Callable[[Delta], None] | None,
) -> AIMessage:
    chunks: list[AIMessage] = []
    reader = AnswerReader(expected_of(model, messages), said)
    # A program that reads messages as data is sent those of the thread.
    asked = ended_with_turn(messages) if reads_structure(_unbound(model)) else alternating(messages)
    try:
        async with aclosing(_pieces(model, asked, hidden=hidden)) as pieces:
            async for chunk in pieces:
                if not reader.read_progress(chunk):
                    chunks.append(chunk)
                    reader.take(chunk)
        reader.end()
    except Exception as error:
        reader.break_off()
        translated = translate(error)
        if translated is None:
            raise
        raise translated from error
    if reader.found_thoughts:
        dialect_of(_unbound(model)).learn(BARE_THOUGHTS)
    return _signed(reader.read(_whole(chunks)), model)


def dialect_of(model: object) -> Dialect:
    """Return the dialect of the model's service. A model of another library has one of its own."""
    if isinstance(model, LeanChatModel):
        return model.dialect
    # Behind the back of its fields: the class belongs to the library.
    return cast("Dialect", vars(model).setdefault("_dialect", Dialect()))


def share_dialect(model: BaseChatModel, dialect: Dialect) -> None:
    """Give a model of another library the dialect of its service, which others may share."""
    vars(model)["_dialect"] = dialect


def expected_of(model: ChatRunnable, messages: Sequence[BaseMessage]) -> Expected:
    """Return the facts known of an answer before it comes."""
    asked = _unbound(model)
    bound: Mapping[str, Any] = model.kwargs if isinstance(model, RunnableBinding) else {}
    texts = [str(message.text) for message in messages]
    return Expected(
        tools=frozenset(filter(None, map(_tool_name, bound.get("tools") or ()))),
        thinks=dialect_of(asked).has(BARE_THOUGHTS) or THINKS.search(str(getattr(asked, "model_name", ""))) is not None,
        is_topic=any(markup in text for text in texts for markup in (CLOSED, *OPENERS)),
    )


async def ask_for_call(
    model: ChatRunnable, messages: Sequence[BaseMessage], *, said: Callable[[Delta], None] | None = None
) -> AIMessage:
    """Return the model's answer, which is a call where its server writes calls by a grammar that it can make."""
    bound = _with_call(model)
    try:
        return await ask(bound, messages, said=said)
    except ModelRequestError:
        if bound is model:
            raise
    return await ask(model, messages, said=said)


def _with_call(model: ChatRunnable) -> ChatRunnable:
    """Return the model bound to call a tool, where its server writes calls by a grammar; else the same model."""
    asked = _unbound(model)
    served = asked.served.known if isinstance(asked, LeanChatModel) and asked.served else UNKNOWN
    tools = model.kwargs.get("tools") if isinstance(model, RunnableBinding) else None
    if not tools or served.program not in WITH_GRAMMAR:
        return model
    if served.program == IGNORES_REQUIRED:
        # With "none" the tools stay in the prompt, and the call comes as text of the schema, which is read like any.
        return model.bind(tool_choice="none", response_format=_call_format(tools))
    return model.bind(tool_choice="required")


def _call_format(tools: Sequence[Any]) -> dict[str, Any]:
    """Return the format of an answer that is the JSON of one call of these tools."""
    functions = [tool["function"] for tool in tools]
    calls = [
        {
            "type": "object",
            "properties": {"name": {"const": function["name"]}, "arguments": function["parameters"]},
            "required": ["name", "arguments"],
        }
        for function in functions
    ]
    return {"type": "json_schema", "json_schema": {"name": "call", "schema": {"anyOf": calls}}}


def steadied(model: ChatRunnable) -> ChatRunnable:
    """Return a small model bound to its likeliest words, and to few enough, where its server else draws without end.

    Calls have to be exact, and a small model that begins to repeat itself goes on until its context is full.
    """
    asked = _unbound(model)
    served = asked.served.known if isinstance(asked, LeanChatModel) and asked.served else UNKNOWN
    return model.bind(temperature=0, max_tokens=SMALL_ANSWER) if served.program in WITH_GRAMMAR else model


def _tool_name(tool: Any) -> str:
    found = tool.get("function", tool) if isinstance(tool, dict) else tool
    return str(found.get("name") or "") if isinstance(found, dict) else ""


def reads_structure(model: object) -> bool:
    """Say whether a model is a program that reads sections and results as data, and pays for no tokens."""
    return bool(getattr(model, "reads_structure", False))


def _pieces(model: ChatRunnable, messages: Sequence[BaseMessage], *, hidden: bool) -> AsyncGenerator[AIMessage]:
    """Ask through LangChain's callbacks only if anybody hears them: they take time with each answer and each piece."""
    lean, messages = _unbound(model), _readable(model, messages)
    if _package(model) == WANTS_MARKS:
        messages = with_cache_marks(messages)
    if isinstance(model, RunnableBinding) and isinstance(lean, LeanChatModel) and _has_no_listener():
        return lean.pieces(messages, **model.kwargs)
    if wants_message_events(_callbacks()):
        return _invoked(model, messages, HIDDEN if hidden else None)
    pieces = cast("AsyncGenerator[AIMessage]", model.astream(list(messages), HIDDEN if hidden else None))
    return pieces if isinstance(lean, LeanChatModel) else without_tags(pieces)


async def _invoked(
    model: ChatRunnable, messages: Sequence[BaseMessage], config: RunnableConfig | None
) -> AsyncGenerator[AIMessage]:
    yield await model.ainvoke(list(messages), config)


def _callbacks() -> object:
    return (var_child_runnable_config.get() or {}).get("callbacks")


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
    callbacks = _callbacks()
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


def has_lost_call(answer: AIMessage) -> bool:
    """Say whether the model wrote a call into its text that can't be made."""
    return bool(answer.response_metadata.get(LOST_CALL))


def cut_notice(answer: AIMessage, language: Language) -> str:
    """Return the sentence for the person about an answer of which something is missing; empty for others."""
    if was_cut(answer):
        return f"\n\n{TEXTS.say('cut_off', language)}"
    if not has_lost_call(answer):
        return ""
    gap = "\n\n" if answer.text.strip() else ""
    return gap + TEXTS.say("call_lost", language)


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
