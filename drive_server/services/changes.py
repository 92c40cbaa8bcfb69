"""Recorded changes as people may see them, and the etag check that tells what changed since."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.access import Actor, Principal, Role
from drive_server.errors import EtagMismatchError
from drive_server.models import Change
from drive_server.services.items import etag_of
from drive_server.services.nodes import Located
from drive_server.storage.tables import ChangeItemRow, ChangeRow, UserRow

MAX_CHANGES_TOLD = 5
_PLAIN = {
    "create_folder": "Created",
    "create_file": "Created",
    "rename": "Renamed",
    "move": "Moved",
    "trash": "Moved to the trash",
    "restore": "Restored from the trash",
    "write": "Changed the content of",
    "patch": "Changed the content of",
    "restore_version": "Changed the content of",
    "share": "Changed who has access to",
    "revoke": "Changed who has access to",
    "undo": "Took back changes of",
}


def to_change(row: ChangeRow, email: str) -> Change:
    """Return the recorded row as a plain value."""
    return Change(
        id=row.id,
        at=row.at,
        user_email=email,
        tool=row.tool,
        run_id=row.run_id,
        action=row.action,
        summary=row.summary,
        item_id=row.item_id,
        entries=tuple(row.entries),
        approved_by=row.approved_by,
        undoes=row.undoes,
        undone_by=row.undone_by,
    )


def as_seen_by(principal: Principal, change: Change, located: Located) -> Change:
    """Leave out of someone else's change what only the owner may know: other items, other names, the run."""
    if change.user_email == principal.email or located.role == Role.OWNER:
        return change
    summary = f"{_PLAIN.get(change.action, 'Changed')} {located.label}."
    return replace(
        change,
        summary=summary,
        entries=(),
        item_id=located.id,
        run_id=None,
        approved_by=None,
        undoes=None,
        undone_by=None,
    )


async def changes_of_item(
    session: AsyncSession, principal: Principal, located: Located, *, after_id: int = 0, limit: int = MAX_CHANGES_TOLD
) -> list[Change]:
    """Return the newest changes of the item with ids above `after_id`, newest first, as the caller may see them."""
    query = (
        select(ChangeRow, UserRow.email)
        .join(ChangeItemRow, ChangeItemRow.change_id == ChangeRow.id)
        .join(UserRow, UserRow.id == ChangeRow.user_id)
        .where(ChangeItemRow.item_id == located.id, ChangeRow.id > after_id)
        .order_by(ChangeRow.id.desc())
        .limit(limit)
    )
    found = await session.execute(query)
    return [as_seen_by(principal, to_change(row, email), located) for row, email in found]


async def check_etag(session: AsyncSession, actor: Actor, located: Located, if_match: str | None = None) -> None:
    """Raise `EtagMismatchError` unless the item still has the etag of the argument and of the call, where given.

    The error's details say the etag now, when and by whom it was changed last, and what was changed.
    """
    etag = etag_of(located.row)
    stale = next((given for given in (if_match, actor.if_match) if given is not None and given != etag), None)
    if stale is None:
        return
    newest = await changes_of_item(session, actor.principal, located)
    raise EtagMismatchError(
        f"{located.label} changed since it was read.",
        hint="Read it again, check that the change still makes sense, and repeat it with the new etag.",
        details={
            "id": located.id,
            "etag": etag,
            "updated_at": located.row.updated_at.isoformat(),
            "changed_by": newest[0].user_email if newest else None,
            "changes": _told(newest, located.row.revision - _revision(stale)),
        },
    )


def _told(newest: Sequence[Change], missed: int) -> list[dict[str, Any]]:
    """Each change raises the revision by one, so the revisions missed tell how many of the newest changes are news."""
    news = newest[:missed] if missed > 0 else newest[:1]
    return [{"summary": change.summary, "by": change.user_email, "at": change.at.isoformat()} for change in news]


def _revision(etag: str) -> int:
    digits = etag[:64].rpartition("-")[2]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else 0
