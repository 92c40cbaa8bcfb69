"""Sharing with people and groups: roles by email or a group's address, on the item or on a folder above it."""

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import select

from drive_server.kernel.access import Actor, Principal, Role, Scope, parse_role, require_person, require_scope
from drive_server.kernel.errors import DriveError, InvalidInputError, NotFoundError, StateConflictError
from drive_server.kernel.messages import Message
from drive_server.kernel.pagination import Cursors
from drive_server.models.access import Share
from drive_server.models.base import Page
from drive_server.models.changes import Outcome
from drive_server.models.items import Item
from drive_server.services.files.operations import begin
from drive_server.services.sharing.leaving import LEAVE, leave, left_just_now
from drive_server.services.tree.grantees import (
    Grantee,
    find_grantee,
    granted_to,
    normalise_grantee,
    shown_grantees,
)
from drive_server.services.tree.items import checked_limit, describe_all
from drive_server.services.tree.name_order import NameOrder, rows_in_order
from drive_server.services.tree.names import display_name
from drive_server.services.tree.nodes import NodeView, locate, locate_live, locate_many
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.people import UserRow
from drive_server.storage.tables.sharing import ShareRow

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from drive_server.kernel.sql.database import Database
    from drive_server.services.journal.recorder import Recorder
    from drive_server.services.journal.service import Journal
    from drive_server.services.sharing.accounts import AccountService
    from drive_server.services.sharing.notices import NoticeService

HIDDEN_FOLDER = "a folder above that is not shared with you"
_BY_NAME = NameOrder((NodeRow.name, NodeRow.id), lambda row, name: (name, row.id))


class SharingService:
    """Gives and takes roles. A share with an email without an account waits for one, and says so to who makes it."""

    def __init__(
        self,
        database: "Database",
        journal: "Journal",
        notices: "NoticeService | None" = None,
        accounts: "AccountService | None" = None,
    ) -> None:
        self._database = database
        self._journal = journal
        self._notices = notices
        self._accounts = accounts

    async def share(self, actor: Actor, ref: str, email: str, role: str) -> Outcome[Share]:
        """Give the person the role on the item and all below it; one who has a role on it gets this one instead.

        For the owner only. Raises `InvalidInputError` for the root folder, for the owner's own email, and for an
        unknown role or a malformed email; `StateConflictError` for an item in the trash.
        """
        require_scope(actor.principal, Scope.SHARE)
        wanted, address = parse_role(role), normalise_grantee(email)

        async def operation(recorder: "Recorder") -> Share:
            node = await locate_live(recorder.session, actor.principal, ref, Role.OWNER)
            await begin(recorder, node)
            refuse_root(node)
            _refuse_owner(actor.principal, address)
            grantee = await find_grantee(recorder.session, address)
            is_new = node.id not in await _grants_to(recorder.session, node, grantee)
            share = await _give(recorder, node, grantee, wanted)
            if is_new and self._notices is not None:
                await self._notices.note(recorder, node, grantee)
            return await self._with_account(recorder, node, grantee, share) if is_new else share

        return await self._journal.change(actor, "share", {"ref": ref, "email": address, "role": role}, operation)

    async def _with_account(self, recorder: "Recorder", node: NodeView, grantee: Grantee, share: Share) -> Share:
        """Say whether the person has an account; without one they hear of nothing."""
        if self._accounts is None:
            return share
        has_account = await self._accounts.has_account(recorder.session, recorder.actor, grantee)
        if has_account is False:
            role = parse_role(share.role).title
            recorder.describe("share_waiting", item=node.subject, email=grantee.shown, role=role)
        return replace(share, has_account=has_account)

    async def update(self, actor: Actor, ref: str, email: str, role: str) -> Outcome[Share]:
        """Give a person who has a role on the item another one. Raises as `revoke` and `share` do."""
        require_scope(actor.principal, Scope.SHARE)
        wanted, address = parse_role(role), normalise_grantee(email)

        async def operation(recorder: "Recorder") -> Share:
            node = await locate(recorder.session, actor.principal, ref, Role.OWNER)
            await begin(recorder, node)
            grantee = await find_grantee(recorder.session, address)
            grants = await _grants_to(recorder.session, node, grantee)
            if node.id not in grants:
                raise await _nothing_to_take(recorder, grants, grantee)
            return await _give(recorder, node, grantee, wanted)

        return await self._journal.change(
            actor, "update_share", {"ref": ref, "email": address, "role": role}, operation
        )

    async def revoke(self, actor: Actor, ref: str, email: str) -> Outcome[Share]:
        """Take back the person's role on the item; return the share that ended. For the owner, or for one's own.

        Raises `NotFoundError` if the person has none, and `StateConflictError`, which says where the role comes from,
        if it is given on a folder above, or one's own to a group.
        """
        require_scope(actor.principal, Scope.SHARE)
        address = normalise_grantee(email)
        if address == actor.principal.email:
            return await self._leave(actor, ref)

        async def operation(recorder: "Recorder") -> Share:
            node = await locate(recorder.session, actor.principal, ref, Role.OWNER)
            await begin(recorder, node)
            return await _take(recorder, node, await find_grantee(recorder.session, address))

        return await self._journal.change(actor, "revoke", {"ref": ref, "email": address}, operation)

    async def rejoin(self, actor: Actor, name: str, since: datetime) -> int | None:
        """Return the change by which the caller just left a file of this name, for an undo; None if there is none."""
        async with self._database.read() as session:
            return await left_just_now(session, actor, name, since)

    async def _leave(self, actor: Actor, ref: str) -> Outcome[Share]:
        require_person(actor.principal)

        async def operation(recorder: "Recorder") -> Share:
            node = await locate(recorder.session, actor.principal, ref)
            await begin(recorder, node)
            own = await leave(recorder, node)
            if self._notices is not None:
                await self._notices.note_leaving(recorder, node)
            return await _share_of(recorder.session, own, Grantee(own.email, own.email))

        return await self._journal.change(actor, LEAVE, {"ref": ref}, operation)

    async def list_shares(self, actor: Actor, ref: str) -> tuple[Share, ...]:
        """Return the roles that people have on the item, given on it or inherited, for its owner and editors."""
        require_scope(actor.principal, Scope.READ)
        async with self._database.read() as session:
            node = await locate(session, actor.principal, ref, Role.EDITOR)
            return tuple(await shares_on(session, actor.principal, node))

    async def shared_with_me(self, actor: Actor, limit: int = 100, cursor: str | None = None) -> Page[Item]:
        """Return the live items that others gave the caller a role on, by name. Their contents are not listed."""
        require_scope(actor.principal, Scope.READ)
        size = checked_limit(limit)
        query = (
            select(NodeRow.id, NodeRow.name)
            .where(NodeRow.id.in_(select(ShareRow.node_id).where(granted_to(actor.principal.email))))
            .where(NodeRow.trash_id.is_(None))
        )
        cursors = Cursors(self._database.signer, actor.user_id, "shared_with_me")
        async with self._database.read() as session:
            rows, more = await session.run_sync(rows_in_order, query, _BY_NAME, size, cursors, cursor)
            visible = await locate_many(session, actor.principal, [row.id for row in rows])
            items = await describe_all(session, [visible[row.id] for row in rows if row.id in visible])
        return Page(tuple(items), more)


def refuse_root(node: NodeView) -> None:
    """Raise `InvalidInputError` for a person's root folder: items that they put there later would be shared as well."""
    if node.is_root:
        raise InvalidInputError(Message.of("share_root"))


def _refuse_owner(principal: Principal, address: str) -> None:
    if address == principal.email:
        raise InvalidInputError(Message.of("yours_already"))


async def _give(recorder: "Recorder", node: NodeView, grantee: Grantee, role: Role) -> Share:
    grants = await _grants_to(recorder.session, node, grantee)
    had = max((grant.role for grant in grants.values()), default=0)
    own = grants.pop(node.id, None)
    inherited = max((grant.role for grant in grants.values()), default=0)
    if own is None:
        own = _add(recorder, node, grantee, role)
    else:
        _change_role(recorder, node, own, grantee, role)
    recorder.show(node.row, node.path)
    if max(role, inherited) > had:
        recorder.gains_access.append(grantee.shown)
    return await _share_of(recorder.session, own, grantee)


def _add(recorder: "Recorder", node: NodeView, grantee: Grantee, role: Role) -> ShareRow:
    row = ShareRow(
        id=new_id(),
        node_id=node.id,
        email=grantee.key,
        role=role,
        created_at=recorder.now,
        created_by=recorder.actor.user_id,
    )
    recorder.describe("share", item=node.subject, email=grantee.shown, role=role.title)
    recorder.add(row)
    return row


def _change_role(recorder: "Recorder", node: NodeView, row: ShareRow, grantee: Grantee, role: Role) -> None:
    was = Role(row.role)
    if was == role:
        recorder.message = Message.of("shared_already", email=grantee.shown, role=role.title, item=node.subject)
        return
    recorder.describe("update_share", item=node.subject, email=grantee.shown, was=was.title, role=role.title)
    recorder.touch(row)
    row.role = role


async def _take(recorder: "Recorder", node: NodeView, grantee: Grantee) -> Share:
    grants = await _grants_to(recorder.session, node, grantee)
    own = grants.pop(node.id, None)
    if own is None:
        raise await _nothing_to_take(recorder, grants, grantee)
    recorder.describe("revoke", item=node.subject, email=grantee.shown, role=Role(own.role).title)
    share = await _share_of(recorder.session, own, grantee)
    await recorder.remove(own)
    recorder.show(node.row, node.path)
    if not grants:
        recorder.loses_access.append(grantee.shown)
    return share


async def _nothing_to_take(recorder: "Recorder", grants: dict[str, ShareRow], grantee: Grantee) -> DriveError:
    if not grants:
        return NotFoundError(Message.of("no_role", email=grantee.shown))
    carriers = await locate_many(recorder.session, recorder.actor.principal, grants)
    shown = [display_name(carrier.path) for carrier in carriers.values()]
    return StateConflictError(
        Message.of("role_above", email=grantee.shown, paths=", ".join(shown)),
        details={"given_on": [{"id": carrier.id, "path": carrier.path} for carrier in carriers.values()]},
    )


async def _grants_to(session: "AsyncSession", node: NodeView, grantee: Grantee) -> dict[str, ShareRow]:
    """Return the person's grants by the id of the item that carries them: this one or a folder above."""
    carriers = (node.id, *node.ancestors)
    rows = await session.scalars(select(ShareRow).where(ShareRow.node_id.in_(carriers), ShareRow.email == grantee.key))
    return {row.node_id: row for row in rows}


async def shares_on(session: "AsyncSession", principal: Principal, node: NodeView) -> list[Share]:
    """Return the roles that people have on the item, given on it or above it."""
    carriers = await carriers_of(session, node)
    query = (
        select(ShareRow, UserRow.email)
        .join(UserRow, UserRow.id == ShareRow.created_by)
        .where(ShareRow.node_id.in_(carriers))
    )
    rows = {row.id: (row, maker) for row, maker in await session.execute(query)}
    visible = await locate_many(session, principal, carriers)
    names = await shown_grantees(session, {row.email for row, _ in rows.values()})
    shares = [
        _inherited(_to_share(row, names[row.email], maker), node, visible.get(row.node_id))
        for row, maker in rows.values()
        if row.email in names
    ]
    return sorted(shares, key=lambda share: (share.inherited_from or "", share.email))


async def carriers_of(session: "AsyncSession", node: NodeView) -> list[str]:
    """Return the ids of the item and of all folders above, also of those that the caller can't see."""
    here = select(NodeRow.id, NodeRow.parent_id).where(NodeRow.id == node.id).cte("here", recursive=True)
    above = here.union(select(NodeRow.id, NodeRow.parent_id).join(here, NodeRow.id == here.c.parent_id))
    return list(await session.scalars(select(above.c.id)))


def inherited_path(node: NodeView, carrier: NodeView | None) -> str | None:
    """Return the path of the folder above that gives access to the item, None if it is given on the item itself."""
    if carrier is None:
        return HIDDEN_FOLDER
    return None if carrier.id == node.id else carrier.path


def _inherited(share: Share, node: NodeView, carrier: NodeView | None) -> Share:
    above = inherited_path(node, carrier)
    return share if above is None else replace(share, item_id=(carrier or node).id, inherited_from=above)


async def _share_of(session: "AsyncSession", row: ShareRow, grantee: Grantee) -> Share:
    maker = await session.get_one(UserRow, row.created_by)
    return _to_share(row, grantee.shown, maker.email)


def _to_share(row: ShareRow, shown: str, maker: str) -> Share:
    return Share(
        id=row.id,
        item_id=row.node_id,
        email=shown,
        role=Role(row.role).label,
        created_at=row.created_at,
        created_by=maker,
    )
