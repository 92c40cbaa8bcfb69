"""Stand-ins for what `api/app.py` plugs in: people, a drive that only remembers, a clock that stands still."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from api.drive import ChatPlace, RunChange, RunUndo
from api.errors import NotFoundError
from drive_server.kernel.errors import UnauthenticatedError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.database import News

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from starlette.requests import Request

    from api.drive import Principal

ALL_SCOPES = ("delete", "read", "share", "write")


@dataclass(frozen=True, slots=True)
class Someone:
    user_id: str
    email: str
    scopes: frozenset[str] = frozenset(ALL_SCOPES)
    key_name: str = "everyday"
    method: str = "api_key"
    time_zone: str = ""
    language: str = ""
    key_id: str | None = None


PEOPLE = {
    "alice-key": Someone("alice", "alice@example.com"),
    "alice-reader": Someone("alice", "alice@example.com", frozenset({"read"}), "reader"),
    "alice-writer": Someone("alice", "alice@example.com", frozenset({"read", "write"}), "writer"),
    "bob-key": Someone("bob", "bob@example.com"),
}


class MemoryDrive:
    """Remembers what was done in a file: a call that comes again, under the same id, is not done again."""

    index_state = "ok"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._path.touch()
        self.attempts = 0
        self.revoked = set[str]()

    def do(self, call_id: str, run_id: str, tool: str, args: dict[str, Any]) -> None:
        assert run_id not in self.revoked
        self.attempts += 1
        if all(effect["call_id"] != call_id for effect in self.effects):
            with self._path.open("a") as file:
                effect = {"call_id": call_id, "run_id": run_id, "tool": tool, "args": args}
                file.write(json.dumps(effect) + "\n")

    @property
    def effects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._path.read_text().splitlines()]

    def when_ended(self, tell: object) -> None:
        """Nobody is disabled or removed here."""

    def when_revoked(self, tell: object) -> None:
        """No key is revoked here."""

    @property
    def news(self) -> News:
        """News that nobody asks for."""
        return News()

    def fence_runs(self, holds_run: object) -> None:
        """No call comes from another process here."""

    async def note_state(self, session: object) -> None:
        """Nobody watches the state of this drive."""

    def require_fresh(self, caller: Principal) -> None:
        """Every caller has a key, which proves it with each request."""

    async def removed_people(self) -> frozenset[str]:
        return frozenset()

    async def authenticate(self, request: Request) -> Someone:
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        if key not in PEOPLE:
            raise UnauthenticatedError(Message.of("key_not_valid"), hint="Use another one.")
        return PEOPLE[key]

    async def holders(self, keys: Collection[str]) -> dict[str, Any]:
        return {key: PEOPLE[key] for key in keys if key in PEOPLE}

    async def locate(self, caller: Principal, place: ChatPlace) -> ChatPlace:
        del caller
        if "unknown" in (place.file_id, place.folder_id):
            raise NotFoundError
        return place

    async def hidden(self, caller: Principal, ids: Iterable[str]) -> frozenset[str]:
        del caller
        assert not set(ids)
        return frozenset()

    async def changes(self, user_id: str, run_id: str) -> tuple[RunChange, ...]:
        del user_id
        effects = enumerate(self.effects, 1)
        return tuple(
            RunChange(number, effect["tool"], f"{effect['tool']} done", "item1")
            for number, effect in effects
            if effect["run_id"] == run_id
        )

    async def revoke(self, user_id: str, run_id: str) -> None:
        del user_id
        self.revoked.add(run_id)

    async def undo(
        self, caller: Principal, run_ids: Sequence[str], change_id: int | None = None, *, preview: bool
    ) -> RunUndo:
        changes = [change for run_id in run_ids for change in await self.changes(caller.user_id, run_id)]
        wanted = tuple(change for change in changes if change_id in (None, change.id))
        return RunUndo(wanted, (), None if preview else 99, preview)

    async def redo(self, caller: Principal, run_id: str, *, preview: bool) -> RunUndo:
        return RunUndo(await self.changes(caller.user_id, run_id), (), None if preview else 100, preview)

    async def check(self) -> None:
        """Always ready."""

    async def check_blobs(self) -> None:
        """Always ready."""


class ManualClock:
    """Stands still until the test moves it; may be moved from another thread."""

    def __init__(self) -> None:
        self._now = datetime(2026, 1, 1, tzinfo=UTC)
        self._lock = threading.Lock()
        self._waiting: list[tuple[datetime, asyncio.AbstractEventLoop, asyncio.Event]] = []

    def now(self) -> datetime:
        return self._now

    async def sleep_until(self, moment: datetime) -> None:
        with self._lock:
            if moment <= self._now:
                return
            came = asyncio.Event()
            self._waiting.append((moment, asyncio.get_running_loop(), came))
        await came.wait()

    def advance(self, seconds: float) -> None:
        with self._lock:
            self._now += timedelta(seconds=seconds)
            due = [entry for entry in self._waiting if entry[0] <= self._now]
            self._waiting = [entry for entry in self._waiting if entry not in due]
        for _, loop, came in due:
            loop.call_soon_threadsafe(came.set)


OPENED_SECONDS = 60


class Gate:
    """Something in the service waits here until the test lets it through; works across threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_open = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._opened = threading.Event()
        self.reached = threading.Event()

    async def wait(self) -> None:
        with self._lock:
            opened = asyncio.Event()
            self._waiting.append((asyncio.get_running_loop(), opened))
        self.reached.set()
        if not self._is_open:
            await opened.wait()

    def wait_in_thread(self) -> None:
        """Wait where a thread of its own may be blocked."""
        self.reached.set()
        self._opened.wait(OPENED_SECONDS)

    def open(self) -> None:
        self._opened.set()
        with self._lock:
            self._is_open = True
            waiting, self._waiting = self._waiting, []
        for loop, opened in waiting:
            loop.call_soon_threadsafe(opened.set)
