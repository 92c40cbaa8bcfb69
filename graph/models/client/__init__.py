"""A lean client for chat completions: it reads any OpenAI-compatible stream, without an object for every token.

It takes 58 % of the CPU off a whole turn beside LangChain's `ChatOpenAI` (53 % with three calls): `python -m
benchmarks.agent.turns`, the rows `drive-agent` and `drive-agent, ChatOpenAI`. In a crowd of 100 it is 57 %: `python -m
benchmarks.agent.crowd`.
"""

from graph.models.client.connections import Connections, proxy_for
from graph.models.client.limited_stream import answer_limit
from graph.models.client.model import LeanChatModel
from graph.models.client.transport import Endpoint

__all__ = ["Connections", "Endpoint", "LeanChatModel", "answer_limit", "proxy_for"]
