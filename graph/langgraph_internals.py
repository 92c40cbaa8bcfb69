"""The private members of LangGraph that the assistant uses. Nothing public gives them."""

from typing import Final

from langchain_core.callbacks import BaseCallbackManager
from langgraph.graph.message import (
    _messages_delta_reducer,  # pyright: ignore[reportPrivateUsage] - langgraph exports it under this name only
)
from langgraph.pregel._messages import StreamMessagesHandlerV2  # it has no public name

MESSAGES_REDUCER: Final = _messages_delta_reducer
"""Merges lists of messages by id, in order, for a `DeltaChannel`."""


def wants_message_events(callbacks: object) -> bool:
    """Say whether a run is read as LangGraph's events: these show only models that are invoked, not streamed."""
    handlers = callbacks.handlers if isinstance(callbacks, BaseCallbackManager) else ()
    return any(isinstance(handler, StreamMessagesHandlerV2) for handler in handlers)
