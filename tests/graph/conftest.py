import os
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.sqlite.aio import AsyncSqliteStore

from drive_server.connect import ALL_SCOPES, Actor, Drive, DriveSettings, open_drive
from graph.drive.connections import ConnectionPool, drive_sessions
from graph.settings import AgentSettings
from tests.fakes.chat_model import ScriptedChatModel
from tests.fakes.clock import SettableClock
from tests.fakes.tiny_drive import TinyDrive
from tests.graph.assistant import Assistant, assemble, person

SETTINGS = ("AGENT_", "ANTHROPIC_", "DASHSCOPE_", "DEEPSEEK_", "DRIVE_", "GROQ_", "MISTRAL_", "OLLAMA_", "OPENAI_")
Build = Callable[..., Assistant]


@pytest.fixture(scope="session")
def empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for tests that write no file."""
    return tmp_path_factory.mktemp("empty")


@pytest.fixture(autouse=True)
def no_settings_of_the_machine(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, empty_folder: Path
) -> None:
    """Take away what the machine's environment and `.env` say about models and drives.

    The working directory is the test's own, if it has one: to make one for each takes longer than most tests of rules.
    """
    has_own = "tmp_path" in request.fixturenames
    remove_settings(monkeypatch, request.getfixturevalue("tmp_path") if has_own else empty_folder)


def remove_settings(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have no variable with a setting, and a working directory without `.env`."""
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith(SETTINGS)]:
        monkeypatch.delenv(name)


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def drive() -> TinyDrive:
    return TinyDrive()


@pytest.fixture
def model() -> ScriptedChatModel:
    return ScriptedChatModel()


@pytest.fixture
async def pool(drive: TinyDrive, clock: SettableClock) -> AsyncGenerator[ConnectionPool]:
    pool = ConnectionPool(drive.open_session, call_seconds=5, idle_seconds=60, clock=clock)
    yield pool
    await pool.aclose()


@pytest.fixture
async def saver(tmp_path: Path) -> AsyncGenerator[AsyncSqliteSaver]:
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
        yield saver


@pytest.fixture
def build(model: ScriptedChatModel, pool: ConnectionPool, saver: AsyncSqliteSaver, clock: SettableClock) -> Build:
    """Return what builds an assistant; keyword arguments are settings."""

    def build(**settings: Any) -> Assistant:
        return assemble(model, pool, saver, settings=AgentSettings(**settings), clock=clock)

    return build


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[AsyncSqliteStore]:
    async with AsyncSqliteStore.from_conn_string(str(tmp_path / "store.db")) as store:
        await store.setup()
        yield store


@pytest.fixture
def build_with_store(
    model: ScriptedChatModel,
    pool: ConnectionPool,
    saver: AsyncSqliteSaver,
    store: AsyncSqliteStore,
    clock: SettableClock,
) -> Build:
    """Return what builds an assistant that keeps long results and facts; keyword arguments are settings."""

    def build(**settings: Any) -> Assistant:
        return assemble(model, pool, saver, settings=AgentSettings(**settings), store=store, clock=clock)

    return build


@pytest.fixture
def assistant(build: Build) -> Assistant:
    return build()


@pytest.fixture
async def real_drive(tmp_path: Path) -> AsyncGenerator[Drive]:
    """A real drive in a scratch directory, without an embedding model."""
    async with open_drive(DriveSettings(data_dir=tmp_path / "drive", embedding_model="none")) as drive:
        yield drive


@pytest.fixture
async def actor(real_drive: Drive) -> Actor:
    """The owner of the real drive."""
    user, _ = await real_drive.identity.ensure_local_user()
    return Actor(await real_drive.identity.principal_for(user.id, ALL_SCOPES))


@pytest.fixture
async def real_pool(real_drive: Drive) -> AsyncGenerator[ConnectionPool]:
    pool = ConnectionPool(drive_sessions(real_drive))
    yield pool
    await pool.aclose()


@pytest.fixture
def mine(
    real_pool: ConnectionPool, actor: Actor, model: ScriptedChatModel, saver: AsyncSqliteSaver, clock: SettableClock
) -> Assistant:
    """The owner's assistant at the real drive."""
    return assemble(model, real_pool, saver, person(actor), clock=clock)
