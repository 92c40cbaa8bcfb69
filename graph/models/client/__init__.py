"""A lean client for chat completions: what any OpenAI-compatible service streams, without an object for every token."""

from graph.models.client.connections import Connections, proxy_for
from graph.models.client.model import LeanChatModel
from graph.models.client.transport import Endpoint

__all__ = ["Connections", "Endpoint", "LeanChatModel", "proxy_for"]
