"""Which undos are taken back by a redo: of a run, of a change, or the one that was made last."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from drive_server.access import Actor
from drive_server.errors import InvalidInputError, NotFoundError, StateConflictError
from drive_server.messages import Message
from drive_server.services.undo.reversal import checked_id
from drive_server.storage.tables import ChangeRow

UNDO = "undo"


async def select_undos(
    session: AsyncSession, actor: Actor, run_id: str | None, change_id: int | None
) -> Sequence[ChangeRow]:
    """Return the caller's undos that hold, newest first: those of the run or the change, or their last one.

    `change_id` names what was undone or the undo itself. Raises `NotFoundError` for what is not the caller's, and
    `StateConflictError` if nothing of it is undone.
    """
    if run_id is not None and change_id is not None:
        raise InvalidInputError("Name a run or a change, not both.", hint="Leave one of them out.")
    if run_id is not None:
        return await _of_run(session, actor, run_id)
    if change_id is not None:
        return await _of_change(session, actor, change_id)
    target = aliased(ChangeRow)
    newest = (
        select(ChangeRow)
        .join(target, target.id == ChangeRow.undoes)
        .where(ChangeRow.user_id == actor.user_id, *_HOLDS, target.action != UNDO)
        .order_by(ChangeRow.id.desc())
        .limit(1)
    )
    found = (await session.scalars(newest)).all()
    if not found:
        raise StateConflictError(Message.of("nothing_to_redo"))
    return found


async def _of_run(session: AsyncSession, actor: Actor, run_id: str) -> Sequence[ChangeRow]:
    own = (ChangeRow.user_id == actor.user_id, ChangeRow.run_id == run_id)
    rows = (await session.scalars(select(ChangeRow).where(*own))).all()
    if not rows:
        raise _unknown()
    ids = {row.undone_by for row in rows if row.undone_by} | {row.id for row in rows if row.action == UNDO}
    query = select(ChangeRow).where(ChangeRow.id.in_(ids), *_HOLDS).order_by(ChangeRow.id.desc())
    undos = (await session.scalars(query)).all()
    if not undos:
        raise _not_undone()
    return undos


async def _of_change(session: AsyncSession, actor: Actor, change_id: int) -> Sequence[ChangeRow]:
    own = select(ChangeRow).where(ChangeRow.user_id == actor.user_id)
    row = (await session.scalars(own.where(ChangeRow.id == checked_id(change_id)))).one_or_none()
    if row is None:
        raise _unknown()
    wanted = row.id if row.action == UNDO else row.undone_by
    undos = (await session.scalars(own.where(ChangeRow.id == wanted, *_HOLDS))).all()
    if not undos:
        raise _not_undone()
    return undos


_HOLDS = (ChangeRow.action == UNDO, ChangeRow.undone_by.is_(None))


def _unknown() -> NotFoundError:
    return NotFoundError(Message.of("no_change"))


def _not_undone() -> StateConflictError:
    return StateConflictError(Message.of("not_undone"))
