"""A language model alone: no thread, no tool, no effect. For titles, tags and the like that programs ask for.

Whichever roles a client gives its messages, nothing can come of them but text.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from api.errors import InvalidRequestError
from api.metrics.counters import count_tokens
from api.openai.messages import SYSTEM
from api.openai.pieces import Piece
from api.openai.requests import Content
from api.service import Service
from graph.errors import ModelError
from graph.events.sending import Delta, TextDelta
from graph.language import language_of
from graph.limits.budget import usage_of
from graph.models.asking import ask

HOUSEKEEPING: Final = re.compile(r"\s*### Task:")
"""How Open WebUI's requests for titles, tags, follow-up questions, queries and completions begin."""


def is_housekeeping(messages: Sequence[tuple[str, Content]], *, streams: bool) -> bool:
    """Say whether a program asks for itself and not for its person."""
    said = [content for role, content in messages if role not in SYSTEM]
    if streams or len(said) != 1 or not any(role == "user" for role, _ in messages):
        return False
    return isinstance(said[0], str) and HOUSEKEEPING.match(said[0]) is not None


def write(service: Service, model: str, messages: Sequence[tuple[str, Content]]) -> AsyncGenerator[list[Piece]]:
    """Return the pieces of the model's text. It passes the link filter as all that a model writes.

    Raises `InvalidRequestError` for content that is no text.
    """
    return _write(service, model, [_message(role, content) for role, content in messages])


async def _write(service: Service, model: str, asked: Sequence[BaseMessage]) -> AsyncGenerator[list[Piece]]:
    said = [message.text for message in asked if isinstance(message, HumanMessage)]
    link_filter = service.graph.link_filter(*said)
    deltas = asyncio.Queue[Delta | None]()
    task = asyncio.create_task(ask(service.graph.plain_model(model), asked, said=deltas.put_nowait), name="plain model")
    task.add_done_callback(lambda _: deltas.put_nowait(None))
    try:
        while (delta := await deltas.get()) is not None:
            if isinstance(delta, TextDelta) and (text := link_filter.feed(delta.text)):
                yield [Piece("text", text)]
        usage = usage_of(await task)
    except ModelError as error:
        mine = error.in_language(language_of("\n".join(said)))
        yield [Piece("end", event={"type": "error", "code": mine.code, "message": mine.sentence})]
        return
    finally:
        task.cancel()
    count_tokens(usage)
    end = Piece("end", event={"type": "done", "status": "success", "usage": usage})
    yield [*([Piece("text", text)] if (text := link_filter.end()) else []), end]


def _message(role: str, content: Content) -> BaseMessage:
    if isinstance(content, list):
        if any(part.text is None for part in content):
            raise InvalidRequestError("text_only")
        content = "\n".join(part.text or "" for part in content)
    kinds: dict[str, type[BaseMessage]] = {"user": HumanMessage, "assistant": AIMessage}
    return kinds.get(role, SystemMessage)(content or "")
