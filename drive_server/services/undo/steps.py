"""How one recorded row is taken back: a node's place, name and trash, a file's content, who has access."""

from dataclasses import dataclass, field

from drive_server.access import Role
from drive_server.messages import Message
from drive_server.services.files.fingerprint import fingerprint, leaves_below
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
from drive_server.services.journal.recorder import CHANGES, TREES, Entry, Writing
from drive_server.services.tree.located import Located
from drive_server.services.tree.nodes import locate_folder
from drive_server.services.undo.access import AccessSteps
from drive_server.services.undo.context import GONE, Kept, UndoContext
from drive_server.storage.blobs import Blob
from drive_server.storage.tables import ChangeRow, NodeRow

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
