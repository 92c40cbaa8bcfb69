"""Runs that are over before all of their calls are: later effects of such a call are refused in its transaction."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor
from drive_server.kernel.errors import CallCancelledError
from drive_server.kernel.messages import Message
from drive_server.storage.tables.journal import RevokedRunRow
from drive_server.storage.tables.people import UserRow

MAX_CALL: Final = timedelta(days=7)
"""No call is under way for so long."""


async def revoke_run(session: AsyncSession, user_id: str, run_id: str, now: datetime) -> None:
    """Refuse every later change of a run. On PostgreSQL the lock waits for those that have begun."""
    await session.execute(select(UserRow.id).where(UserRow.id == user_id).with_for_update())
    await session.execute(delete(RevokedRunRow).where(RevokedRunRow.at < now - MAX_CALL))
    await session.merge(RevokedRunRow(user_id=user_id, run_id=run_id, at=now))


HoldsRun = Callable[[AsyncSession, str], Awaitable[bool]]
"""Says whether this process still has the run of this id, as far as it is one of the service's."""


async def refuse_if_revoked(session: AsyncSession, actor: Actor, holds_run: HoldsRun | None = None) -> None:
    """Raise `CallCancelledError` for a call of a run that is over, and hold off its end until this transaction's.

    The runs of a person whose account was disabled are over, and for this process those that another one has now.
    """
    if actor.run_id is None or actor.dry_run:
        return
    lock = select(UserRow.disabled_at).where(UserRow.id == actor.user_id).with_for_update(read=True, key_share=True)
    is_disabled = await session.scalar(lock) is not None
    revoked = select(RevokedRunRow.at).where(
        RevokedRunRow.user_id == actor.user_id, RevokedRunRow.run_id == actor.run_id
    )
    is_lost = holds_run is not None and not await holds_run(session, actor.run_id)
    if is_disabled or is_lost or await session.scalar(revoked):
        raise CallCancelledError(Message.of("run_is_over"))
