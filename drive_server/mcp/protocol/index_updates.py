"""Notify sessions that watch `drive://index` when the number of searchable files changes."""

from collections.abc import Awaitable, Callable
from weakref import WeakKeyDictionary

import anyio

from drive_server.access import Actor, Principal, Scope, require_person, require_scope
from drive_server.errors import DriveError
from drive_server.knowledge.ingest.ingester import PAUSE_SECONDS, POLL_SECONDS, IndexWatch
from drive_server.mcp.protocol.sessions import DriveSession, Sessions, Subscription, updated
from drive_server.mcp.resources import INDEX_URI
from drive_server.registry import ServiceRegistry


class IndexUpdates:
    """One watch for each session that subscribed. `principal` tells who is behind a session now."""

    def __init__(
        self, drive: ServiceRegistry, sessions: Sessions, principal: Callable[[DriveSession], Awaitable[Principal]]
    ) -> None:
        self._drive = drive
        self._sessions = sessions
        self._principal = principal
        self._watches: WeakKeyDictionary[DriveSession, IndexWatch] = WeakKeyDictionary()

    async def subscribe(self, session: DriveSession, actor: Actor) -> None:
        """Tell the session from now on. Raises `ForbiddenError` for who may not read, or comes by a link."""
        require_person(actor.principal)
        require_scope(actor.principal, Scope.READ)
        if INDEX_URI not in session.subscriptions:
            watch = IndexWatch(self._drive.ingester, actor.user_id)
            await watch.poll()
            self._watches[session] = watch
            session.subscriptions[INDEX_URI] = Subscription()

    async def run(self) -> None:
        """Look when there may be news, until cancelled."""
        while True:
            step = self._drive.ingester.next_step
            for session in self._sessions:
                if INDEX_URI in session.subscriptions and session in self._watches:
                    await self._look(session, self._watches[session])
            with anyio.move_on_after(POLL_SECONDS):
                await step.wait()
            await anyio.sleep(PAUSE_SECONDS)

    async def _look(self, session: DriveSession, watch: IndexWatch) -> None:
        try:
            require_scope(await self._principal(session), Scope.READ)
        except DriveError:  # the key is not good any more
            session.subscriptions.pop(INDEX_URI, None)
            return
        if await watch.poll() is not None and INDEX_URI in session.subscriptions:
            session.post(INDEX_URI, updated(INDEX_URI))
