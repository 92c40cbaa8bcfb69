"""How one recorded row is taken back: a node's place, name and trash, a file's content, a share."""

from dataclasses import dataclass, field

from sqlalchemy import select

from drive_server.access import Role
from drive_server.errors import ForbiddenError, NotFoundError
from drive_server.services.changes import changes_of_item
from drive_server.services.nodes import Located, descendants, locate, locate_folder
from drive_server.services.tree import (
    add_version,
    current_version,
    place,
    require_free_name,
    require_room_below,
    trash_tree,
    untrash_tree,
)
from drive_server.services.writing import Entry, Writing
from drive_server.storage.blobs import Blob
from drive_server.storage.tables import ChangeRow, NodeRow, ShareRow

PLACE_FIELDS = ("parent_id", "name", "trash_id")


class Kept(Exception):  # noqa: N818 - it is no error: this entry stays as it is, and why
    """Raised by a step that leaves a row as it is; its text is the reason, for a person."""


@dataclass(slots=True)
class Steps:
    """The steps of one undo. Contents are gathered and written once per file at the end, by `finish`."""

    writing: Writing
    contents: dict[str, tuple[Blob, str]] = field(default_factory=dict[str, tuple[Blob, str]])

    async def take_back(self, change: ChangeRow, entry: Entry) -> bool:
        """Take back one entry; False if it needs nothing. Raises `Kept` if it has to stay."""
        handlers = {"nodes": self._node, "versions": self._content, "shares": self._share}
        handler = handlers.get(entry["table"])
        if handler is None:
            raise Kept("this kind of change can't be taken back")
        return await handler(change, entry)

    async def finish(self) -> None:
        """Write the contents that files go back to, each as a new version: history is never deleted."""
        for node_id, (blob, media_type) in self.contents.items():
            located = await self._locate(node_id)
            current = await current_version(self.writing.session, located.row)
            if current and current.blob == blob.hash:
                continue
            self.writing.touch(located.row)
            await add_version(self.writing, located.row, blob, media_type)
            self._show(located, "goes back to its earlier content")

    async def _node(self, change: ChangeRow, entry: Entry) -> bool:
        before, after = entry["before"], entry["after"]
        if before is None:
            await self._creation(change, await self._locate(entry["id"]), after)
            return True
        fields = [name for name in PLACE_FIELDS if name in before]
        if not fields:
            return False
        located = await self._locate(entry["id"])
        if any(getattr(located.row, name) != after[name] for name in fields):
            raise await self._changed_since(change, located)
        await self._put_back(located, {name: before[name] for name in fields})
        return True

    async def _creation(self, change: ChangeRow, located: Located, after: Entry) -> None:
        row = located.row
        if row.trash_id:
            raise Kept("it is in the trash already")
        same_place = (row.name, row.parent_id) == (after["name"], after["parent_id"])
        if not same_place or await self._blob_hash(row) != _created_blob(change, row.id):
            raise await self._changed_since(change, located)
        below = descendants(row.id)
        if await self.writing.session.scalar(select(below.c.id).limit(1)):
            raise Kept("it holds items that were put there since")
        self.writing.touch(row)
        await trash_tree(self.writing, row)
        self._show(located, "goes to the trash")

    async def _put_back(self, located: Located, target: Entry) -> None:
        row, writing = located.row, self.writing
        parent_id, name = target.get("parent_id", row.parent_id), target.get("name", row.name)
        stays_live = target.get("trash_id", row.trash_id) is None
        if stays_live:
            await self._require_place(row, parent_id, name)
        writing.touch(row)
        if not stays_live:
            await trash_tree(writing, row)
        elif "trash_id" in target:
            await untrash_tree(writing, row)
        await place(writing, row, parent_id, name)
        await writing.session.flush()
        self._show(located, "goes to the trash" if not stays_live else "goes back to its earlier place and name")

    async def _require_place(self, row: NodeRow, parent_id: str, name: str) -> None:
        session = self.writing.session
        parent = await locate_folder(session, self.writing.actor.principal, parent_id, Role.EDITOR)
        await require_room_below(session, parent, row)
        await require_free_name(session, parent.id, name, except_id=row.id)

    async def _content(self, change: ChangeRow, entry: Entry) -> bool:
        before = entry["before"]
        if before is None:
            return False
        located = await self._locate(entry["id"])
        if await self._blob_hash(located.row) != entry["after"]["blob"]:
            raise await self._changed_since(change, located)
        self.contents[located.id] = (Blob(before["blob"], before["size"]), before["media_type"])
        return True

    async def _share(self, change: ChangeRow, entry: Entry) -> bool:
        before, after = entry["before"], entry["after"]
        given = after or before
        located = await self._locate(given["node_id"], Role.OWNER)
        query = select(ShareRow).where(ShareRow.node_id == given["node_id"], ShareRow.email == given["email"])
        row = (await self.writing.session.execute(query)).scalar_one_or_none()
        if (row.role if row else None) != (after["role"] if after else None):
            raise await self._changed_since(change, located)
        await self._put_back_share(located, entry["id"], row, before, given["email"])
        return True

    async def _put_back_share(
        self, located: Located, share_id: str, row: ShareRow | None, before: Entry | None, email: str
    ) -> None:
        writing = self.writing
        if row and before:
            writing.touch(row)
            row.role = before["role"]
            self._show(located, f"gives {email} the earlier role again")
        elif row:
            await writing.remove(row)
            writing.loses_access.append(email)
            self._show(located, f"is no longer shared with {email}")
        elif before:
            again = {"node_id": located.id, "email": email, "role": before["role"], "created_by": before["created_by"]}
            writing.add(ShareRow(id=share_id, created_at=writing.now, **again))
            writing.gains_access.append(email)
            self._show(located, f"is shared with {email} again")
        await writing.session.flush()

    async def _locate(self, item_id: str, needed: Role = Role.EDITOR) -> Located:
        try:
            return await locate(self.writing.session, self.writing.actor.principal, item_id, needed)
        except (NotFoundError, ForbiddenError) as error:
            raise Kept("your role on it no longer allows this") from error

    async def _blob_hash(self, row: NodeRow) -> str | None:
        if row.id in self.contents:
            return self.contents[row.id][0].hash
        version = await current_version(self.writing.session, row)
        return version.blob if version else None

    async def _changed_since(self, change: ChangeRow, located: Located) -> Kept:
        principal = self.writing.actor.principal
        later = await changes_of_item(self.writing.session, principal, located, after_id=change.id, limit=1)
        if not later:
            return Kept("it was changed since")
        return Kept(f"changed since by {later[0].user_email} at {later[0].at:%Y-%m-%d %H:%M} UTC")

    def _show(self, located: Located, what: str) -> None:
        self.writing.show(located.row, located.path, what)


def _created_blob(change: ChangeRow, node_id: str) -> str | None:
    contents = (entry for entry in change.entries if entry["table"] == "versions" and entry["id"] == node_id)
    return next((entry["after"]["blob"] for entry in contents), None)
