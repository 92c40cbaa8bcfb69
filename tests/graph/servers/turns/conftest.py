"""Turns with a server of notes over HTTP, the real pool, and the real graph."""

from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.sqlite.aio import AsyncSqliteStore

from graph.drive.connections import ConnectionPool
from graph.servers.choices import Choice
from graph.settings import AgentSettings
from tests.fakes.chat_model import ScriptedChatModel
from tests.fakes.clock import SettableClock
from tests.fakes.notes_server import NotesServer
from tests.graph.assistant import Assistant, assemble
from tests.graph.servers.conftest import PoolMaker
from tests.graph.servers.turns.chosen import Assemble, Chosen


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
