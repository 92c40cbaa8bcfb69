"""Turns with a server of notes over HTTP, the real pool, and the real graph."""

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
from tests.graph.servers.turns.chosen import NOTE, RECORD, Assemble, Chosen, records, system


@pytest.fixture(scope="module")
def running() -> Iterator[NotesServer]:
    server = NotesServer().start()
    yield server
    server.stop()


@pytest.fixture
def notes(running: NotesServer) -> NotesServer:
    running.reset()
    return running


@pytest.fixture
def chosen(notes: NotesServer) -> Chosen:
    return Chosen(Choice(servers=(notes.definition(),)))


@pytest.fixture
def make(
    model: ScriptedChatModel,
    pool: ConnectionPool,
    saver: AsyncSqliteSaver,
    store: AsyncSqliteStore,
    clock: SettableClock,
    make_pool: PoolMaker,
    chosen: Chosen,
) -> Assemble:
    """Return what builds an assistant with the chosen servers; keyword arguments are settings."""

    def make(**settings: Any) -> Assistant:
        own = AgentSettings(**settings)
        return assemble(
            model,
            pool,
            saver,
            settings=own,
            store=store,
            clock=clock,
            servers=chosen,
            server_pool=make_pool(**settings),
        )

    return make


@pytest.fixture
def assistant(make: Assemble) -> Assistant:
    return make()
