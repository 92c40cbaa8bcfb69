"""A lean client for chat completions: what any OpenAI-compatible service streams, without an object for every token."""

from graph.chat.connections import Connections, proxy_for
from graph.chat.model import LeanChatModel
from graph.chat.transport import Endpoint

__all__ = ["Connections", "Endpoint", "LeanChatModel", "proxy_for"]
