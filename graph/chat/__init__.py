"""A lean client for chat completions: what any OpenAI-compatible service streams, without an object for every token."""

from graph.chat.model import LeanChatModel
from graph.chat.transport import Endpoint

__all__ = ["Endpoint", "LeanChatModel"]
