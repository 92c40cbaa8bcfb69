"""A drive as simple as it can be said: dictionaries, no database. What it refuses, the real one has to refuse."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from drive_server.services.tree.names import numbered_name
from drive_server.services.tree.nodes import SHARED_FOLDER

VIEWER, EDITOR, OWNER = 1, 2, 3
Choice = Literal["fail", "rename", "replace"]


class RefusedError(Exception):
    """The drive would not do this."""


@dataclass(slots=True)
class Node:
    """A file or folder. `trash` is the id of the item that it went to the trash with; `versions` are contents."""

    id: str
    kind: str
    name: str
    parent: str | None
    owner: str
    trash: str | None = None
    versions: list[str] = field(default_factory=list[str])
    shares: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(slots=True)
class SmallDrive:
    """All items by id. New items are made by the real drive first: their ids are taken from there."""

    quota: int
    nodes: dict[str, Node] = field(default_factory=dict[str, Node])
    stars: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    touched: dict[str, set[tuple[str, bool]]] = field(default_factory=dict[str, set[tuple[str, bool]]])
    """Who ever changed an item, and whether by WebDAV."""

    def role(self, person: str, node: Node) -> int:
        """Return the highest role on the way to the root; what is in the trash only editors see."""
        if node.owner == person:
            return OWNER
        role = max(above.shares.get(person, 0) for above in self.way(node))
        return 0 if node.trash and role < EDITOR else role

    def way(self, node: Node) -> list[Node]:
        """Return the item and all above it."""
        return [node, *(self.way(self.nodes[node.parent]) if node.parent else [])]

    def below(self, node: Node) -> list[Node]:
        """Return all below the item, from the top down, whatever state it is in."""
        children = [child for child in self.nodes.values() if child.parent == node.id]
        return [*children, *(deeper for child in children for deeper in self.below(child))]

    def live_below(self, node: Node) -> list[Node]:
        """Return what is live below a live folder."""
        return [child for child in self.below(node) if child.trash is None]

    def used(self, owner: str) -> int:
        """Return the bytes that a person keeps: each content once."""
        contents = {text for node in self.nodes.values() if node.owner == owner for text in node.versions}
        return sum(len(text.encode()) for text in contents)

    def require(self, person: str, node_id: str, role: int, *, live: bool = True, kind: str = "") -> Node:
        """Return the item if the person has the role on it, and it is as it has to be."""
        node = self.nodes[node_id]
        if self.role(person, node) < role or (live and node.trash) or (kind and node.kind != kind):
            raise RefusedError
        return node

    def child(self, folder: Node, name: str) -> Node | None:
        """Return the live item of that name."""
        children = (node for node in self.nodes.values() if node.parent == folder.id and node.trash is None)
        return next((node for node in children if node.name == name), None)

    def resolve_conflict(
        self,
        folder: Node,
        name: str,
        kind: str | None,
        choice: Choice,
        comes: Node | None = None,
        stays: tuple[Node, ...] = (),
    ) -> str:
        """Return the name that something gets in the folder; what is in its way goes to the trash if so chosen.

        Without a kind, whatever it is.
        """
        taken = self.child(folder, name)
        if taken is None or taken is comes:
            return name
        if choice == "rename":
            numbered = (numbered_name(name, number) for number in range(2, 99))
            return next(free for free in numbered if self.child(folder, free) in (None, comes))
        if choice == "fail" or kind not in (None, taken.kind) or taken in stays:
            raise RefusedError
        self.put_into_trash(taken)
        return name

    def put_into_trash(self, node: Node) -> None:
        """Trash the item with all that is live below it."""
        for gone in [node, *self.live_below(node)]:
            gone.trash = node.id

    def take_out(self, node: Node) -> None:
        """Bring back what went to the trash with the item."""
        for back in self.nodes.values():
            if back.trash == node.id:
                back.trash = None

    def require_may_take_out(self, person: str, node: Node) -> None:
        """Refuse unless the person owns the item, or may edit the folder it is in."""
        if node.parent is None:
            raise RefusedError
        if self.role(person, node) < OWNER and self.role(person, self.nodes[node.parent]) < EDITOR:
            raise RefusedError

    def require_fits(self, node: Node, folder: Node) -> None:
        """Refuse what would change the item's owner, or put it below itself."""
        if node.owner != folder.owner or node in self.way(folder):
            raise RefusedError

    def before_creation(self, person: str, parent: str, name: str, choice: Choice = "fail") -> str:
        """Return the name that a folder gets. Raises if none can be made there."""
        folder = self.require(person, parent, EDITOR, kind="folder")
        return self.resolve_conflict(folder, name, "folder", choice)

    def before_file(
        self, person: str, parent: str, name: str, text: str, choice: Choice, *, announced: bool
    ) -> tuple[str, str]:
        """Return the name that a file gets and an empty text, or the id of the file whose content was replaced.

        Of an `announced` content only the size tells whether there is room for it.
        """
        folder = self.require(person, parent, EDITOR, kind="folder")
        if announced:
            self.require_bytes(folder.owner, text)
        taken = self.child(folder, name)
        if choice == "replace" and taken is not None:
            self.write(person, taken.id, text)
            return name, taken.id
        self.require_room(folder.owner, [text])
        return self.resolve_conflict(folder, name, "file", choice), ""

    def require_bytes(self, owner: str, text: str) -> None:
        """Raise if there is no room for so many bytes, should they be new."""
        if self.used(owner) + len(text.encode()) > self.quota:
            raise RefusedError

    def require_room(self, owner: str, texts: list[str]) -> None:
        """Raise if the contents are new to the person and too much for them."""
        had = {text for node in self.nodes.values() if node.owner == owner for text in node.versions}
        added = sum(len(text.encode()) for text in set(texts) - had)
        if added and self.used(owner) + added > self.quota:
            raise RefusedError

    def add(self, node_id: str, kind: str, name: str, parent: str, text: str | None = None) -> None:
        """Take up what the real drive has made."""
        owner = self.nodes[parent].owner
        self.nodes[node_id] = Node(node_id, kind, name, parent, owner, versions=[] if text is None else [text])

    def write(self, person: str, node_id: str, text: str, *, announced: bool = False) -> None:
        """Replace a content; the same one again is no version."""
        node = self.require(person, node_id, EDITOR, kind="file")
        if announced:
            self.require_bytes(node.owner, text)
        self.require_room(node.owner, [text])
        if node.versions[-1] != text:
            node.versions.append(text)

    def restore_version(self, person: str, node_id: str, number: int) -> None:
        """Bring back a content."""
        node = self.require(person, node_id, EDITOR, kind="file")
        if number > len(node.versions):
            raise RefusedError
        if node.versions[-1] != node.versions[number - 1]:
            node.versions.append(node.versions[number - 1])

    def star(self, person: str, node_id: str, *, starred: bool) -> None:
        """Put a star on, or take it off."""
        self.require(person, node_id, VIEWER, live=starred)
        (self.stars.add if starred else self.stars.discard)((person, node_id))

    def rename(self, person: str, node_id: str, name: str, choice: Choice, *, any_kind: bool = False) -> None:
        """Give another name."""
        node = self.require(person, node_id, EDITOR)
        if node.parent is None:
            raise RefusedError
        if node.name == name:
            return
        folder = self.nodes[node.parent]
        if choice == "replace":
            self.require_may_take_out(person, node)
        kind = None if any_kind else node.kind
        node.name = self.resolve_conflict(folder, name, kind, choice, node, tuple(self.way(node)))

    def move(
        self, person: str, node_id: str, parent: str, choice: Choice, name: str | None = None, *, any_kind: bool = False
    ) -> None:
        """Put into another folder, or under another name, or both."""
        node = self.require(person, node_id, EDITOR)
        folder = self.require(person, parent, EDITOR, kind="folder")
        if name is not None and node.parent == folder.id:
            self.rename(person, node_id, name, choice, any_kind=any_kind)
            return
        self.require_may_take_out(person, node)
        if node.parent != folder.id:
            self.require_fits(node, folder)
            kind = None if any_kind else node.kind
            node.name = self.resolve_conflict(folder, name or node.name, kind, choice, node, tuple(self.way(node)))
            node.parent = folder.id

    def dav_move(self, person: str, node_id: str, parent: str, name: str, *, overwrite: bool) -> None:
        """Do as WebDAV's MOVE: what is there goes to the trash, or gets the content of a draft."""
        node, folder = self.nodes[node_id], self.nodes[parent]
        self.require_other_place(node, folder, name)
        taken = self.child(folder, name)
        if taken and overwrite and self.is_draft(person, node) and (node.parent, taken.kind) == (parent, "file"):
            self.require(person, parent, EDITOR)
            self.write(person, taken.id, node.versions[-1])
            self.put_into_trash(node)
            return
        self.move(person, node_id, parent, "replace" if overwrite else "fail", name, any_kind=True)

    def require_other_place(self, node: Node, folder: Node, name: str) -> None:
        """Refuse what leads to itself, or below itself."""
        if (node.parent, node.name) == (folder.id, name) or node in self.way(folder):
            raise RefusedError

    def is_draft(self, person: str, node: Node) -> bool:
        """Return whether the person alone made the file what it is, by WebDAV."""
        return node.kind == "file" and self.touched[node.id] == {(person, True)}

    def before_copy(
        self,
        person: str,
        node_id: str,
        parent: str,
        choice: Choice,
        name: str | None = None,
        *,
        any_kind: bool = False,
    ) -> str:
        """Return the copy's name, after its way is made."""
        node = self.require(person, node_id, VIEWER)
        folder = self.require(person, parent, EDITOR, kind="folder")
        if node.parent is None or node in self.way(folder):
            raise RefusedError
        texts = [part.versions[-1] for part in (node, *self.live_below(node)) if part.kind == "file"]
        self.require_room(folder.owner, texts)
        kind = None if any_kind else node.kind
        return self.resolve_conflict(folder, name or node.name, kind, choice, stays=tuple(self.way(node)))

    def trash(self, person: str, node_id: str) -> None:
        """Move to the trash."""
        node = self.require(person, node_id, EDITOR)
        self.require_may_take_out(person, node)
        self.put_into_trash(node)

    def restore(self, person: str, node_id: str, parent: str | None, choice: Choice) -> None:
        """Bring back from the trash."""
        node = self.require(person, node_id, EDITOR, live=False)
        if node.trash != node.id:
            raise RefusedError
        self.require_may_take_out(person, node)
        folder = self.require(person, parent or node.parent or "", EDITOR, kind="folder")
        self.require_fits(node, folder)
        node.name = self.resolve_conflict(folder, node.name, node.kind, choice, stays=tuple(self.way(node)))
        self.take_out(node)
        node.parent = folder.id

    def delete(self, person: str, node_id: str) -> None:
        """Delete for good, with all below, in whatever trash it is."""
        node = self.require(person, node_id, OWNER, live=False)
        if node.trash != node.id:
            raise RefusedError
        for gone in [node, *self.below(node)]:
            del self.nodes[gone.id]
            self.stars = {star for star in self.stars if star[1] != gone.id}

    def share(self, person: str, node_id: str, friend: str, role: int) -> None:
        """Give a role."""
        node = self.require(person, node_id, OWNER)
        if node.parent is None or friend == person:
            raise RefusedError
        node.shares[friend] = role

    def revoke(self, person: str, node_id: str, friend: str) -> None:
        """Take a role back."""
        node = self.require(person, node_id, OWNER, live=False)
        if friend not in node.shares:
            raise RefusedError
        del node.shares[friend]

    def touch(self, before: SmallDrive, person: str, *, by_dav: bool) -> bool:
        """Note who changed what differs from before. Return whether anything does."""
        changed = False
        for node in self.nodes.values():
            if node != before.nodes.get(node.id):
                changed = True
                if not _went_along(node, before.nodes.get(node.id)):
                    self.touched.setdefault(node.id, set()).add((person, by_dav))
        return changed or self.nodes.keys() != before.nodes.keys()

    def shared_with(self, person: str) -> list[Node]:
        """Return the live items that others gave the person a role on."""
        return [node for node in self.nodes.values() if person in node.shares and node.trash is None]

    def paths(self, person: str) -> dict[str, Node]:
        """Return what the person finds by WebDAV; the folder of what others share is no item, and left out."""
        own = next(node for node in self.nodes.values() if (node.owner, node.parent) == (person, None))
        found = self._paths_below("", own)
        shared = self.shared_with(person)
        names = Counter(node.name for node in shared)
        for node in shared:
            stem, _, suffix = node.name.rpartition(".")
            name = node.name if names[node.name] == 1 else f"{stem} ({node.id[:8]}).{suffix}"
            found |= {f"/{SHARED_FOLDER}/{name}": node} | self._paths_below(f"/{SHARED_FOLDER}/{name}", node)
        return found

    def _paths_below(self, path: str, node: Node) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for child in self.nodes.values():
            if child.parent == node.id and child.trash is None:
                found |= {f"{path}/{child.name}": child} | self._paths_below(f"{path}/{child.name}", child)
        return found

    def undone_to(self, before: SmallDrive) -> SmallDrive:
        """Return this drive with all as it was before: what is new since is in the trash, history only grows."""
        result = copy.deepcopy(self)
        for node in result.nodes.values():
            old = before.nodes.get(node.id)
            if old is None:
                continue
            node.name, node.parent, node.trash, node.shares = old.name, old.parent, old.trash, dict(old.shares)
            if old.versions and node.versions[-1] != old.versions[-1]:
                node.versions.append(old.versions[-1])
        for node in [node for node in result.nodes.values() if node.id not in before.nodes and node.trash is None]:
            if node.parent in before.nodes:
                result.put_into_trash(node)
        return result


def _went_along(node: Node, before: Node | None) -> bool:
    """Return whether nothing changed but that the folder above went to the trash, or came back."""
    if before is None or (node.name, node.parent, node.versions, node.shares) != (
        before.name,
        before.parent,
        before.versions,
        before.shares,
    ):
        return False
    return node.id not in (node.trash, before.trash)
