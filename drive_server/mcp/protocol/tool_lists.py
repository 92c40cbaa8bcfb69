"""The list of tools as each session's key allows it: sessions are notified when theirs changes."""

import logging
from typing import Final

import anyio
from mcp.server.session import ServerSession
from mcp.types import ServerNotification, ToolListChangedNotification

from drive_server.kernel.access import ALL_SCOPES, Principal, Scope
from drive_server.kernel.errors import DriveError
from drive_server.kernel.settings import Tier
from drive_server.mcp.protocol.sessions import DriveSession, Sessions
from drive_server.services.housekeeping import whole_step
from drive_server.services.identity.service import IdentityService

logger = logging.getLogger(__name__)

POLL_SECONDS: Final = 1.0
ABOUT: Final = "tools/list"
_CHANGED: Final = ServerNotification(ToolListChangedNotification())


class ToolLists:
    """Notes the scopes and the tier of each session's caller, and tells the session when they are others than before.

    A key that this process changes is looked at after `wake`, one that another process changes within `POLL_SECONDS`.
    """

    def __init__(self, identity: IdentityService, sessions: Sessions) -> None:
        self._identity = identity
        self._sessions = sessions
        self._woken = anyio.Event()

    def wake(self) -> None:
        """Look soon: a key has other scopes, or shows other tools."""
        self._woken.set()

    def note(self, session: ServerSession, caller: Principal | None) -> frozenset[Scope]:
        """Note who calls in the session, None for nobody yet; return the scopes by which tools are listed."""
        assert isinstance(session, DriveSession)  # noqa: S101 - the protocol's sessions all are
        session.key_id = caller.key_id if caller else None
        scopes = caller.scopes if caller else ALL_SCOPES
        self._put(session, scopes, caller.tools if caller else None)
        return scopes

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
                logger.exception("Changed keys could not be followed.")

    async def _look(self) -> None:
        followed = [session for session in self._sessions if session.key_id]
        if not followed:
            return
        callers = await self._identity.callers_of({session.key_id for session in followed if session.key_id})
        for session in followed:
            if session.key_id in callers:
                caller = callers[session.key_id]
                self._put(session, caller.scopes, caller.tools)

    def _put(self, session: DriveSession, scopes: frozenset[Scope], tools: Tier | None) -> None:
        now: tuple[frozenset[Scope], Tier | None] = (scopes, tools)
        before = session.listed_by
        session.listed_by = now
        if before is not None and before != now:
            session.withdraw(ABOUT)
            session.post(ABOUT, _CHANGED)
