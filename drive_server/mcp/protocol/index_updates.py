"""Notify sessions that watch `drive://index` when the number of searchable files changes."""

from collections.abc import Awaitable, Callable
from weakref import WeakKeyDictionary

from drive_server.kernel.access import Actor, Principal, Scope, require_person, require_scope
from drive_server.kernel.errors import DriveError
from drive_server.kernel.sql.shared_poll import Watch
from drive_server.mcp.protocol.sessions import DriveSession, Sessions, Subscription, updated
from drive_server.mcp.resources import INDEX_URI
from drive_server.models.search import IndexStatus
from drive_server.registry import ServiceRegistry


class IndexUpdates:
    """One watch for each session that subscribed. `principal` tells who is behind a session now."""

    def __init__(
        self, drive: ServiceRegistry, sessions: Sessions, principal: Callable[[DriveSession], Awaitable[Principal]]
    ) -> None:
        self._drive = drive
        self._sessions = sessions
        self._principal = principal
        self._watches: WeakKeyDictionary[DriveSession, Watch[IndexStatus]] = WeakKeyDictionary()

    async def subscribe(self, session: DriveSession, actor: Actor) -> None:
        """Tell the session from now on. Raises `ForbiddenError` for who may not read, or comes by a link."""
        require_person(actor.principal)
        require_scope(actor.principal, Scope.READ)
        if INDEX_URI not in session.subscriptions:
            watch = self._drive.index_statuses.watch(actor.user_id)
            watch.skip(await self._drive.ingester.status(actor.user_id))
            self._watches[session] = watch
            session.subscriptions[INDEX_URI] = Subscription()

    async def run(self) -> None:
        """Look after each reading of the statuses, until cancelled."""
        while True:
            reading = self._drive.index_statuses.polls.next_reading
            for session, watch in list(self._watches.items()):
                if INDEX_URI in session.subscriptions and session in self._sessions:
                    await self._look(session, watch)
                else:
                    del self._watches[session]
            await reading.wait()

    async def _look(self, session: DriveSession, watch: Watch[IndexStatus]) -> None:
        if watch.take() is None:
            return
        try:
            require_scope(await self._principal(session), Scope.READ)
        except DriveError:  # the key is not good any more
            session.subscriptions.pop(INDEX_URI, None)
            return
        if INDEX_URI in session.subscriptions:
            session.post(INDEX_URI, updated(INDEX_URI))
