"""Two services on one database: who is disabled or removed by one of them has nothing more in the other."""

from __future__ import annotations

import asyncio
import shutil
import threading
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import pytest
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk

from graph.settings import AgentSettings
from tests.api.command_model import CommandModel, command
from tests.api.real_service import RealService
from tests.api.storage.postgres_server import running_server
from tests.api.test_removed_people import fill, traces
from tests.e2e.person import Person, read_events

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator
    from pathlib import Path

SOON_SECONDS = 8
"""Far less than the heartbeat after which a stream looks for itself whether its key still holds."""
ENDLESS = "think for ever"


class ThinkingModel(CommandModel):
    """Begins an answer to one message, and never ends it."""

    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **kwargs: Any
    ) -> AsyncGenerator[ChatGenerationChunk]:
        is_answer = "RouteDecision" not in kwargs.get("offered", ())
        if is_answer and isinstance(messages[-1], HumanMessage) and ENDLESS in messages[-1].text:
            yield ChatGenerationChunk(message=AIMessageChunk(content="Well "))
            await asyncio.Event().wait()
        async for chunk in super()._astream(messages, *_, **kwargs):
            yield chunk


class Pair:
    """Two services, and the people of them: an administrator works with the first, others with the second."""

    def __init__(self, root: Path, database_url: str, stack: ExitStack) -> None:
        self.folder = root / "two"
        is_sqlite = database_url.startswith("sqlite")
        threads_url = "" if is_sqlite else database_url.replace("+psycopg", "")
        agent = AgentSettings(model="offline", threads_url=threads_url)
        shared: Any = {"agent": agent, "database_url": database_url, "blob_url": (root / "blobs").as_uri()}
        first = RealService(root / "one", ThinkingModel(), **shared).start()
        stack.callback(first.stop)
        self.folder.mkdir()
        # A token of its own would end that of the first one.
        shutil.copy2(root / "one" / "token", self.folder / "token")
        # On SQLite the second one's own databases are no parts of the installation that the drive's knows.
        self._second = RealService(self.folder, ThinkingModel(), keep_everything=is_sqlite, **shared).start()
        stack.callback(self._second.stop)
        self.owner = stack.enter_context(closing(first.owner()))

    def add_person(self) -> Person:
        """Make an account with the first service; return its person at the second one."""
        with closing(self.owner.add_new("gone")) as made:
            return Person(self._second.url, made.token, made.email)

    def disable(self, person: Person, *, is_disabled: bool = True) -> None:
        """Disable or enable the account."""
        changed = self.owner.http.patch(f"/api/users/{person.email}", json={"is_disabled": is_disabled})
        assert changed.is_success, changed.text


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Pair]:
    root = tmp_path_factory.mktemp("pair")
    with ExitStack() as stack:
        if request.param == "sqlite":
            url = f"sqlite+aiosqlite:///{root / 'shared.db'}"
        else:
            server = stack.enter_context(running_server())
            url = server.new_database().replace("postgresql://", "postgresql+psycopg://")
        yield Pair(root, url, stack)


@pytest.fixture
def person(pair: Pair) -> Generator[Person]:
    with closing(pair.add_person()) as person:
        yield person


def soon(work: Callable[[], object]) -> bool:
    """Return whether the work ends soon."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(SOON_SECONDS)
    return not thread.is_alive()


def test_a_run_that_waits_in_the_other_service_ends_soon_with_the_account(pair: Pair, person: Person) -> None:
    folder = person.folder("Stays")
    with person.chat(command("trash_item", item_id=folder["id"])) as turn:
        turn.until("approval_needed")
        pair.disable(person)
        assert soon(lambda: turn.until("done", "error"))
        assert turn.seen[-1]["status"] == "cancelled"
    with pytest.raises(AssertionError, match="account_disabled"):
        person.get("/api/threads")
    pair.disable(person, is_disabled=False)
    assert person.get("/api/approvals")["items"] == []
    assert person.names() == ["Stays"]


def test_a_run_that_works_in_the_other_service_ends_soon_and_each_time_again(pair: Pair, person: Person) -> None:
    for _ in range(2):
        with person.chat(ENDLESS) as turn:
            turn.until("content")
            pair.disable(person)
            assert soon(lambda: turn.until("done", "error"))
            assert turn.seen[-1]["status"] == "cancelled"
        pair.disable(person, is_disabled=False)


@pytest.mark.parametrize("address", ["/api/drive/events", "/api/notices/events", "/api/drive/index/events"])
def test_a_stream_of_the_other_service_ends_soon_with_the_account(pair: Pair, person: Person, address: str) -> None:
    with person.http.stream("GET", address) as response:
        lines = response.iter_lines()
        assert next(lines)
        pair.disable(person)
        assert soon(lambda: [*read_events(lines)])


def test_what_the_other_service_has_of_a_removed_person_goes_soon(pair: Pair, person: Person) -> None:
    user_id = fill(person)

    def gone() -> None:
        while traces(pair.folder, user_id, person.email):
            threading.Event().wait(0.05)

    removed = pair.owner.http.delete(f"/api/users/{user_id}", params={"delete_files": "true"})
    assert removed.is_success, removed.text
    assert soon(gone)
