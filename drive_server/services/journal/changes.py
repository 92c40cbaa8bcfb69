"""Recorded changes: queries for them, each reader's view of them, and the etag check that names later changes."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, Select, Text, cast, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Principal, Role
from drive_server.kernel.errors import EtagMismatchError, ForbiddenError, InvalidInputError
from drive_server.kernel.messages import Message, localized
from drive_server.models.changes import Change
from drive_server.services.identity.emails import normalise_email
from drive_server.services.journal.recorder import Recorder
from drive_server.services.tree.items import etag_of
from drive_server.services.tree.nodes import NodeView, locate_sync
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.journal import ChangeItemRow, ChangeRow
from drive_server.storage.tables.people import UserRow

MAX_CHANGES_NAMED = 5
# In an approval's etag, the digest after this sign is of the items that go to the trash to make room.
REPLACES = "+"
_SEEN = {
    **dict.fromkeys(("create_folder", "create_file", "fill_template"), "seen.created"),
    **dict.fromkeys(("move", "move_many", "organize"), "seen.moved"),
    **dict.fromkeys(("write", "patch", "append", "restore_version", "set_date"), "seen.edited"),
    **dict.fromkeys(
        ("share", "leave", "revoke", "update_share", "create_link", "update_link", "revoke_link"), "seen.shared"
    ),
    **dict.fromkeys(("rename", "rename_many"), "seen.renamed"),
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
        approved_key=row.approved_key,
        undoes=row.undoes,
        undone_by=row.undone_by,
        method=row.method,
        key_name=row.key_name,
        tool_call_id=row.tool_call_id,
        approval_id=row.approval_id,
        grant_id=row.grant_id,
    )


def summary_of(row: ChangeRow) -> Message | str:
    """Return the summary of the change; of an old one the English sentence."""
    return _stored_message(row) or row.summary


def _stored_message(row: ChangeRow | Row[Any]) -> Message | None:
    return Message(**row.message) if row.message else None


def _without_password(entry: Any) -> Any:
    """Replace the hash of a link's password by whether there is one: only an undo needs it."""
    if entry["table"] != "links":
        return entry
    shown = dict(entry)
    for side in ("before", "after"):
        if entry[side] and "password_hash" in entry[side]:
            shown[side] = {**entry[side], "password_hash": entry[side]["password_hash"] is not None}
    return shown


def redact_for(principal: Principal, change: Change, node: NodeView) -> Change:
    """Leave out the owner's private parts of someone else's change: other items, other names, the run."""
    if change.user_email == principal.email:
        return change
    hidden = dict.fromkeys(("method", "key_name", "approved_key", "tool_call_id", "approval_id", "grant_id"))
    view = replace(change, **hidden)
    if node.role == Role.OWNER and change.action not in _MIXED:
        return view
    message = Message.of(_SEEN.get(change.action, "seen.changed"), item=node.subject)
    view = replace(view, summary=message.en, message=message, entries=(), item_id=node.id, undoes=None, undone_by=None)
    return view if node.role == Role.OWNER else replace(view, run_id=None, approved_by=None)


async def changes_of_item(
    session: AsyncSession,
    principal: Principal,
    node: NodeView,
    *,
    after_id: int = 0,
    without: Collection[int] = (),
    limit: int = MAX_CHANGES_NAMED,
) -> list[Change]:
    """Return the newest changes of the item with ids above `after_id`, newest first, as the caller may see them."""
    query = (
        select(ChangeRow, UserRow.email)
        .join(ChangeItemRow, ChangeItemRow.change_id == ChangeRow.id)
        .join(UserRow, UserRow.id == ChangeRow.user_id)
        .where(ChangeItemRow.item_id == node.id, ChangeRow.id > after_id, ChangeRow.id.not_in(without))
        .order_by(ChangeRow.id.desc())
        .limit(limit)
    )
    if node.role < Role.EDITOR:
        query = query.where(ChangeRow.user_id == principal.user_id)
    found = await session.execute(query)
    return [redact_for(principal, to_change(row, email), node) for row, email in found]


async def check_etag(session: AsyncSession, actor: Actor, node: NodeView, if_match: str | None = None) -> None:
    """Raise `EtagMismatchError` unless the item still has the etag of the argument and of the call, where given."""
    etag = etag_of(node.row)
    given = [one.partition(REPLACES)[0] for one in (if_match, actor.if_match) if one is not None]
    stale = next((one for one in given if one != etag), None)
    if stale is None:
        return
    newest = await changes_of_item(session, actor.principal, node)
    raise EtagMismatchError(
        Message.of("changed_since_read", item=node.subject),
        details={
            "id": node.id,
            "etag": etag,
            "updated_at": node.row.updated_at.isoformat(),
            "changed_by": newest[0].user_email if newest else None,
            "changes": _missed_changes(newest, node.row.revision - _revision(stale)),
        },
    )


def check_replaced(recorder: Recorder) -> None:
    """Raise `EtagMismatchError` unless the items that go to the trash are those that were shown."""
    if not recorder.replaces:
        return
    recorder.etag = f"{recorder.etag}{REPLACES}{sha256(' '.join(recorder.replaces).encode()).hexdigest()[:16]}"
    shown = recorder.actor.if_match
    if shown is not None and REPLACES in shown and shown != recorder.etag:
        raise EtagMismatchError(Message.of("replaced_not_as_shown"), details={"etag": recorder.etag})


def _missed_changes(newest: Sequence[Change], missed: int) -> list[dict[str, Any]]:
    """Return the changes since the etag, one for each revision since."""
    news = newest[:missed] if missed > 0 else newest[:1]
    return [
        {
            "change_id": change.id,
            **localized(summary=change.message or change.summary),
            "by": change.user_email,
            "at": change.at.isoformat(),
        }
        for change in news
    ]


def _revision(etag: str) -> int:
    digits = etag[:64].rpartition("-")[2]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else 0


MAX_MOMENT_CHARACTERS = 40
HAS_ENTRIES = cast(ChangeRow.entries, Text) != "[]"
"""The condition for a change that changed something; others are recorded for their idempotency key only."""
ChangeKind = Literal["create", "edit", "organise", "trash", "share", "undo"]
_CHANGES = select(ChangeRow.__table__, UserRow.email).join(UserRow, UserRow.id == ChangeRow.user_id)


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """A filter of changes; None does not filter. `since` is inclusive, `until` exclusive, `by` an email.

    `actions` are those of the kind.
    """

    item: str | None = None
    run_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    tool: str | None = None
    by: str | None = None
    kind: ChangeKind | None = None
    actions: frozenset[str] = frozenset()

    def key(self) -> tuple[str | None, ...]:
        """Return the values that tell one filter from another."""
        moments = (self.since.isoformat() if self.since else None, self.until.isoformat() if self.until else None)
        return (self.item, self.run_id, *moments, self.tool, self.by, self.kind)


def find_changes(
    connection: Connection,
    principal: Principal,
    wanted: ChangeFilter,
    *,
    everybodys: bool,
    before_id: int | None,
    size: int,
) -> list[Change]:
    """Return at most `size` changes with ids below `before_id`, newest first, as the caller may see them.

    They see their own; with an item, everybody's to that item if they can edit it; and with `by` those that this person
    made to items in the caller's own tree. Administrators may ask for `everybodys`. Raises `ForbiddenError` for others.
    """
    if everybodys and not principal.is_admin:
        raise ForbiddenError(Message.of("admins_see_all"))
    node = locate_sync(connection, principal, wanted.item) if wanted.item is not None and not everybodys else None
    query = _filtered(wanted, before_id)
    if not everybodys:
        query = query.where(*_visible(principal, wanted, node))
    elif wanted.item is not None:
        query = query.where(_touches(wanted.item))
    rows = connection.execute(query.order_by(ChangeRow.id.desc()).limit(size)).all()
    if everybodys:
        return [to_change(row, row.email) for row in rows]
    return [_to_view(connection, principal, row, node) for row in rows]


def parse_moment(text: str | None) -> datetime | None:
    """Return the time that an ISO 8601 text names, in UTC where it names no zone. Raises `InvalidInputError`."""
    if text is None:
        return None
    try:
        if len(text) > MAX_MOMENT_CHARACTERS:
            raise _no_moment()
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _no_moment() from error


def _filtered(wanted: ChangeFilter, before_id: int | None) -> Select[*tuple[Any, ...]]:
    return _CHANGES.where(*_conditions(wanted), *([] if before_id is None else [ChangeRow.id < before_id]))


def _conditions(wanted: ChangeFilter) -> Iterator[ColumnElement[bool]]:
    yield HAS_ENTRIES
    if wanted.run_id is not None:
        yield ChangeRow.run_id == wanted.run_id
    if wanted.since is not None:
        yield ChangeRow.at >= wanted.since
    if wanted.until is not None:
        yield ChangeRow.at < wanted.until
    if wanted.tool is not None:
        yield ChangeRow.tool == wanted.tool
    if wanted.by is not None:
        yield UserRow.email == normalise_email(wanted.by)
    if wanted.kind is not None:
        yield ChangeRow.action.in_(wanted.actions)


def _visible(principal: Principal, wanted: ChangeFilter, node: NodeView | None) -> list[ColumnElement[bool]]:
    own = ChangeRow.user_id == principal.user_id
    if node is not None:
        # A run of somebody else is told to the owner alone: to others no question may confirm it.
        sees_all = node.role == Role.OWNER or (node.role == Role.EDITOR and wanted.run_id is None)
        return [_touches(node.id)] if sees_all else [_touches(node.id), own]
    if wanted.by is None or normalise_email(wanted.by) == principal.email:
        return [own]
    in_own_tree = (
        select(ChangeItemRow.change_id)
        .join(NodeRow, NodeRow.id == ChangeItemRow.item_id)
        .where(NodeRow.owner_id == principal.user_id)
    )
    return [ChangeRow.id.in_(in_own_tree)]


def _touches(item_id: str) -> ColumnElement[bool]:
    return ChangeRow.id.in_(select(ChangeItemRow.change_id).where(ChangeItemRow.item_id == item_id))


def _to_view(connection: Connection, principal: Principal, row: Row[Any], node: NodeView | None) -> Change:
    change = to_change(row, row.email)
    if row.user_id == principal.user_id:
        return change
    return redact_for(principal, change, node or _touched_of_own(connection, principal, row))


def _touched_of_own(connection: Connection, principal: Principal, row: Row[Any]) -> NodeView:
    """Return an item of the caller's own tree that the change touched: there is one, or the query had not found it."""
    query = (
        select(NodeRow.id)
        .join(ChangeItemRow, ChangeItemRow.item_id == NodeRow.id)
        .where(ChangeItemRow.change_id == row.id, NodeRow.owner_id == principal.user_id)
        .order_by(NodeRow.id != row.item_id, NodeRow.id)
        .limit(1)
    )
    return locate_sync(connection, principal, connection.scalars(query).one())


def _no_moment() -> InvalidInputError:
    return InvalidInputError(
        "This is no time.", hint="Write it like 2026-11-05 or 2026-11-05T14:30:00+01:00; without a zone it is UTC."
    )
