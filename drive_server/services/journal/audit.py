"""What was done: who changed what, when, with which tool and in which run, and who approved it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from sqlalchemy import ColumnElement, Connection, Row, Select, select

from drive_server.access import Principal, Role
from drive_server.errors import ForbiddenError, InvalidInputError
from drive_server.messages import Message
from drive_server.models import Change
from drive_server.services.identity.emails import normalise_email
from drive_server.services.journal.changes import as_seen_by, to_change
from drive_server.services.tree.located import Located, locate_now
from drive_server.storage.tables import ChangeItemRow, ChangeRow, NodeRow, UserRow

MAX_MOMENT_CHARACTERS = 40
ChangeKind = Literal["create", "edit", "organise", "trash", "share", "undo"]
KINDS: Final[dict[ChangeKind, frozenset[str]]] = {
    "create": frozenset({"create_folder", "create_file", "copy"}),
    "edit": frozenset({"write", "append", "patch", "restore_version"}),
    "organise": frozenset({"rename", "move", "move_many"}),
    "trash": frozenset({"trash", "restore", "delete_for_good", "empty_trash", "expire"}),
    "share": frozenset({"share", "update_share", "revoke", "create_link", "update_link", "revoke_link"}),
    "undo": frozenset({"undo", "redo"}),
}
_CHANGES = select(ChangeRow.__table__, UserRow.email).join(UserRow, UserRow.id == ChangeRow.user_id)


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """Which changes are asked for: to an item, of a run, from a time (inclusive) to a time (exclusive), with a tool,
    by a person (their email), of a kind. What is None does not matter.
    """

    item: str | None = None
    run_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    tool: str | None = None
    by: str | None = None
    kind: ChangeKind | None = None

    def key(self) -> tuple[str | None, ...]:
        """What tells one question from another."""
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
    located = locate_now(connection, principal, wanted.item) if wanted.item is not None and not everybodys else None
    query = _filtered(wanted, before_id)
    if not everybodys:
        query = query.where(*_visible(principal, wanted, located))
    elif wanted.item is not None:
        query = query.where(_touches(wanted.item))
    rows = connection.execute(query.order_by(ChangeRow.id.desc()).limit(size)).all()
    if everybodys:
        return [to_change(row, row.email) for row in rows]
    return [_seen(connection, principal, row, located) for row in rows]


def parse_moment(text: str | None) -> datetime | None:
    """Return the time that an ISO 8601 text names; a date is its first moment, and UTC holds where no zone is given.

    Raises `InvalidInputError` for anything else.
    """
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
        yield ChangeRow.action.in_(KINDS[wanted.kind])


def _visible(principal: Principal, wanted: ChangeFilter, located: Located | None) -> list[ColumnElement[bool]]:
    own = ChangeRow.user_id == principal.user_id
    if located is not None:
        # A run of somebody else is told to the owner alone: to others no question may confirm it.
        sees_all = located.role == Role.OWNER or (located.role == Role.EDITOR and wanted.run_id is None)
        return [_touches(located.id)] if sees_all else [_touches(located.id), own]
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


def _seen(connection: Connection, principal: Principal, row: Row[Any], located: Located | None) -> Change:
    change = to_change(row, row.email)
    if row.user_id == principal.user_id:
        return change
    return as_seen_by(principal, change, located or _touched_of_own(connection, principal, row))


def _touched_of_own(connection: Connection, principal: Principal, row: Row[Any]) -> Located:
    """Return an item of the caller's own tree that the change touched: there is one, or it would not be told."""
    query = (
        select(NodeRow.id)
        .join(ChangeItemRow, ChangeItemRow.item_id == NodeRow.id)
        .where(ChangeItemRow.change_id == row.id, NodeRow.owner_id == principal.user_id)
        .order_by(NodeRow.id != row.item_id, NodeRow.id)
        .limit(1)
    )
    return locate_now(connection, principal, connection.scalars(query).one())


def _no_moment() -> InvalidInputError:
    return InvalidInputError(
        "This is no time.", hint="Write it like 2026-11-05 or 2026-11-05T14:30:00+01:00; without a zone it is UTC."
    )
