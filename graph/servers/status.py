"""The state of each connection, and those who watch it."""

import asyncio
from collections.abc import AsyncGenerator
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


class _Watcher:
    """One who watches: of each server the newest state counts, however slowly they read."""

    def __init__(self, states: dict[str, ServerStatus]) -> None:
        self.states = states
        self.changed = asyncio.Event()

    def set(self, server_id: str, status: ServerStatus) -> None:
        self.states.pop(server_id, None)
        self.states[server_id] = status
        self.changed.set()


class StatusBoard:
    """The states of all connections that are not simply closed."""

    def __init__(self) -> None:
        self._states: dict[Key, ServerStatus] = {}
        self._watchers: dict[str, set[_Watcher]] = {}

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

    async def watch(self, user_id: str) -> AsyncGenerator[tuple[str, ServerStatus]]:
        """Yield (server id, state) of a person's servers: those that are, then each change."""
        watcher = _Watcher({server: state for (user, server), state in self._states.items() if user == user_id})
        self._watchers.setdefault(user_id, set()).add(watcher)
        try:
            while True:
                while watcher.states:
                    server_id = next(iter(watcher.states))
                    yield server_id, watcher.states.pop(server_id)
                watcher.changed.clear()
                await watcher.changed.wait()
        finally:
            self._watchers[user_id].discard(watcher)
            if not self._watchers[user_id]:
                del self._watchers[user_id]
