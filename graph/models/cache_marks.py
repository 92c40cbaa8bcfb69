"""Marks up to which a service keeps a request in its cache, for services that keep nothing without them.

Claude's do (Anthropic API, "prompt caching"): up to four `cache_control` in blocks of the content, each of which makes
all before it, the tools included, a cached beginning. One ends the part that never changes, one ends the request: the
next one of the conversation goes on from there.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from langchain_core.messages import BaseMessage, SystemMessage

MARK: Final = "cache_control"
EPHEMERAL: Final[Mapping[str, str]] = {"type": "ephemeral"}
MARKED_MODELS: Final = re.compile(r"claude|^anthropic/", re.IGNORECASE)
"""Names of models whose service wants marks."""


def with_cache_marks(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the messages with a mark at the end of the system's, and one at the end of the last."""
    marked = [*messages]
    for at in {next((at for at, one in enumerate(marked) if isinstance(one, SystemMessage)), -1), len(marked) - 1}:
        if at >= 0 and (content := _marked(cast("object", marked[at].content))):
            marked[at] = marked[at].model_copy(update={"content": content})
    return marked


def mark_body(body: dict[str, Any]) -> bool:
    """Mark the system's and the last user's message of a chat completion's body; say whether anything is marked.

    Results of tools have no parts there (OpenRouter, "prompt caching").
    """
    if MARKED_MODELS.search(str(body["model"])) is None:
        return False
    messages: list[dict[str, Any]] = body["messages"]
    places = {role: at for at, message in enumerate(messages) if (role := message["role"]) in {"system", "user"}}
    marked = [(messages[at], content) for at in places.values() if (content := _marked(messages[at].get("content")))]
    for message, content in marked:
        message["content"] = content
    return bool(marked)


def remove_marks(body: dict[str, Any]) -> bool:
    """Remove the marks from a body; say whether there were any."""
    parts = [part for message in body["messages"] for part in _parts(message.get("content"))]
    marked = [part for part in parts if MARK in part]
    for part in marked:
        del part[MARK]
    return bool(marked)


def _marked(content: object) -> list[Any] | None:
    """Return the content as parts of which the last text is marked; None for one without any text."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) and content else _parts(content)
    at = next((at for at in range(len(parts) - 1, -1, -1) if parts[at].get("type") == "text" and parts[at]["text"]), -1)
    if at < 0:
        return None
    return [*parts[:at], {**parts[at], MARK: {**EPHEMERAL}}, *parts[at + 1 :]]


def _parts(content: object) -> list[dict[str, Any]]:
    listed = cast("list[Any]", content) if isinstance(content, list) else []
    return [cast("dict[str, Any]", part) for part in listed if isinstance(part, dict)]
