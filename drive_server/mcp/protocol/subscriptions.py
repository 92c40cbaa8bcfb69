"""Subscriptions: notify sessions of changes to their resources and to their list of resources."""

from collections.abc import Iterable
from typing import Any

import anyio
from mcp.server.session import ServerSession
from mcp.shared.context import RequestContext
from mcp.types import ResourceListChangedNotification, ServerNotification
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request

from drive_server.kernel.access import Actor, Principal, Scope, require_scope
from drive_server.kernel.context import current_principal
from drive_server.kernel.errors import DriveError, RateLimitError, UnavailableError
from drive_server.mcp.calls.authentication import Authenticator
from drive_server.mcp.protocol.index_updates import IndexUpdates
from drive_server.mcp.protocol.sessions import DriveSession, Sessions, Subscription, updated
from drive_server.mcp.resources import INDEX_URI, DriveResources
from drive_server.registry import ServiceRegistry
from drive_server.services.journal.feed import Recorded, places_of
from drive_server.services.tree.nodes import locate_many

MAX_SUBSCRIPTIONS = 500
LIST_PAUSE_SECONDS = 0.2
LIST_CHANGED = "resources/list"
_LIST_CHANGED = ServerNotification(ResourceListChangedNotification())


class Subscriptions:
    """Notifies sessions of changes: once per change and subscribed URI, while the caller may see the item."""

    def __init__(self, drive: ServiceRegistry, sessions: Sessions, authenticator: Authenticator) -> None:
        self._drive = drive
        self._sessions = sessions
        self._authenticator = authenticator
        self._resources = DriveResources(drive)
        self._stale: set[DriveSession] = set()
        self._has_stale = anyio.Event()
        self._index = IndexUpdates(drive, sessions, self._principal)
        drive.feed.listeners.append(self)

    async def subscribe(self, session: DriveSession, actor: Actor, uri: str) -> None:
        """Watch a file or folder that the caller sees. Raises `NotFoundError` and `RateLimitError`."""
        _require_room(session, uri)
        if uri == INDEX_URI:
            await self._index.subscribe(session, actor)
            return
        since = await self._drive.feed.newest()
        item = await self._resources.item(actor, uri)
        session.subscriptions.setdefault(uri, Subscription(item.id, since))

    def subscribe_plain(self, session: DriveSession, uri: str) -> None:
        """Watch a resource that is not the drive's. Raises `RateLimitError` for too many."""
        _require_room(session, uri)
        session.subscriptions.setdefault(uri, Subscription())

    def unsubscribe(self, session: DriveSession, uri: str) -> None:
        """End the subscription, and drop its notifications that are not sent yet."""
        session.subscriptions.pop(uri, None)
        session.withdraw(uri)

    def updated(self, uri: str) -> None:
        """Notify the subscribers of a plain resource that it changed."""
        for session in self._sessions:
            if uri in session.subscriptions:
                session.post(uri, updated(uri))

    async def run(self) -> None:
        """Follow the changes until cancelled."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._notify_of_lists)
            await self._index.run()

    def is_listening(self) -> bool:
        """Return whether a session is open."""
        return len(self._sessions) > 0

    async def hear(self, changes: list[Recorded], around: frozenset[str]) -> None:
        """Notify the sessions of these changes that watch a changed item, or whose list of resources is another."""
        watched = {one.node_id for session in self._sessions for one in session.subscriptions.values() if one.node_id}
        places: dict[str, frozenset[int]] = {}
        if watched:
            async with self._drive.database.read() as reading:
                places = await places_of(reading, changes, watched)
        for session in self._sessions:
            await self._notify_session(session, changes, places)
            if await self._is_concerned(session, around):
                self._stale.add(session)
                self._has_stale.set()

    async def _notify_session(
        self, session: DriveSession, changes: list[Recorded], places: dict[str, frozenset[int]]
    ) -> None:
        touched = {uri: one for uri, one in session.subscriptions.items() if one.node_id and places.get(one.node_id)}
        if not touched:
            return
        visible = await self._visible(session, [one.node_id for one in touched.values() if one.node_id])
        for uri in [uri for uri, one in touched.items() if one.node_id not in visible]:
            self.unsubscribe(session, uri)
        for change in changes:
            for uri, one in touched.items():
                is_news = change.id > one.since and one.node_id and change.id in places[one.node_id]
                if is_news and session.subscriptions.get(uri) is one:
                    session.post(uri, updated(uri))

    async def _visible(self, session: DriveSession, ids: Iterable[str]) -> set[str]:
        try:
            principal = await self._principal(session)
            require_scope(principal, Scope.READ)
        except DriveError:  # the key is not good any more
            return set()

        async def work(reading: AsyncSession) -> set[str]:
            return set(await locate_many(reading, principal, ids))

        return await self._drive.database.look(work)

    async def _is_concerned(self, session: DriveSession, around: frozenset[str]) -> bool:
        if session.person and session.person.isdisjoint(around):
            return False
        try:
            principal = await self._principal(session)
        except DriveError:
            return False
        session.person = frozenset({principal.user_id, principal.email})
        return not session.person.isdisjoint(around)

    async def _principal(self, session: DriveSession) -> Principal:
        """Return the session's present principal. Raises `UnauthenticatedError` if their key ended in the meantime."""
        request = RequestContext[ServerSession, Any, Request]("", None, session, None, request=session.request)
        token = current_principal.set(session.opened_by)
        try:
            return await self._authenticator.reauthenticate(request)
        except UnavailableError:
            return await self._authenticator.principal(request)
        finally:
            current_principal.reset(token)

    async def _notify_of_lists(self) -> None:
        """Notify of changed lists once after each burst of changes."""
        while True:
            await self._has_stale.wait()
            await anyio.sleep(LIST_PAUSE_SECONDS)
            self._has_stale = anyio.Event()
            stale, self._stale = self._stale, set()
            for session in self._sessions:
                if session in stale:
                    session.withdraw(LIST_CHANGED)
                    session.post(LIST_CHANGED, _LIST_CHANGED)


def _require_room(session: DriveSession, uri: str) -> None:
    if len(session.subscriptions) >= MAX_SUBSCRIPTIONS and uri not in session.subscriptions:
        raise RateLimitError(
            "This session has too many subscriptions.",
            hint=f"Unsubscribe from some; {MAX_SUBSCRIPTIONS} is the most at once.",
            details={"limit": MAX_SUBSCRIPTIONS},
        )
