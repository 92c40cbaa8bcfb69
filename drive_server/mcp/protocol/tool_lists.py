"""The list of tools as each session's scopes allow it: sessions are notified when theirs changes."""

import logging
from typing import Final

import anyio
from mcp.server.session import ServerSession
from mcp.types import ServerNotification, ToolListChangedNotification

from drive_server.access import ALL_SCOPES, Principal, Scope
from drive_server.errors import DriveError
from drive_server.mcp.protocol.sessions import DriveSession, Sessions
from drive_server.services.housekeeping import whole_step
from drive_server.services.identity.service import IdentityService

logger = logging.getLogger(__name__)

POLL_SECONDS: Final = 1.0
ABOUT: Final = "tools/list"
_CHANGED: Final = ServerNotification(ToolListChangedNotification())


class ToolLists:
    """Notes the scopes of each session's caller, and tells the session when they are others than before.

    A key that this process changes is looked at after `wake`, one that another process changes within `POLL_SECONDS`.
    """

    def __init__(self, identity: IdentityService, sessions: Sessions) -> None:
        self._identity = identity
        self._sessions = sessions
        self._woken = anyio.Event()

    def wake(self) -> None:
        """Look soon: a key has other scopes."""
        self._woken.set()

    def note(self, session: ServerSession, caller: Principal | None) -> frozenset[Scope]:
        """Note who calls in the session, None for nobody yet; return the scopes by which tools are listed."""
        assert isinstance(session, DriveSession)  # noqa: S101 - the protocol's sessions all are
        session.key_id = caller.key_id if caller else None
        self._put(session, caller.scopes if caller else ALL_SCOPES)
        return session.scopes or frozenset()

    async def run(self) -> None:
        """Follow the keys of the open sessions until cancelled."""
        while True:
            with anyio.move_on_after(POLL_SECONDS):
                await self._woken.wait()
            self._woken = anyio.Event()
            try:
                await whole_step(self._look)
            except DriveError:
                continue  # logged where it came from
            except Exception:
                logger.exception("Changed scopes could not be followed.")

    async def _look(self) -> None:
        followed = [session for session in self._sessions if session.key_id]
        if not followed:
            return
        scopes = await self._identity.scopes_of({session.key_id for session in followed if session.key_id})
        for session in followed:
            if session.key_id in scopes:
                self._put(session, scopes[session.key_id])

    def _put(self, session: DriveSession, scopes: frozenset[Scope]) -> None:
        before, session.scopes = session.scopes, scopes
        if before is not None and before != scopes:
            session.withdraw(ABOUT)
            session.post(ABOUT, _CHANGED)
