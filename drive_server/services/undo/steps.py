"""The steps of an undo, one per recorded row: place, name and trash of a node, content, access."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Select, select

from drive_server.kernel.access import Role
from drive_server.kernel.errors import ForbiddenError, NotFoundError
from drive_server.kernel.messages import Message
from drive_server.models.changes import Change
from drive_server.services.files.copying import fingerprint, leaves_below
from drive_server.services.files.moving import require_may_take_out
from drive_server.services.files.operations import (
    NewContent,
    add_version,
    content_of,
    current_version,
    find_content,
    free_name,
    has_children,
    place,
    require_free_name,
    require_room_below,
    set_modified_at,
    trash_tree,
    untrash_tree,
)
from drive_server.services.journal.changes import changes_of_item
from drive_server.services.journal.recorder import CHANGES, PASSING, TREES, Entry, Recorder
from drive_server.services.sharing.leaving import LEAVE, was_decided_since
from drive_server.services.sharing.links import ANYONE
from drive_server.services.tree.grantees import Grantee, shown_grantees
from drive_server.services.tree.nodes import SHARED_FOLDER, NodeView, locate, locate_folder, locate_many, subtrees
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.journal import ChangeItemRow, ChangeRow
from drive_server.storage.tables.people import UserRow
from drive_server.storage.tables.sharing import LinkRow, ShareRow

GONE = Message.of("deleted_for_good")
DELETIONS = frozenset({"delete_for_good", "empty_trash", "expire"})


class StepSkipped(Exception):  # noqa: N818 - it is no error: this entry stays as it is, and why
    """Raised by a step that leaves a row as it is, for this reason."""

    def __init__(self, reason: Message) -> None:
        super().__init__(reason.en)
        self.reason = reason


@dataclass(slots=True)
class UndoContext:
    """The change that the undo makes, and the ids of the changes that it takes back."""

    recorder: Recorder
    own: set[int] = field(default_factory=set[int])

    async def locate(self, item_id: str, needed: Role = Role.EDITOR) -> NodeView:
        """Return the item. Raises `StepSkipped` if it is gone, or no longer the caller's to change."""
        try:
            return await locate(self.recorder.session, self.recorder.actor.principal, item_id, needed)
        except (NotFoundError, ForbiddenError) as error:
            is_gone = await self._was_deleted_by_caller(item_id)
            raise StepSkipped(GONE if is_gone else Message.of("role_gone")) from error

    async def _was_deleted_by_caller(self, item_id: str) -> bool:
        """Return whether the caller deleted it for good: nobody else may learn whether it still exists."""
        query = (
            select(ChangeRow.id)
            .join(ChangeItemRow, ChangeItemRow.change_id == ChangeRow.id)
            .where(
                ChangeItemRow.item_id == item_id,
                ChangeRow.user_id == self.recorder.actor.user_id,
                ChangeRow.action.in_(DELETIONS),
            )
            .limit(1)
        )
        return await self.recorder.session.scalar(query) is not None

    async def changed_since(self, change: ChangeRow, node: NodeView) -> StepSkipped:
        """Return the reason for leaving an item that somebody changed after the change: who, and when."""
        found = await changes_of_item(
            self.recorder.session, self.recorder.actor.principal, node, after_id=change.id, without=self.own, limit=1
        )
        return _changed_by(found[0] if found else None)

    async def changed_within(self, change: ChangeRow, top: NodeRow) -> StepSkipped:
        """Return the reason for leaving a tree in which somebody changed one of the items that the change made."""
        session, later = self.recorder.session, self._changes_of_made(change)
        inside = subtrees(select(NodeRow.id).where(NodeRow.id == top.id))
        last = (await session.execute(later.where(ChangeItemRow.item_id.in_(select(inside.c.id))))).first()
        if last:
            return StepSkipped(Message.of("changed_inside_by", email=last.email, time=f"{last.at:%Y-%m-%d %H:%M}"))
        if (await session.execute(later)).first():
            return StepSkipped(Message.of("part_left"))
        return StepSkipped(Message.of("holds_more"))

    def _changes_of_made(self, change: ChangeRow) -> Select[str, datetime]:
        """Return a query for who last changed an item that the change made, and when."""
        created_ids = select(ChangeItemRow.item_id).where(ChangeItemRow.change_id == change.id)
        return (
            select(UserRow.email, ChangeRow.at)
            .join(ChangeRow, ChangeRow.user_id == UserRow.id)
            .join(ChangeItemRow, ChangeItemRow.change_id == ChangeRow.id)
            .where(ChangeItemRow.item_id.in_(created_ids), ChangeRow.id > change.id, ChangeRow.id.not_in(self.own))
            .order_by(ChangeRow.id.desc())
            .limit(1)
        )

    def show(self, node: NodeView, what: Message) -> None:
        """Name the item in the effect, with its change."""
        self.recorder.show(node.row, node.path, what)


def _changed_by(later: Change | None) -> StepSkipped:
    if later is None:
        return StepSkipped(Message.of("changed_since"))
    return StepSkipped(Message.of("changed_by", email=later.user_email, time=f"{later.at:%Y-%m-%d %H:%M}"))


LINK_TERMS = ("role", "password_hash", "expires_at", "max_downloads")


@dataclass(frozen=True, slots=True)
class AccessSteps:
    """The steps of one undo that give and take access. Only the owner of an item may."""

    context: UndoContext

    async def share(self, change: ChangeRow, entry: Entry) -> bool:
        """Take back that a role was given, changed or taken away."""
        before, after = entry["before"], entry["after"]
        given = after or before
        own = await self._own_share(change, entry)
        node = own or await self.context.locate(given["node_id"], Role.OWNER)
        shown = await shown_grantees(self.context.recorder.session, [given["email"]])
        if given["email"] not in shown:
            raise StepSkipped(Message.of("group_gone"))
        query = select(ShareRow).where(ShareRow.node_id == given["node_id"], ShareRow.email == given["email"])
        row = (await self.context.recorder.session.execute(query)).scalar_one_or_none()
        if (row.role if row else None) != (after["role"] if after else None):
            raise await self.context.changed_since(change, node)
        if own is not None and await was_decided_since(self.context.recorder.session, change, own.id, given["email"]):
            raise StepSkipped(Message.of("changed_since"))
        grantee = Grantee(given["email"], shown[given["email"]])
        await self._put_back_share(node, entry["id"], row, before, grantee)
        return True

    async def _own_share(self, change: ChangeRow, entry: Entry) -> NodeView | None:
        """Return the item of a share that the caller left or got back by an undo; None if only owners may."""
        recorder, given = self.context.recorder, entry["after"] or entry["before"]
        principal = recorder.actor.principal
        if given["email"] != principal.email or change.action not in {LEAVE, "undo", "redo"}:
            return None
        row = await recorder.session.get(NodeRow, given["node_id"])
        if row is None or row.owner_id == principal.user_id:
            return None
        seen = await locate_many(recorder.session, principal, [row.id])
        return seen.get(row.id) or NodeView(row, Role(given["role"]), f"/{SHARED_FOLDER}/{row.name}", (), shared=True)

    async def link(self, change: ChangeRow, entry: Entry) -> bool:
        """Take back that a link was made, changed or revoked. How often it was used is no change."""
        before, after = entry["before"], entry["after"]
        node = await self.context.locate((after or before)["node_id"], Role.OWNER)
        row = await self.context.recorder.session.get(LinkRow, entry["id"])
        if _terms_of(row, after) != _terms(after):
            raise await self.context.changed_since(change, node)
        await self._put_back_link(node, entry["id"], row, before)
        return True

    async def _put_back_share(
        self, node: NodeView, share_id: str, row: ShareRow | None, before: Entry | None, grantee: Grantee
    ) -> None:
        recorder = self.context.recorder
        if row and before:
            recorder.touch(row)
            row.role = before["role"]
            self.context.show(node, Message.of("role_given_back", email=grantee.shown))
        elif row:
            await recorder.remove(row)
            recorder.loses_access.append(grantee.shown)
            self.context.show(node, Message.of("no_longer_shared", email=grantee.shown))
        elif before:
            again = {"node_id": node.id, "role": before["role"], "created_by": before["created_by"]}
            recorder.add(ShareRow(id=share_id, email=grantee.key, created_at=recorder.now, **again))
            recorder.gains_access.append(grantee.shown)
            self.context.show(node, Message.of("shared_again", email=grantee.shown))
        await recorder.session.flush()

    async def _put_back_link(self, node: NodeView, link_id: str, row: LinkRow | None, before: Entry | None) -> None:
        recorder = self.context.recorder
        if row and before:
            recorder.touch(row)
            for term, value in _terms(before).items():
                setattr(row, term, value)
            self.context.show(node, Message.of("link_terms_back"))
        elif row:
            await recorder.remove(row)
            recorder.loses_access.append(ANYONE)
            self.context.show(node, Message.of("link_closed"))
        elif before:
            again = LinkRow(id=link_id, **{key: _value(key, value) for key, value in before.items() if key != "id"})
            if again.expires_at and again.expires_at <= recorder.now:
                raise StepSkipped(Message.of("link_expired"))
            recorder.add(again)
            recorder.gains_access.append(ANYONE)
            self.context.show(node, Message.of("link_open_again"))
        await recorder.session.flush()


def _terms(entry: Entry | None) -> dict[str, Any]:
    """Return the terms in the entry: all for a link that was made, else those that changed."""
    return {term: _value(term, entry[term]) for term in LINK_TERMS if term in entry} if entry else {}


def _terms_of(row: LinkRow | None, entry: Entry | None) -> dict[str, Any] | None:
    """Return the link's present terms, those in the entry only; None if one of the two is missing."""
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
    contents: dict[str, NewContent] = field(default_factory=dict[str, NewContent])

    @property
    def recorder(self) -> Recorder:
        """The change that the undo makes."""
        return self.context.recorder

    async def take_back(self, change: ChangeRow, entry: Entry) -> bool:
        """Take back one entry; False if it needs nothing. Raises `StepSkipped` if it has to stay."""
        if entry["table"] in {CHANGES, PASSING, TREES}:  # taken back with the change or the top of the tree, or never
            return False
        access = AccessSteps(self.context)
        handlers = {"nodes": self._node, "versions": self._content, "shares": access.share, "links": access.link}
        handler = handlers.get(entry["table"])
        if handler is None:
            raise StepSkipped(Message.of("not_reversible"))
        return await handler(change, entry)

    async def return_item(self, entry: Entry) -> None:
        """Put an item that can't go all the way back where it was before `entry`, its first step back, was taken back.

        If its place is taken by now, its name gets a number.
        """
        row, recorder = (await self.context.locate(entry["id"])).row, self.recorder
        was = entry["after"]
        parent_id = was.get("parent_id", row.parent_id)
        recorder.touch(row)
        name = await free_name(recorder.session, parent_id, was.get("name", row.name), except_id=row.id)
        await place(recorder, row, parent_id, name)
        row.named_by = was.get("named_by", row.named_by)
        recorder.items = [shown for shown in recorder.items if shown["id"] != row.id]

    async def finish(self) -> None:
        """Write the contents that files go back to, each as a new version: history is never deleted."""
        for node_id, content in self.contents.items():
            node = await self.context.locate(node_id)
            current = await current_version(self.recorder.session, node.row)
            if current and current.blob == content.blob.hash:
                continue
            self.recorder.touch(node.row)
            await add_version(self.recorder, node.row, content)
            self.context.show(node, Message.of("back_to_content"))

    async def _node(self, change: ChangeRow, entry: Entry) -> bool:
        before, after = entry["before"], entry["after"]
        if after is None:
            raise StepSkipped(GONE)
        if before is None:
            await self._creation(change, await self.context.locate(entry["id"]), after)
            return True
        fields = [name for name in PLACE_FIELDS if name in before]
        if not fields:
            return await self._date(change, entry)
        node = await self.context.locate(entry["id"])
        went_to_trash = node.row.trash_id is not None and "trash_id" not in fields
        if went_to_trash or any(getattr(node.row, name) != after[name] for name in fields):
            raise await self.context.changed_since(change, node)
        if "named_by" in before:
            fields.append("named_by")
        await self._put_back(node, {name: before[name] for name in fields})
        return True

    async def _date(self, change: ChangeRow, entry: Entry) -> bool:
        """Take back another date of the same content; with a new content goes its own."""
        before, after = entry["before"], entry["after"]
        if "modified_at" not in before or "version" in before:
            return False
        node = await self.context.locate(entry["id"])
        if node.row.modified_at != datetime.fromisoformat(after["modified_at"]):
            raise await self.context.changed_since(change, node)
        self.recorder.touch(node.row)
        await set_modified_at(self.recorder, node.row, datetime.fromisoformat(before["modified_at"]))
        self.context.show(node, Message.of("back_to_date"))
        return True

    async def _creation(self, change: ChangeRow, node: NodeView, after: Entry) -> None:
        row = node.row
        if row.trash_id:
            raise StepSkipped(Message.of("in_trash_already"))
        same_place = (row.name, row.parent_id) == (after["name"], after["parent_id"])
        if not same_place or await self._blob_hash(row) != _created_blob(change, row.id):
            raise await self.context.changed_since(change, node)
        await self._require_as_made(change, row)
        await self._require_may_leave(node)
        self.recorder.touch(row)
        await trash_tree(self.recorder, row)
        self.context.show(node, Message.of("goes_to_trash"))

    async def _require_as_made(self, change: ChangeRow, row: NodeRow) -> None:
        """Raise `StepSkipped` for a folder that holds something else by now, and for a copy that was changed."""
        trees = {entry["id"]: entry["after"] for entry in change.entries if entry["table"] == TREES}
        created_tree = trees.get(row.id)
        if created_tree is None:
            if row.kind == "folder" and await has_children(self.recorder.session, row.id):
                raise StepSkipped(Message.of("holds_more"))
            return
        leaves = await leaves_below(self.recorder.session, row.id)
        going = {node_id: content.blob.hash for node_id, content in self.contents.items()}
        if fingerprint(leaf._replace(blob=going.get(leaf.id, leaf.blob)) for leaf in leaves) != created_tree["digest"]:
            raise await self.context.changed_within(change, row)

    async def _put_back(self, node: NodeView, target: Entry) -> None:
        row, recorder = node.row, self.recorder
        parent_id, name = target.get("parent_id", row.parent_id), target.get("name", row.name)
        stays_live = target.get("trash_id", row.trash_id) is None
        if not stays_live or (row.trash_id is None and parent_id != row.parent_id):
            await self._require_may_leave(node)
        if stays_live:
            await self._require_place(row, parent_id, name)
        recorder.touch(row)
        # In the trash names are free: it goes there before it moves, and comes back after.
        if not stays_live:
            await trash_tree(recorder, row)
        await place(recorder, row, parent_id, name)
        row.named_by = target.get("named_by", row.named_by)
        if stays_live and "trash_id" in target:
            await untrash_tree(recorder, row)
        await recorder.session.flush()
        self.context.show(node, Message.of("back_in_place" if stays_live else "goes_to_trash"))

    async def _require_place(self, row: NodeRow, parent_id: str, name: str) -> None:
        session = self.recorder.session
        # Who was given this item alone does not see its folder, and may take back its name all the same.
        if row.trash_id is not None or parent_id != row.parent_id:
            parent = await locate_folder(session, self.recorder.actor.principal, parent_id, Role.EDITOR)
            await require_room_below(session, parent, row)
        await require_free_name(session, parent_id, name, except_id=row.id)

    async def _require_may_leave(self, node: NodeView) -> None:
        """Raise unless the caller still has the role to take the item out of its folder."""
        await require_may_take_out(self.recorder.session, self.recorder.actor.principal, node, "taken_out")

    async def _content(self, change: ChangeRow, entry: Entry) -> bool:
        before = entry["before"]
        if before is None:
            return False
        node = await self.context.locate(entry["id"])
        if await self._blob_hash(node.row) != entry["after"]["blob"]:
            raise await self.context.changed_since(change, node)
        version = await find_content(self.recorder.session, node.id, before["blob"], before["number"])
        if version is None:
            raise StepSkipped(Message.of("content_pruned"))
        self.contents[node.id] = content_of(version, before["media_type"])
        return True

    async def _blob_hash(self, row: NodeRow) -> str | None:
        if row.id in self.contents:
            return self.contents[row.id].blob.hash
        version = await current_version(self.recorder.session, row)
        return version.blob if version else None


def _created_blob(change: ChangeRow, node_id: str) -> str | None:
    contents = (entry for entry in change.entries if entry["table"] == "versions" and entry["id"] == node_id)
    return next((entry["after"]["blob"] for entry in contents), None)
