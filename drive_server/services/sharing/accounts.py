"""Whether an address has an account here, for who shares with it: without one nobody is told, and the role waits.

Everybody with an account may learn it, for one address at a time and so many in an hour: a share that nobody hears of
is worse, and accounts are made by administrators, so that there are no strangers among them. Guests of links learn
nothing. See `docs/SECURITY.md`.
"""

from typing import TYPE_CHECKING, Final

from sqlalchemy import select

from drive_server.kernel.access import Actor, Scope, require_person, require_scope
from drive_server.kernel.rate_limiter import SlidingWindow
from drive_server.services.tree.grantees import Grantee, find_grantee, is_group, normalise_grantee
from drive_server.storage.tables.people import UserRow

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from drive_server.kernel.sql.database import Database

MAX_LOOKUPS: Final = 100
"""Addresses that a person asks about in an hour; of more, nothing is said."""
HOUR_SECONDS: Final = 3600.0


class AccountService:
    """Says whether addresses have accounts."""

    def __init__(self, database: "Database") -> None:
        self._database = database
        self._lookups = SlidingWindow(MAX_LOOKUPS, HOUR_SECONDS)

    async def find(self, actor: Actor, address: str) -> tuple[Grantee, bool | None]:
        """Return the address's person or group, and whether it has an account: None for a group, and over the limit.

        Raises `InvalidInputError` for a malformed address, and `NotFoundError` for a group that does not exist.
        """
        require_scope(actor.principal, Scope.SHARE)
        async with self._database.read() as session:
            grantee = await find_grantee(session, normalise_grantee(address))
            return grantee, await self.has_account(session, actor, grantee)

    async def has_account(self, session: "AsyncSession", actor: Actor, grantee: Grantee) -> bool | None:
        """Do as `find` does, in a session."""
        require_person(actor.principal)
        if is_group(grantee.key) or self._lookups.wait_seconds(actor.user_id):
            return None
        self._lookups.count(actor.user_id)
        found = select(UserRow.id).where(UserRow.email == grantee.key, UserRow.removed_at.is_(None))
        return await session.scalar(found) is not None
