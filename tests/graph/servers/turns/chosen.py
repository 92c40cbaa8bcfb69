"""What a person chose of their servers, and what tests of turns read."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.sqlite.aio import AsyncSqliteStore
from mcp.types import Tool

from graph.context import RunContext
from graph.drive.connections import META_CHANGE_ID, META_FOREIGN, META_OF_OTHERS, ConnectionPool
from graph.errors import ModelTimeoutError
from graph.servers import offered
from graph.servers.choices import Choice
from graph.servers.offered import offer
from graph.servers.pins import hash_of
from graph.settings import AgentSettings
from tests.fakes.chat_model import ScriptedChatModel, plan_of, tool_call, tool_calls
from tests.fakes.clock import SettableClock
from tests.fakes.mcp_server import answer
from tests.fakes.notes_server import NotesServer, schema
from tests.fakes.tiny_drive import TinyDrive
from tests.graph.assistant import Assistant, Seen, approve, assemble, reject
from tests.graph.servers.conftest import PoolMaker
from tests.graph.servers.real import EVERYTHING, allowed, stdio

NOTE = "mcp__notes__note"
RECORD = "assistant.toolCall.updated"


@dataclass
class Chosen:
    """What the person has chosen; a test may change it at any time."""

    choice: Choice

    async def chosen(self, user: RunContext) -> Choice:
        """Return it, whoever asks."""
        del user
        return self.choice

    def change(self, **fields: Any) -> None:
        """Change the one server."""
        self.choice = replace(self.choice, servers=(replace(self.choice.servers[0], **fields),))


Assemble = Callable[..., Assistant]


def records(seen: Seen) -> list[tuple[str, str]]:
    """(id, status) of each record that clients were sent."""
    return [(event["toolCall"]["id"], event["toolCall"]["status"]) for event in seen.of(RECORD)]


def system(request: Sequence[BaseMessage]) -> str:
    return request[0].text
