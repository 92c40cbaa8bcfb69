"""How one recorded row is taken back: a node's place, name and trash, a file's content, who has access."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Select, select

from drive_server.access import Role
from drive_server.errors import ForbiddenError, NotFoundError
from drive_server.messages import Message
from drive_server.models import Change
from drive_server.services.files.copying import fingerprint, leaves_below
from drive_server.services.files.moving import require_may_take_out
from drive_server.services.files.operations import (
    add_version,
    current_version,
    has_children,
    has_content,
    place,
    require_free_name,
    require_room_below,
    trash_tree,
    untrash_tree,
)
from drive_server.services.journal.changes import changes_of_item
from drive_server.services.journal.recorder import CHANGES, TREES, Entry, Writing
from drive_server.services.sharing.links import ANYONE
from drive_server.services.tree.nodes import Located, locate, locate_folder, whole_trees
from drive_server.storage.blobs import Blob
from drive_server.storage.tables import ChangeItemRow, ChangeRow, LinkRow, NodeRow, ShareRow, UserRow

GONE = Message.of("deleted_for_good")
DELETIONS = frozenset({"delete_for_good", "empty_trash", "expire"})


class Kept(Exception):  # noqa: N818 - it is no error: this entry stays as it is, and why
    """Raised by a step that leaves a row as it is, for this reason."""

    def __init__(self, reason: Message) -> None:
        super().__init__(reason.en)
        self.reason = reason


@dataclass(slots=True)
class UndoContext:
    """The change that the undo makes, and the ids of the changes that it takes back."""

    writing: Writing
    own: set[int] = field(default_factory=set[int])

    async def locate(self, item_id: str, needed: Role = Role.EDITOR) -> Located:
        """Return the item. Raises `Kept` if it is gone, or no longer the caller's to change."""
        try:
            return await locate(self.writing.session, self.writing.actor.principal, item_id, needed)
        except (NotFoundError, ForbiddenError) as error:
            is_gone = await self._was_deleted_by_caller(item_id)
            raise Kept(GONE if is_gone else Message.of("role_gone")) from error

    async def _was_deleted_by_caller(self, item_id: str) -> bool:
        """Only the owner deletes for good: nobody else is told whether an item that they lost still exists."""
        query = (
            select(ChangeRow.id)
            .join(ChangeItemRow, ChangeItemRow.change_id == ChangeRow.id)
            .where(
                ChangeItemRow.item_id == item_id,
                ChangeRow.user_id == self.writing.actor.user_id,
                ChangeRow.action.in_(DELETIONS),
            )
            .limit(1)
        )
        return await self.writing.session.scalar(query) is not None

    async def changed_since(self, change: ChangeRow, located: Located) -> Kept:
        """Return the reason for leaving an item that somebody changed after the change: who, and when."""
        found = await changes_of_item(
            self.writing.session, self.writing.actor.principal, located, after_id=change.id, without=self.own, limit=1
        )
        return _changed_by(found[0] if found else None)

    async def changed_within(self, change: ChangeRow, top: NodeRow) -> Kept:
        """Return the reason for leaving a tree in which somebody changed one of the items that the change made.

        What left the tree may be where the caller sees nothing: of that they are told no more than that it left.
        """
        session, later = self.writing.session, self._changes_of_made(change)
        inside = whole_trees(select(NodeRow.id).where(NodeRow.id == top.id))
        seen = (await session.execute(later.where(ChangeItemRow.item_id.in_(select(inside.c.id))))).first()
        if seen:
            return Kept(Message.of("changed_inside_by", email=seen.email, time=f"{seen.at:%Y-%m-%d %H:%M}"))
        if (await session.execute(later)).first():
            return Kept(Message.of("part_left"))
        return Kept(Message.of("holds_more"))

    def _changes_of_made(self, change: ChangeRow) -> Select[str, datetime]:
        """Return a query for who last changed an item that the change made, and when."""
        made = select(ChangeItemRow.item_id).where(ChangeItemRow.change_id == change.id)
        return (
            select(UserRow.email, ChangeRow.at)
            .join(ChangeRow, ChangeRow.user_id == UserRow.id)
            .join(ChangeItemRow, ChangeItemRow.change_id == ChangeRow.id)
            .where(ChangeItemRow.item_id.in_(made), ChangeRow.id > change.id, ChangeRow.id.not_in(self.own))
            .order_by(ChangeRow.id.desc())
            .limit(1)
        )

    def show(self, located: Located, what: Message) -> None:
        """Name the item in the effect, with what happens to it."""
        self.writing.show(located.row, located.path, what)


def _changed_by(later: Change | None) -> Kept:
    if later is None:
        return Kept(Message.of("changed_since"))
    return Kept(Message.of("changed_by", email=later.user_email, time=f"{later.at:%Y-%m-%d %H:%M}"))


LINK_TERMS = ("role", "password_hash", "expires_at", "max_downloads")


@dataclass(frozen=True, slots=True)
class AccessSteps:
    """The steps of one undo that give and take access. Only the owner of an item may."""

    context: UndoContext

    async def share(self, change: ChangeRow, entry: Entry) -> bool:
        """Take back that a role was given, changed or taken away."""
        before, after = entry["before"], entry["after"]
        given = after or before
        located = await self.context.locate(given["node_id"], Role.OWNER)
        query = select(ShareRow).where(ShareRow.node_id == given["node_id"], ShareRow.email == given["email"])
        row = (await self.context.writing.session.execute(query)).scalar_one_or_none()
        if (row.role if row else None) != (after["role"] if after else None):
            raise await self.context.changed_since(change, located)
        await self._put_back_share(located, entry["id"], row, before, given["email"])
        return True

    async def link(self, change: ChangeRow, entry: Entry) -> bool:
        """Take back that a link was made, changed or revoked. How often it was used is no change."""
        before, after = entry["before"], entry["after"]
        located = await self.context.locate((after or before)["node_id"], Role.OWNER)
        row = await self.context.writing.session.get(LinkRow, entry["id"])
        if _terms_of(row, after) != _terms(after):
            raise await self.context.changed_since(change, located)
        await self._put_back_link(located, entry["id"], row, before)
        return True

    async def _put_back_share(
        self, located: Located, share_id: str, row: ShareRow | None, before: Entry | None, email: str
    ) -> None:
        writing = self.context.writing
        if row and before:
            writing.touch(row)
            row.role = before["role"]
            self.context.show(located, Message.of("role_given_back", email=email))
        elif row:
            await writing.remove(row)
            writing.loses_access.append(email)
            self.context.show(located, Message.of("no_longer_shared", email=email))
        elif before:
            again = {"node_id": located.id, "email": email, "role": before["role"], "created_by": before["created_by"]}
            writing.add(ShareRow(id=share_id, created_at=writing.now, **again))
            writing.gains_access.append(email)
            self.context.show(located, Message.of("shared_again", email=email))
        await writing.session.flush()

    async def _put_back_link(self, located: Located, link_id: str, row: LinkRow | None, before: Entry | None) -> None:
        writing = self.context.writing
        if row and before:
            writing.touch(row)
            for term, value in _terms(before).items():
                setattr(row, term, value)
            self.context.show(located, Message.of("link_terms_back"))
        elif row:
            await writing.remove(row)
            writing.loses_access.append(ANYONE)
            self.context.show(located, Message.of("link_closed"))
        elif before:
            again = LinkRow(id=link_id, **{key: _value(key, value) for key, value in before.items() if key != "id"})
            if again.expires_at and again.expires_at <= writing.now:
                raise Kept(Message.of("link_expired"))
            writing.add(again)
            writing.gains_access.append(ANYONE)
            self.context.show(located, Message.of("link_open_again"))
        await writing.session.flush()


def _terms(entry: Entry | None) -> dict[str, Any]:
    """Return the terms that the entry tells of: all of a link that was made, the ones that changed of another."""
    return {term: _value(term, entry[term]) for term in LINK_TERMS if term in entry} if entry else {}


def _terms_of(row: LinkRow | None, entry: Entry | None) -> dict[str, Any] | None:
    """Return the link's terms of now, as far as the entry tells of them; None if one of the two is not there."""
    if row is None or entry is None:
        return {} if row is None and entry is None else None
    return {term: getattr(row, term) for term in _terms(entry)}


def _value(key: str, value: Any) -> Any:
    return datetime.fromisoformat(value) if key.endswith("_at") and value is not None else value


PLACE_FIELDS = ("parent_id", "name", "trash_id")


@dataclass(slots=True)
class Steps:
    """The steps of one undo. Contents are gathered and written once per file at the end, by `finish`."""

    context: UndoContext
    contents: dict[str, tuple[Blob, str]] = field(default_factory=dict[str, tuple[Blob, str]])

    @property
    def writing(self) -> Writing:
        """The change that the undo makes."""
        return self.context.writing

    async def take_back(self, change: ChangeRow, entry: Entry) -> bool:
        """Take back one entry; False if it needs nothing. Raises `Kept` if it has to stay."""
        if entry["table"] in {CHANGES, TREES}:  # taken back with the change, or with the top of the tree
            return False
        access = AccessSteps(self.context)
        handlers = {"nodes": self._node, "versions": self._content, "shares": access.share, "links": access.link}
        handler = handlers.get(entry["table"])
        if handler is None:
            raise Kept(Message.of("not_reversible"))
        return await handler(change, entry)

    async def finish(self) -> None:
        """Write the contents that files go back to, each as a new version: history is never deleted."""
        for node_id, (blob, media_type) in self.contents.items():
            located = await self.context.locate(node_id)
            current = await current_version(self.writing.session, located.row)
            if current and current.blob == blob.hash:
                continue
            self.writing.touch(located.row)
            await add_version(self.writing, located.row, blob, media_type)
            self.context.show(located, Message.of("back_to_content"))

    async def _node(self, change: ChangeRow, entry: Entry) -> bool:
        before, after = entry["before"], entry["after"]
        if after is None:
            raise Kept(GONE)
        if before is None:
            await self._creation(change, await self.context.locate(entry["id"]), after)
            return True
        fields = [name for name in PLACE_FIELDS if name in before]
        if not fields:
            return False
        located = await self.context.locate(entry["id"])
        went_to_trash = located.row.trash_id is not None and "trash_id" not in fields
        if went_to_trash or any(getattr(located.row, name) != after[name] for name in fields):
            raise await self.context.changed_since(change, located)
        await self._put_back(located, {name: before[name] for name in fields})
        return True

    async def _creation(self, change: ChangeRow, located: Located, after: Entry) -> None:
        row = located.row
        if row.trash_id:
            raise Kept(Message.of("in_trash_already"))
        same_place = (row.name, row.parent_id) == (after["name"], after["parent_id"])
        if not same_place or await self._blob_hash(row) != _created_blob(change, row.id):
            raise await self.context.changed_since(change, located)
        await self._require_as_made(change, row)
        await self._require_may_leave(located)
        self.writing.touch(row)
        await trash_tree(self.writing, row)
        self.context.show(located, Message.of("goes_to_trash"))

    async def _require_as_made(self, change: ChangeRow, row: NodeRow) -> None:
        """What holds something that the change did not make stays, and so does a copy that was changed."""
        trees = {entry["id"]: entry["after"] for entry in change.entries if entry["table"] == TREES}
        made = trees.get(row.id)
        if made is None:
            if row.kind == "folder" and await has_children(self.writing.session, row.id):
                raise Kept(Message.of("holds_more"))
            return
        leaves = await leaves_below(self.writing.session, row.id)
        going = {node_id: blob.hash for node_id, (blob, _) in self.contents.items()}
        if fingerprint(leaf._replace(blob=going.get(leaf.id, leaf.blob)) for leaf in leaves) != made["digest"]:
            raise await self.context.changed_within(change, row)

    async def _put_back(self, located: Located, target: Entry) -> None:
        row, writing = located.row, self.writing
        parent_id, name = target.get("parent_id", row.parent_id), target.get("name", row.name)
        stays_live = target.get("trash_id", row.trash_id) is None
        if not stays_live or (row.trash_id is None and parent_id != row.parent_id):
            await self._require_may_leave(located)
        if stays_live:
            await self._require_place(row, parent_id, name)
        writing.touch(row)
        # In the trash names are free: it goes there before it moves, and comes back after.
        if not stays_live:
            await trash_tree(writing, row)
        await place(writing, row, parent_id, name)
        if stays_live and "trash_id" in target:
            await untrash_tree(writing, row)
        await writing.session.flush()
        self.context.show(located, Message.of("back_in_place" if stays_live else "goes_to_trash"))

    async def _require_place(self, row: NodeRow, parent_id: str, name: str) -> None:
        session = self.writing.session
        # Who was given this item alone does not see its folder, and may take back its name all the same.
        if row.trash_id is not None or parent_id != row.parent_id:
            parent = await locate_folder(session, self.writing.actor.principal, parent_id, Role.EDITOR)
            await require_room_below(session, parent, row)
        await require_free_name(session, parent_id, name, except_id=row.id)

    async def _require_may_leave(self, located: Located) -> None:
        """A role that sufficed for the change may be gone: what takes an item out of a folder asks for it anew."""
        await require_may_take_out(self.writing.session, self.writing.actor.principal, located, "taken_out")

    async def _content(self, change: ChangeRow, entry: Entry) -> bool:
        before = entry["before"]
        if before is None:
            return False
        located = await self.context.locate(entry["id"])
        if await self._blob_hash(located.row) != entry["after"]["blob"]:
            raise await self.context.changed_since(change, located)
        if not await has_content(self.writing.session, located.id, before["blob"]):
            raise Kept(Message.of("content_pruned"))
        self.contents[located.id] = (Blob(before["blob"], before["size"]), before["media_type"])
        return True

    async def _blob_hash(self, row: NodeRow) -> str | None:
        if row.id in self.contents:
            return self.contents[row.id][0].hash
        version = await current_version(self.writing.session, row)
        return version.blob if version else None


def _created_blob(change: ChangeRow, node_id: str) -> str | None:
    contents = (entry for entry in change.entries if entry["table"] == "versions" and entry["id"] == node_id)
    return next((entry["after"]["blob"] for entry in contents), None)
