"""The state of each connection, and those who watch it."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from graph.language import Language
from graph.servers.reasons import Reason

StatusName = Literal["disconnected", "connecting", "connected", "error"]
Key = tuple[str, str]
"""The ids of a person and of a server."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The state of one connection; with `error` comes the reason."""

    status: StatusName
    reason: Reason | None = None

    @property
    def sentence(self) -> str | None:
        """Return the reason in English, for the person."""
        return self.sentence_in("en")

    def sentence_in(self, language: Language) -> str | None:
        """Return the reason in that language, for the person; None if there is none."""
        return self.reason.for_person(language) if self.reason else None


DISCONNECTED = ServerStatus("disconnected")


class StatusWatch:
    """A watch of one person's connections. For one task.

    Of each server the newest state counts, however slowly it is read. `is_open` until the service shuts down.
    """

    def __init__(self, states: dict[str, ServerStatus]) -> None:
        self.is_open = True
        self._states = states
        self._changed = asyncio.Event()

    def set(self, server_id: str, status: ServerStatus) -> None:
        """Take the newest state of a server."""
        self._states.pop(server_id, None)
        self._states[server_id] = status
        self._changed.set()

    def end(self) -> None:
        """Have it wait no more."""
        self.is_open = False
        self._changed.set()

    async def next(self, seconds: float | None = None) -> tuple[str, ServerStatus] | None:
        """Return (server id, state) of the next change; None if there is none in so many seconds, and at the end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.is_open and not self._states:
                    self._changed.clear()
                    await self._changed.wait()
        if not self._states:
            return None
        server_id = next(iter(self._states))
        return server_id, self._states.pop(server_id)


class StatusBoard:
    """The states of all connections that are not simply closed."""

    def __init__(self) -> None:
        self._states: dict[Key, ServerStatus] = {}
        self._watchers: dict[str, set[StatusWatch]] = {}

    def get(self, key: Key) -> ServerStatus:
        """Return the state of a connection."""
        return self._states.get(key, DISCONNECTED)

    def set(self, key: Key, status: ServerStatus) -> None:
        """Change the state of a connection, and tell those who watch."""
        if self.get(key) == status:
            return
        if status == DISCONNECTED:
            del self._states[key]
        else:
            self._states[key] = status
        for watcher in self._watchers.get(key[0], ()):
            watcher.set(key[1], status)

    @contextmanager
    def watching(self, user_id: str) -> Generator[StatusWatch]:
        """Watch a person's servers: those that are not simply closed, then each change."""
        watcher = StatusWatch({server: state for (user, server), state in self._states.items() if user == user_id})
        self._watchers.setdefault(user_id, set()).add(watcher)
        try:
            yield watcher
        finally:
            self._watchers[user_id].discard(watcher)
            if not self._watchers[user_id]:
                del self._watchers[user_id]

    async def watch(self, user_id: str) -> AsyncGenerator[tuple[str, ServerStatus]]:
        """Yield (server id, state) of a person's servers: those that are, then each change."""
        with self.watching(user_id) as watcher:
            while change := await watcher.next():
                yield change

    def end_watches(self) -> None:
        """End all watches, so that the service can shut down."""
        for watchers in self._watchers.values():
            for watcher in watchers:
                watcher.end()
