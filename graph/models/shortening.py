"""Requests made shorter: a service that refuses the length of one is asked once more with less.

The specialists' view of a thread is made anew instead (`graph/memory/summarizer.py`), and a file is read in halves.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from langchain_core.messages import BaseMessage, HumanMessage

from graph.errors import ModelContextError
from graph.messages.tokens import tokens_of, tokens_of_messages
from graph.models.overflow import limit_in

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

SHARE: Final = 0.5
LEAST_SHARE: Final = 0.05
ROOM_SHARE: Final = 0.75
"""Share of a service's limit that the request may take; the rest is for the answer."""
SHORT: Final = 300
"""Characters of a section or a message that stays whole."""
NEWEST_LAST: Final = frozenset({"conversation"})
CUT: Final = "…"
_SECTION: Final = re.compile(r"(?P<begin><(?P<tag>[a-z_]+)\b[^<>]*>\n)(?P<body>.*?)(?P<end>\n</(?P=tag)>)", re.DOTALL)


async def ask_once_shorter(
    ask: Callable[[Sequence[BaseMessage]], Awaitable[Answer]], messages: Sequence[BaseMessage]
) -> Answer:
    """Return the answer to the messages, or to shorter ones if the service refuses their length."""
    try:
        return await ask(messages)
    except ModelContextError as refused:
        shorter = shortened(messages, refused.detail)
        if [one.text for one in shorter] == [one.text for one in messages]:
            raise
        logger.warning("The model refused the length of a request; it is asked once more with less: %s", refused)
    return await ask(shorter)


def shortened(messages: Sequence[BaseMessage], refusal: str) -> list[BaseMessage]:
    """Return the messages with their long sections cut to half, or to the room that the limit in the refusal leaves."""
    share, limit = SHARE, limit_in(refusal)
    if limit:
        sizes = [tokens_of(part) for one in messages for part in _long_parts(one)]
        fixed = tokens_of_messages(messages) - sum(sizes)
        share = max(LEAST_SHARE, min(share, (limit * ROOM_SHARE - fixed) / max(1, sum(sizes))))
    return [_shorter(message, share) for message in messages]


def _long_parts(message: BaseMessage) -> list[str]:
    bodies = [found["body"] for found in _SECTION.finditer(message.text)]
    parts = bodies or ([message.text] if isinstance(message, HumanMessage) else [])
    return [part for part in parts if len(part) > SHORT]


def _shorter(message: BaseMessage, share: float) -> BaseMessage:
    """Cut the sections of a message; of words without any, such as the person's, the middle."""
    if not _long_parts(message):
        return message
    if not _SECTION.search(message.text):
        return message.model_copy(update={"content": _without_middle(message.text, share)})
    return message.model_copy(update={"content": _SECTION.sub(lambda found: _section(found, share), message.text)})


def _section(found: re.Match[str], share: float) -> str:
    body = found["body"]
    if len(body) <= SHORT:
        return found[0]
    length = max(1, round(len(body) * share))
    part = CUT + body[-length:] if found["tag"] in NEWEST_LAST else body[:length] + CUT
    return found["begin"] + part + found["end"]


def _without_middle(text: str, share: float) -> str:
    half = max(1, round(len(text) * share / 2))
    return f"{text[:half]}{CUT}{text[-half:]}"
