"""Items of an export come into a drive: with their versions, times, access and place in the trash, each once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Role, Scope, parse_role, require_person, require_scope
from drive_server.kernel.errors import DriveError, ForbiddenError, InvalidInputError, StateConflictError
from drive_server.kernel.escaping.characters import is_noncharacter
from drive_server.kernel.messages import Message, localized
from drive_server.knowledge.media_types import media_type_of
from drive_server.models.changes import Outcome
from drive_server.models.items import RestoredItem, RestoredItems
from drive_server.services.exports.contents import ImportedContents
from drive_server.services.exports.inventory import held_contents
from drive_server.services.exports.records import ExportedLink, ExportedShare, ImportedItem, ImportedVersion
from drive_server.services.files.operations import free_name, mark_pending
from drive_server.services.journal.recorder import ContentChange, Recorder
from drive_server.services.journal.service import Journal
from drive_server.services.quota import hold_all
from drive_server.services.tree.ancestors import MAX_DEPTH
from drive_server.services.tree.grantees import find_grantee, normalise_grantee
from drive_server.services.tree.names import clean_name
from drive_server.services.tree.nodes import NodeView, item_message, locate_folder
from drive_server.storage.blobs import Blob
from drive_server.storage.tables.items import NodeRow, StarRow, VersionRow
from drive_server.storage.tables.sharing import LinkRow, ShareRow

MAX_ITEMS: Final = 200
ACTION: Final = "import_items"


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """Some items of the export `export_id`, for the folder `into` of the caller's own drive."""

    export_id: str
    into: str
    items: Sequence[ImportedItem]


class ImportService:
    """Restores items, up to 200 as one change that can be undone: all of them or, if one can't be, none.

    An item's id is made of its id in the export, the folder and the person: an item that is there already is left as it
    is, however often and in whichever parts an export is imported. The caller owns and is the author of all.
    """

    def __init__(self, journal: Journal, contents: ImportedContents) -> None:
        self._journal = journal
        self._contents = contents
        journal.register(ACTION, "create")

    async def restore(self, actor: Actor, wanted: ImportRequest) -> Outcome[RestoredItems]:
        """Restore the items, under another name where theirs is taken.

        Restores an item without shares or links that no longer resolve, and lists them. Raises
        `StateConflictError` for a content that was not stored before, and for a folder that was not imported before.
        """
        require_person(actor.principal)
        require_scope(actor.principal, Scope.WRITE)
        if any(item.shares or item.links for item in wanted.items):
            require_scope(actor.principal, Scope.SHARE)

        async def operation(recorder: Recorder) -> RestoredItems:
            into = await locate_folder(recorder.session, actor.principal, wanted.into, Role.EDITOR)
            if into.role != Role.OWNER:
                raise ForbiddenError(Message.of("import_own_drive"))
            await self._require_contents(recorder, wanted.items)
            batch = _Batch(recorder, wanted.export_id, into)
            items = [await batch.restore(item) for item in wanted.items]
            recorder.count = sum(item.is_new for item in items)
            recorder.item_id = into.id
            recorder.describe(ACTION, count=recorder.count, folder=into.subject)
            return RestoredItems(items=tuple(items), left=tuple(batch.left))

        items = [_argument(item) for item in wanted.items]
        arguments = {"export": wanted.export_id, "into": wanted.into, "items": items}
        return await self._journal.change(actor, ACTION, arguments, operation)

    async def _require_contents(self, recorder: Recorder, items: Sequence[ImportedItem]) -> None:
        """Raise `StateConflictError` unless the caller has, or has just stored, all contents of the items."""
        actor = recorder.actor
        versions = [(item, version) for item in items for version in item.versions]
        there = await held_contents(recorder.session, actor.user_id, (version.sha256 for _, version in versions))
        proven = set(there.items()) | {
            (version.sha256, version.size)
            for _, version in versions
            if self._contents.proves(actor, version.receipt, version.sha256, version.size)
        }
        for item, version in versions:
            if (version.sha256, version.size) not in proven:
                message = Message.of("content_not_sent", item=item_message(item.name), sha256=version.sha256)
                raise StateConflictError(message, details={"sha256": version.sha256, "source_id": item.id})


@dataclass(slots=True)
class _Batch:
    """The items of one change."""

    recorder: Recorder
    export_id: str
    into: NodeView
    left: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    _depths: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def _session(self) -> AsyncSession:
        return self.recorder.session

    async def restore(self, item: ImportedItem) -> RestoredItem:
        item_id = self._id(item.id)
        existing = await self._session.get(NodeRow, item_id)
        if existing is not None:
            return RestoredItem(source_id=item.id, id=item_id, name=existing.name, is_new=False)
        parent = await self._parent(item)
        name = clean_name(_without_noncharacters(item.name))
        if item.trash_id is None:
            name = await free_name(self._session, parent.id, name)
        row = self._row(item, item_id, parent, name)
        self.recorder.add(row)
        if item.kind == "file":
            await self._add_versions(row, item)
        elif item.versions:
            raise _wrong_versions(item)
        await self._session.flush()
        await self._give_access(row, item)
        if item.starred_at is not None:
            starred = {"user_id": self.recorder.actor.user_id, "at": self._past(item.starred_at)}
            self._session.add(StarRow(node_id=row.id, **starred))
        return RestoredItem(source_id=item.id, id=row.id, name=row.name, is_new=True)

    def _id(self, source_id: str) -> str:
        named = "\0".join((self.recorder.actor.user_id, self.into.id, self.export_id, source_id))
        return sha256(named.encode()).hexdigest()[:32]

    async def _parent(self, item: ImportedItem) -> NodeRow:
        parent = self.into.row
        if item.parent_id is not None:
            found = await self._session.get(NodeRow, self._id(item.parent_id))
            if found is None or found.kind != "folder":
                raise StateConflictError(Message.of("import_parent", item=item_message(item.name)))
            parent = found
        trash_id = self._id(item.trash_id) if item.trash_id else None
        is_top = item.trash_id == item.id
        if parent.trash_id is not None and not is_top and parent.trash_id != trash_id:
            raise StateConflictError(Message.of("in_trash", item=item_message(parent.name)))
        if trash_id is not None and not is_top and parent.trash_id != trash_id:
            raise StateConflictError(Message.of("import_parent", item=item_message(item.name)))
        await self._require_depth(parent)
        return parent

    async def _require_depth(self, parent: NodeRow) -> None:
        if await self._depth(parent) >= MAX_DEPTH:
            raise StateConflictError(Message.of("too_deep", limit=MAX_DEPTH), details={"limit": MAX_DEPTH})

    async def _depth(self, row: NodeRow) -> int:
        """Return how many folders are above, each asked for once."""
        if row.id == self.into.id:
            return len(self.into.ancestors)
        if row.id not in self._depths:
            above = await self._session.get_one(NodeRow, row.parent_id)
            self._depths[row.id] = await self._depth(above) + 1
        return self._depths[row.id]

    def _row(self, item: ImportedItem, item_id: str, parent: NodeRow, name: str) -> NodeRow:
        return NodeRow(
            id=item_id,
            parent_id=parent.id,
            owner_id=parent.owner_id,
            kind=item.kind,
            name=name,
            named_by=self.recorder.actor.user_id,
            revision=1,
            version=0,
            size=0,
            media_type="",
            created_at=self._past(item.created_at),
            updated_at=self._past(item.updated_at),
            modified_at=item.modified_at or self._past(item.updated_at),
            trash_id=self._id(item.trash_id) if item.trash_id else None,
            # The days in the trash begin anew: else items long in the other trash would be deleted at once.
            trashed_at=self.recorder.now if item.trash_id else None,
        )

    async def _add_versions(self, row: NodeRow, item: ImportedItem) -> None:
        numbers = [version.number for version in item.versions]
        if not numbers or sorted(set(numbers)) != numbers:
            raise _wrong_versions(item)
        kept = item.versions[-self.recorder.limits.max_versions :]
        last = kept[-1]
        row.version, row.size, row.media_type = last.number, last.size, media_type_of(row.name, last.media_type)
        row.modified_at = last.modified_at or self._past(last.created_at)
        await self._session.flush()
        await self._session.execute(insert(VersionRow), [self._version(row, version) for version in kept])
        blobs = [Blob(version.sha256, version.size) for version in kept]
        await hold_all(self._session, row.owner_id, blobs)
        await mark_pending(self.recorder, row)
        self.recorder.contents += [ContentChange(row.name, None, blob) for blob in blobs]
        after = {"number": row.version, "blob": last.sha256, "size": last.size, "media_type": row.media_type}
        self.recorder.note("versions", row.id, None, after)

    def _version(self, row: NodeRow, version: ImportedVersion) -> dict[str, object]:
        return {
            "node_id": row.id,
            "number": version.number,
            "blob": version.sha256,
            "size": version.size,
            "media_type": media_type_of(row.name, version.media_type),
            "created_at": self._past(version.created_at),
            "modified_at": version.modified_at or self._past(version.created_at),
            "author_id": self.recorder.actor.user_id,
            "run_id": None,
        }

    async def _give_access(self, row: NodeRow, item: ImportedItem) -> None:
        for share in item.shares:
            try:
                await self._share(row, share)
            except DriveError as error:
                self._leave(item, share.email, error.reason)
        for link in item.links:
            await self._link(row, item, link)
        await self._session.flush()

    async def _share(self, row: NodeRow, share: ExportedShare) -> None:
        """Give the role again, without a notice: the person learnt of it when it was given first."""
        address, actor = normalise_grantee(share.email), self.recorder.actor
        if address == actor.principal.email:
            raise InvalidInputError(Message.of("yours_already"))
        grantee = await find_grantee(self._session, address)
        share_id = sha256(f"{row.id} {grantee.key}".encode()).hexdigest()[:32]
        if await self._session.get(ShareRow, share_id) is not None:
            raise StateConflictError(Message.of("shared_twice"))
        self.recorder.add(
            ShareRow(
                id=share_id,
                node_id=row.id,
                email=grantee.key,
                role=parse_role(share.role),
                created_at=self._past(share.created_at),
                created_by=actor.user_id,
            )
        )
        self.recorder.gains_access.append(grantee.shown)

    async def _link(self, row: NodeRow, item: ImportedItem, link: ExportedLink) -> None:
        """Make a link of these terms. One with a password would be open to more people without it: it is left."""
        link_id = sha256(f"{row.id} {link.id}".encode()).hexdigest()[:32]
        if link.has_password:
            self._leave(item, "link", Message.of("link_needs_password"))
        elif link.expires_at is not None and link.expires_at <= self.recorder.now:
            self._leave(item, "link", Message.of("link_expired"))
        elif await self._session.get(LinkRow, link_id) is not None:
            self._leave(item, "link", Message.of("shared_twice"))
        else:
            self.recorder.add(
                LinkRow(
                    id=link_id,
                    node_id=row.id,
                    role=parse_role(link.role),
                    expires_at=link.expires_at,
                    max_downloads=link.max_downloads,
                    downloads=link.downloads,
                    created_at=self._past(link.created_at),
                    created_by=self.recorder.actor.user_id,
                )
            )

    def _leave(self, item: ImportedItem, what: str, reason: Message) -> None:
        self.left.append({"source_id": item.id, "what": what, **localized(reason=reason)})

    def _past(self, moment: datetime) -> datetime:
        return min(moment, self.recorder.now)


def _without_noncharacters(name: str) -> str:
    """Return a name of an older drive, which took noncharacters, with U+FFFD in their place."""
    return "".join("\ufffd" if is_noncharacter(char) else char for char in name)


def _wrong_versions(item: ImportedItem) -> InvalidInputError:
    return InvalidInputError(Message.of("import_versions", item=item_message(item.name)))


def _argument(item: ImportedItem) -> dict[str, object]:
    """Return the item without its receipts, which differ from one try to the next."""
    shown = item.model_dump(mode="json")
    for version in shown["versions"]:
        del version["receipt"]
    return shown
