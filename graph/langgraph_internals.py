"""The private members of LangGraph that the assistant uses. Nothing public gives them."""

from typing import Final

from langgraph.graph.message import (
    _messages_delta_reducer,  # pyright: ignore[reportPrivateUsage] - langgraph exports it under this name only
)

MESSAGES_REDUCER: Final = _messages_delta_reducer
"""Merges lists of messages by id, in order, for a `DeltaChannel`."""
