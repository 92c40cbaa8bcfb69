"""A language model alone: no thread, no tool, no effect. For titles, tags and the like that programs ask for.

Whichever roles a client gives its messages, nothing can come of them but text.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from api.errors import InvalidRequestError
from api.events.frames import encode
from api.metrics.counters import count_tokens
from api.openai.messages import SYSTEM
from api.openai.pieces import Piece
from api.openai.requests import AnswerFormat, Content
from api.service import Service
from graph.errors import ModelError, ModelOutputError
from graph.events.sending import Delta, TextDelta
from graph.language import language_of
from graph.limits.budget import Spending, usage_of
from graph.limits.schemas import problems_of
from graph.models.asking import ask, reads_structure
from graph.models.shapes import AnswerShape, shape_of
from graph.models.structured import ask_for

HOUSEKEEPING: Final = re.compile(r"\s*### Task:")
"""How Open WebUI's requests for titles, tags, follow-up questions, queries and completions begin."""
REPAIRS: Final = 1
"""So often a model sees the faults of an object that does not fit, and answers again."""


def is_housekeeping(messages: Sequence[tuple[str, Content]], *, streams: bool) -> bool:
    """Say whether a program asks for itself and not for its person."""
    said = [content for role, content in messages if role not in SYSTEM]
    if streams or len(said) != 1 or not any(role == "user" for role, _ in messages):
        return False
    return isinstance(said[0], str) and HOUSEKEEPING.match(said[0]) is not None


async def write(
    service: Service, model: str, messages: Sequence[tuple[str, Content]], wanted: AnswerFormat | None = None
) -> AsyncGenerator[list[Piece]]:
    """Return the pieces of the model's answer. It passes the link filter as all that a model writes.

    Raises `InvalidRequestError` for content that is no text, for a schema that can't be used, and for a form in which
    the built-in model can't answer.
    """
    asked = [_message(role, content) for role, content in messages]
    answering, shape = service.graph.plain_model(model), _shape(wanted)
    if shape is None:
        return _told(asked, _words(service, answering, asked))
    if not reads_structure(answering):
        return _told(asked, _object(service, answering, asked, shape))
    try:
        return _all([piece async for pieces in _object(service, answering, asked, shape) for piece in pieces])
    except ModelOutputError:
        raise InvalidRequestError("no_form") from None


def _shape(wanted: AnswerFormat | None) -> type[AnswerShape] | None:
    """Return the shape of an answer in JSON, None for words. Raises `InvalidRequestError`."""
    if wanted is None or wanted.type == "text":
        return None
    if wanted.type == "json_object":
        return shape_of({"type": "object"}, wanted.name, {"type": wanted.type})
    given = wanted.schema_given
    named = given.model_dump(by_alias=True, exclude_none=True, include={"name", "form", "strict"})
    try:
        return shape_of(given.form or {"type": "object"}, given.name, {"type": wanted.type, wanted.type: named})
    except ValueError:
        raise InvalidRequestError("bad_form") from None


async def _all(pieces: list[Piece]) -> AsyncGenerator[list[Piece]]:
    yield pieces


async def _told(asked: Sequence[BaseMessage], pieces: AsyncGenerator[list[Piece]]) -> AsyncGenerator[list[Piece]]:
    """Yield the pieces; a failure of the model is the last one."""
    try:
        async with aclosing(pieces):
            async for batch in pieces:
                yield batch
    except ModelError as error:
        mine = error.in_language(language_of(_said(asked)))
        yield [Piece("end", event={"type": "error", "code": mine.code, "message": mine.sentence})]


async def _words(service: Service, model: BaseChatModel, asked: Sequence[BaseMessage]) -> AsyncGenerator[list[Piece]]:
    link_filter = service.graph.link_filter(_said(asked))
    deltas = asyncio.Queue[Delta | None]()
    task = asyncio.create_task(ask(model, asked, said=deltas.put_nowait), name="plain model")
    task.add_done_callback(lambda _: deltas.put_nowait(None))
    try:
        while (delta := await deltas.get()) is not None:
            if isinstance(delta, TextDelta) and (text := link_filter.feed(delta.text)):
                yield [Piece("text", text)]
        usage = usage_of(await task)
    finally:
        task.cancel()
    yield [*([Piece("text", text)] if (text := link_filter.end()) else []), _end(usage)]


async def _object(
    service: Service, model: BaseChatModel, asked: Sequence[BaseMessage], shape: type[AnswerShape]
) -> AsyncGenerator[list[Piece]]:
    """Yield the one object that fits the shape, whole."""
    spending = Spending(estimates=False)
    answer = await ask_for(model, shape, asked, spending=spending, repairs=REPAIRS)
    filtered = _filtered(answer.root, service.graph.link_filter(_said(asked)).clean)
    if problems_of(filtered, shape.form, with_patterns=False):
        raise ModelOutputError("without its links the answer does not fit")
    yield [Piece("text", encode(filtered).decode()), _end(spending.usage)]


def _filtered(value: Any, clean: Callable[[str], str]) -> Any:
    """Return the value with all its strings filtered, names of fields too."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {clean(name): _filtered(field, clean) for name, field in fields.items()}
    if isinstance(value, list):
        return [_filtered(one, clean) for one in cast("list[Any]", value)]
    return clean(value) if isinstance(value, str) else value


def _end(usage: Mapping[str, int]) -> Piece:
    count_tokens(dict(usage))
    return Piece("end", event={"type": "done", "status": "success", "usage": dict(usage)})


def _said(asked: Sequence[BaseMessage]) -> str:
    return "\n".join(message.text for message in asked if isinstance(message, HumanMessage))


def _message(role: str, content: Content) -> BaseMessage:
    if isinstance(content, list):
        if any(part.text is None for part in content):
            raise InvalidRequestError("text_only")
        content = "\n".join(part.text or "" for part in content)
    kinds: dict[str, type[BaseMessage]] = {"user": HumanMessage, "assistant": AIMessage}
    return kinds.get(role, SystemMessage)(content or "")
