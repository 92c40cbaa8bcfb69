"""The end of a share by the person who has it; and whether they may have it back."""

from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Principal, Role
from drive_server.kernel.errors import DriveError, InvalidInputError, NotFoundError, StateConflictError
from drive_server.kernel.messages import Message
from drive_server.services.journal.recorder import Recorder
from drive_server.services.tree.grantees import granted_to, is_group, shown_grantees
from drive_server.services.tree.names import display_name
from drive_server.services.tree.nodes import NodeView, locate_many
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.journal import ChangeItemRow, ChangeRow
from drive_server.storage.tables.sharing import ShareRow

LEAVE: Final = "leave"


async def leave(recorder: Recorder, node: NodeView) -> ShareRow:
    """End the caller's own share of the item, and return it as it was.

    Raises `InvalidInputError` for the owner, and `StateConflictError`, which says where it comes from, for access by a
    group or a folder above.
    """
    session, principal = recorder.session, recorder.actor.principal
    if node.role == Role.OWNER:
        raise InvalidInputError(Message.of("owner_stays", item=node.subject))
    grants = await _grants_of(session, principal, node)
    own = next((row for row in grants if row.node_id == node.id and row.email == principal.email), None)
    if own is None:
        raise await _elsewhere(session, principal, node, grants)
    recorder.describe(LEAVE, item=node.subject, role=Role(own.role).title)
    recorder.show(node.row, node.path)
    await recorder.remove(own)
    if len(grants) == 1:
        recorder.loses_access.append(principal.email)
    return own


async def was_decided_since(session: AsyncSession, change: ChangeRow, node_id: str, email: str) -> bool:
    """Return whether somebody else gave, changed or took the person's share after the change."""
    later = (
        select(ChangeRow.entries)
        .join(ChangeItemRow, ChangeItemRow.change_id == ChangeRow.id)
        .where(ChangeItemRow.item_id == node_id, ChangeRow.id > change.id, ChangeRow.user_id != change.user_id)
    )
    entries = [entry for found in await session.scalars(later) for entry in found if entry["table"] == "shares"]
    shares = [entry["after"] or entry["before"] for entry in entries]
    return any((share["node_id"], share["email"]) == (node_id, email) for share in shares)


async def left_just_now(session: AsyncSession, actor: Actor, name: str, since: datetime) -> int | None:
    """Return the change by which the caller last left an item of this name, if that was since then and still holds."""
    query = (
        select(ChangeRow.id)
        .join(NodeRow, NodeRow.id == ChangeRow.item_id)
        .where(ChangeRow.user_id == actor.user_id, ChangeRow.method == actor.principal.method)
        .where(ChangeRow.action == LEAVE, ChangeRow.at >= since, ChangeRow.undone_by.is_(None), NodeRow.name == name)
        .where(NodeRow.kind == "file")
        .order_by(ChangeRow.id.desc())
        .limit(1)
    )
    return await session.scalar(query)


async def _grants_of(session: AsyncSession, principal: Principal, node: NodeView) -> list[ShareRow]:
    """Return the shares that give the caller access: their own and their groups', on the item or above it."""
    carriers = (node.id, *node.ancestors)
    query = select(ShareRow).where(ShareRow.node_id.in_(carriers), granted_to(principal.email))
    return [*(await session.scalars(query)).all()]


async def _elsewhere(session: AsyncSession, principal: Principal, node: NodeView, grants: list[ShareRow]) -> DriveError:
    """Return the error that says where the caller's access comes from: their own folders and groups only."""
    above = [row.node_id for row in grants if not is_group(row.email)]
    if above:
        carriers = await locate_many(session, principal, above)
        paths = [display_name(carrier.path) for carrier in carriers.values()]
        given_on = [{"id": carrier.id, "path": carrier.path} for carrier in carriers.values()]
        return StateConflictError(
            Message.of("access_from_above", item=node.subject, paths=", ".join(paths)), details={"given_on": given_on}
        )
    groups = await shown_grantees(session, {row.email for row in grants})
    if not groups:
        return NotFoundError(Message.of("no_role", email=principal.email))
    names = [shown.partition(":")[2] for shown in sorted(groups.values())]
    return StateConflictError(Message.of("access_by_group", item=node.subject, groups=", ".join(names)))
