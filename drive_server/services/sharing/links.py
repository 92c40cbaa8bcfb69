"""Links: anyone with the address of one gets a role on an item, on the terms that its owner set."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Literal

from sqlalchemy import select

from drive_server.kernel.access import Actor, Principal, Role, Scope, parse_role, require_scope
from drive_server.kernel.context import public_address
from drive_server.kernel.errors import DriveError, InvalidInputError, NotFoundError, StateConflictError
from drive_server.kernel.messages import Message
from drive_server.kernel.pagination import Cursors
from drive_server.models.access import Link, Share
from drive_server.models.base import Page
from drive_server.models.changes import Outcome
from drive_server.services.files.operations import begin
from drive_server.services.sharing.service import carriers_of, inherited_path, refuse_root, shares_on
from drive_server.services.tree.items import checked_limit
from drive_server.services.tree.names import display_name
from drive_server.services.tree.nodes import NodeView, locate, locate_live, locate_many
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.people import UserRow
from drive_server.storage.tables.sharing import LinkRow

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from drive_server.kernel.sql.database import Database
    from drive_server.services.journal.recorder import Recorder
    from drive_server.services.journal.service import Journal
    from drive_server.services.sharing.link_passwords import LinkPasswords

Term = Literal["expiry", "password", "limit"]
TERMS: Final[tuple[Term, ...]] = ("expiry", "password", "limit")
PURPOSE: Final = "link"
MAX_HOURS: Final = 24 * 3650
MAX_DOWNLOADS: Final = 1_000_000
ANYONE: Final = Message.of("link_holders")


@dataclass(frozen=True, slots=True)
class LinkTerms:
    """The terms to set of a link; None leaves a term as it is. `remove` names terms that the link shall have no more.

    `max_downloads` counts all downloads since the link was made.
    """

    role: str | None = None
    expires_in_hours: int | None = None
    password: str | None = None
    max_downloads: int | None = None
    remove: frozenset[Term] = frozenset()

    def check(self) -> None:
        """Raise `InvalidInputError` for terms that no link can have."""
        if self.role is not None:
            parse_role(self.role)
        _check_number("expires_in_hours", self.expires_in_hours, MAX_HOURS)
        _check_number("max_downloads", self.max_downloads, MAX_DOWNLOADS)
        given = {"expiry": self.expires_in_hours, "password": self.password, "limit": self.max_downloads}
        if not self.remove <= given.keys() or any(given[term] is not None for term in self.remove):
            raise InvalidInputError(
                "A term of a link can be set or removed, not both.",
                hint=f"The terms to remove are: {', '.join(TERMS)}.",
            )


class LinkService:
    """Makes, changes, lists and revokes links. For owners; editors see that there are some."""

    def __init__(self, database: "Database", journal: "Journal", passwords: "LinkPasswords", public_url: str) -> None:
        self._database = database
        self._journal = journal
        self._passwords = passwords
        self._public_url = public_url

    async def create(self, actor: Actor, ref: str, terms: LinkTerms) -> Outcome[Link]:
        """Make a link to the item, for viewers unless the terms say editor.

        Raises `InvalidInputError` for the root folder, `StateConflictError` for an item in the trash.
        """
        require_scope(actor.principal, Scope.SHARE)
        terms = replace(terms, role=terms.role or Role.VIEWER.label)
        terms.check()
        password_hash = await self._hash(terms)

        async def operation(recorder: "Recorder") -> Link:
            node = await locate_live(recorder.session, actor.principal, ref, Role.OWNER)
            await begin(recorder, node)
            refuse_root(node)
            row = _new_row(recorder, node)
            _set(recorder, row, terms, password_hash)
            recorder.add(row)
            recorder.describe("create_link", item=node.subject, terms=_terms(row))
            return await _finish(recorder, node, row, gains=True)

        return await self._changed(actor, "create_link", {"ref": ref}, terms, operation)

    async def update(self, actor: Actor, ref: str, link_id: str, terms: LinkTerms) -> Outcome[Link]:
        """Set some terms of a link on the item. Raises as `revoke` does, and `InvalidInputError` for no terms."""
        require_scope(actor.principal, Scope.SHARE)
        if terms == LinkTerms():
            raise InvalidInputError(Message.of("nothing_to_change"))
        terms.check()
        password_hash = await self._hash(terms)

        async def operation(recorder: "Recorder") -> Link:
            node = await locate(recorder.session, actor.principal, ref, Role.OWNER)
            await begin(recorder, node)
            row = await _own_link(recorder.session, actor.principal, node, link_id)
            recorder.touch(row)
            before = _openness(row)
            _set(recorder, row, terms, password_hash)
            recorder.describe("update_link", item=node.subject, terms=_terms(row))
            is_looser = any(now > was for now, was in zip(_openness(row), before, strict=True))
            return await _finish(recorder, node, row, gains=is_looser)

        return await self._changed(actor, "update_link", {"ref": ref, "link": link_id}, terms, operation)

    async def revoke(self, actor: Actor, ref: str, link_id: str) -> Outcome[Link]:
        """End a link on the item; returns its last state.

        Raises `NotFoundError` for an unknown link, and `StateConflictError`, which says where it leads, for one to a
        folder above.
        """
        require_scope(actor.principal, Scope.SHARE)

        async def operation(recorder: "Recorder") -> Link:
            node = await locate(recorder.session, actor.principal, ref, Role.OWNER)
            await begin(recorder, node)
            row = await _own_link(recorder.session, actor.principal, node, link_id)
            recorder.describe("revoke_link", item=node.subject, terms=_terms(row))
            link = await _finish(recorder, node, row)
            await recorder.remove(row)
            recorder.loses_access.append(ANYONE)
            return link

        return await self._journal.change(actor, "revoke_link", {"ref": ref, "link": link_id}, operation)

    async def list_access(
        self, actor: Actor, ref: str, limit: int = 100, cursor: str | None = None
    ) -> Page[Share | Link]:
        """Return the people and links with access to the item, also inherited: people by email, links by age.

        For its owner and editors. Only an owner whose key has the scope share sees the addresses of links.
        """
        require_scope(actor.principal, Scope.READ)
        size = checked_limit(limit)
        async with self._database.read() as session:
            node = await locate(session, actor.principal, ref, Role.EDITOR)
            cursors = Cursors(self._database.signer, actor.user_id, "shares", node.id)
            after = cursors.decode(cursor, int, int, str, str) if cursor is not None else []
            people = await shares_on(session, actor.principal, node)
            links = await _links_on(session, actor.principal, node)
        tells = node.role == Role.OWNER and Scope.SHARE in actor.principal.scopes
        shown = [self._with_url(link) if tells else link for link in links]
        entries = sorted([*people, *shown], key=_order)
        rest = [entry for entry in entries if _order(entry) > after]
        more = cursors.encode(*_order(rest[size - 1])) if len(rest) > size else None
        return Page(tuple(rest[:size]), more, len(entries))

    async def _hash(self, terms: LinkTerms) -> str | None:
        return await self._passwords.hash(terms.password) if terms.password is not None else None

    async def _changed(
        self, actor: Actor, action: str, where: dict[str, str], terms: LinkTerms, operation: Any
    ) -> Outcome[Link]:
        arguments: dict[str, Any] = {
            **where,
            "role": terms.role,
            "hours": terms.expires_in_hours,
            "password": await self._password_digest(actor, terms),
            "downloads": terms.max_downloads,
            "remove": sorted(terms.remove),
        }
        outcome: Outcome[Link] = await self._journal.change(actor, action, arguments, operation)
        return outcome if actor.dry_run else replace(outcome, value=self._with_url(outcome.value))

    async def _password_digest(self, actor: Actor, terms: LinkTerms) -> str | None:
        """Return a slow digest of the password for the arguments of the call: a quick one would give it away."""
        if terms.password is None or actor.idempotency_key is None:
            return None
        return await self._passwords.digest(terms.password, f"{actor.user_id} {actor.idempotency_key}")

    def _with_url(self, link: Link) -> Link:
        token = self._database.signer.sign(PURPOSE, bytes.fromhex(link.id))
        return replace(link, url=f"{public_address(self._public_url)}/s/{token}")


def _check_number(name: str, value: int | None, most: int) -> None:
    if value is not None and not 1 <= value <= most:
        raise InvalidInputError(f"{name} must be 1 to {most}.", hint="Use a number in that range.")


def _new_row(recorder: "Recorder", node: NodeView) -> LinkRow:
    return LinkRow(
        id=new_id(), node_id=node.id, downloads=0, created_at=recorder.now, created_by=recorder.actor.user_id
    )


def _set(recorder: "Recorder", row: LinkRow, terms: LinkTerms, password_hash: str | None) -> None:
    if terms.role is not None:
        row.role = parse_role(terms.role)
    if terms.expires_in_hours is not None or "expiry" in terms.remove:
        hours = terms.expires_in_hours
        row.expires_at = recorder.now + timedelta(hours=hours) if hours is not None else None
    if password_hash is not None or "password" in terms.remove:
        row.password_hash = password_hash
    if terms.max_downloads is not None or "limit" in terms.remove:
        row.max_downloads = terms.max_downloads


def _openness(row: LinkRow) -> tuple[float, ...]:
    """Return how open the link is in each respect: more is more open."""
    return (
        row.role,
        row.expires_at.timestamp() if row.expires_at else float("inf"),
        row.max_downloads if row.max_downloads is not None else float("inf"),
        row.password_hash is None,
    )


def _terms(row: LinkRow) -> Message:
    terms = [Role(row.role).title]
    if row.expires_at:
        terms.append(Message.of("until", time=f"{row.expires_at:%Y-%m-%d %H:%M}"))
    terms.append(Message.of("with_password" if row.password_hash else "without_password"))
    if row.max_downloads is not None:
        terms.append(Message.of("downloads", count=row.max_downloads))
    return Message.joined("commas", terms)


async def _finish(recorder: "Recorder", node: NodeView, row: LinkRow, *, gains: bool = False) -> Link:
    recorder.show(node.row, node.path)
    if gains:
        recorder.gains_access.append(ANYONE)
    maker = await recorder.session.get_one(UserRow, row.created_by)
    return _to_link(row, maker.email)


async def _own_link(session: "AsyncSession", principal: Principal, node: NodeView, link_id: str) -> LinkRow:
    row = await session.get(LinkRow, link_id)
    if row is not None and row.node_id == node.id:
        return row
    raise await _not_here(session, principal, node, row)


async def _not_here(session: "AsyncSession", principal: Principal, node: NodeView, row: LinkRow | None) -> DriveError:
    if row is None or row.node_id not in node.ancestors:
        return NotFoundError(Message.of("no_link"))
    carrier = (await locate_many(session, principal, [row.node_id]))[row.node_id]
    return StateConflictError(
        Message.of("link_above", path=display_name(carrier.path)),
        details={"given_on": [{"id": carrier.id, "path": carrier.path}]},
    )


async def _links_on(session: "AsyncSession", principal: Principal, node: NodeView) -> list[Link]:
    carriers = await carriers_of(session, node)
    query = (
        select(LinkRow, UserRow.email)
        .join(UserRow, UserRow.id == LinkRow.created_by)
        .where(LinkRow.node_id.in_(carriers))
    )
    visible = await locate_many(session, principal, carriers)
    rows = (await session.execute(query)).all()
    return [_for_reader(_to_link(row, maker), node, visible.get(row.node_id)) for row, maker in rows]


def _for_reader(link: Link, node: NodeView, carrier: NodeView | None) -> Link:
    above = inherited_path(node, carrier)
    return link if above is None else replace(link, item_id=(carrier or node).id, inherited_from=above)


def _order(entry: Share | Link) -> list[Any]:
    """Return the key that sorts a list of access: people by email, links by age; given here before inherited."""
    is_inherited = int(entry.inherited_from is not None)
    if isinstance(entry, Share):
        return [0, is_inherited, entry.email, entry.id]
    return [1, is_inherited, entry.created_at.isoformat(), entry.id]


def _to_link(row: LinkRow, maker: str) -> Link:
    return Link(
        id=row.id,
        item_id=row.node_id,
        role=Role(row.role).label,
        has_password=row.password_hash is not None,
        expires_at=row.expires_at,
        max_downloads=row.max_downloads,
        downloads=row.downloads,
        created_at=row.created_at,
        created_by=maker,
    )
