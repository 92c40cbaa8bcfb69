"""Recorded changes as people may see them, and the etag check that tells what changed since."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.access import Actor, Principal, Role
from drive_server.errors import EtagMismatchError
from drive_server.messages import Message, localized
from drive_server.models import Change
from drive_server.services.journal.recorder import Writing
from drive_server.services.tree.items import etag_of
from drive_server.services.tree.located import Located
from drive_server.storage.tables import ChangeItemRow, ChangeRow, UserRow

MAX_CHANGES_TOLD = 5
# In the etag of an approval, what follows this sign tells what the change puts into the trash to make room.
REPLACES = "+"
_SEEN = {
    **dict.fromkeys(("create_folder", "create_file"), "seen.created"),
    **dict.fromkeys(("move", "move_many"), "seen.moved"),
    **dict.fromkeys(("write", "patch", "append", "restore_version"), "seen.edited"),
    **dict.fromkeys(("share", "revoke", "update_share", "create_link", "update_link", "revoke_link"), "seen.shared"),
    "rename": "seen.renamed",
    "trash": "seen.trashed",
    "restore": "seen.restored",
    "copy": "seen.copied",
    "undo": "seen.undone",
    "redo": "seen.redone",
}
_MIXED = frozenset({"copy", "undo", "redo"})


def to_change(row: ChangeRow | Row[Any], email: str, entries: Sequence[Any] | None = None) -> Change:
    """Return the recorded row as a plain value, with all of its entries unless others are given."""
    return Change(
        id=row.id,
        at=row.at,
        user_email=email,
        tool=row.tool,
        run_id=row.run_id,
        action=row.action,
        summary=row.summary,
        message=_stored_message(row),
        item_id=row.item_id,
        entries=tuple(_without_password(entry) for entry in (row.entries if entries is None else entries)),
        approved_by=row.approved_by,
        undoes=row.undoes,
        undone_by=row.undone_by,
        method=row.method,
        key_name=row.key_name,
        tool_call_id=row.tool_call_id,
        approval_id=row.approval_id,
        grant_id=row.grant_id,
    )


def summary_of(row: ChangeRow) -> Message | str:
    """Return what the change was; of an old one the English sentence."""
    return _stored_message(row) or row.summary


def _stored_message(row: ChangeRow | Row[Any]) -> Message | None:
    return Message(**row.message) if row.message else None


def _without_password(entry: Any) -> Any:
    """An undo needs what is kept of a link's password; nobody else does."""
    if entry["table"] != "links":
        return entry
    shown = dict(entry)
    for side in ("before", "after"):
        if entry[side] and "password_hash" in entry[side]:
            shown[side] = {**entry[side], "password_hash": entry[side]["password_hash"] is not None}
    return shown


def as_seen_by(principal: Principal, change: Change, located: Located) -> Change:
    """Leave out of someone else's change what only the owner may know: other items, other names, the run.

    Where a change may be about other people's items too, the owner of one is told of that one.
    """
    if change.user_email == principal.email:
        return change
    seen = replace(change, method=None, key_name=None, tool_call_id=None, approval_id=None, grant_id=None)
    if located.role == Role.OWNER and change.action not in _MIXED:
        return seen
    message = Message.of(_SEEN.get(change.action, "seen.changed"), item=located.subject)
    seen = replace(
        seen, summary=message.en, message=message, entries=(), item_id=located.id, undoes=None, undone_by=None
    )
    return seen if located.role == Role.OWNER else replace(seen, run_id=None, approved_by=None)


async def changes_of_item(
    session: AsyncSession,
    principal: Principal,
    located: Located,
    *,
    after_id: int = 0,
    without: Collection[int] = (),
    limit: int = MAX_CHANGES_TOLD,
) -> list[Change]:
    """Return the newest changes of the item with ids above `after_id`, newest first, as the caller may see them.

    Who only views it may see none of others.
    """
    query = (
        select(ChangeRow, UserRow.email)
        .join(ChangeItemRow, ChangeItemRow.change_id == ChangeRow.id)
        .join(UserRow, UserRow.id == ChangeRow.user_id)
        .where(ChangeItemRow.item_id == located.id, ChangeRow.id > after_id, ChangeRow.id.not_in(without))
        .order_by(ChangeRow.id.desc())
        .limit(limit)
    )
    if located.role < Role.EDITOR:
        query = query.where(ChangeRow.user_id == principal.user_id)
    found = await session.execute(query)
    return [as_seen_by(principal, to_change(row, email), located) for row, email in found]


async def check_etag(session: AsyncSession, actor: Actor, located: Located, if_match: str | None = None) -> None:
    """Raise `EtagMismatchError` unless the item still has the etag of the argument and of the call, where given.

    The error's details say the etag now, when and by whom it was changed last, and what was changed.
    """
    etag = etag_of(located.row)
    given = [one.partition(REPLACES)[0] for one in (if_match, actor.if_match) if one is not None]
    stale = next((one for one in given if one != etag), None)
    if stale is None:
        return
    newest = await changes_of_item(session, actor.principal, located)
    raise EtagMismatchError(
        Message.of("changed_since_read", item=located.subject),
        details={
            "id": located.id,
            "etag": etag,
            "updated_at": located.row.updated_at.isoformat(),
            "changed_by": newest[0].user_email if newest else None,
            "changes": _told(newest, located.row.revision - _revision(stale)),
        },
    )


def check_replaced(writing: Writing) -> None:
    """Raise `EtagMismatchError` unless what goes to the trash is what was shown as going there.

    A call whose etag says nothing of that (one that nobody was asked about) takes what is there.
    """
    if not writing.replaces:
        return
    writing.etag = f"{writing.etag}{REPLACES}{sha256(' '.join(writing.replaces).encode()).hexdigest()[:16]}"
    shown = writing.actor.if_match
    if shown is not None and REPLACES in shown and shown != writing.etag:
        raise EtagMismatchError(
            Message.of("replaced_not_as_shown"),
            details={"etag": writing.etag},
        )


def _told(newest: Sequence[Change], missed: int) -> list[dict[str, Any]]:
    """Each change raises the revision by one, so the revisions missed tell how many of the newest changes are news."""
    news = newest[:missed] if missed > 0 else newest[:1]
    return [
        {**localized(summary=change.message or change.summary), "by": change.user_email, "at": change.at.isoformat()}
        for change in news
    ]


def _revision(etag: str) -> int:
    digits = etag[:64].rpartition("-")[2]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else 0
