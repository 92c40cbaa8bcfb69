"""The items that a command line names: by path, id or pattern; and the places where something is to go."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from unicodedata import normalize

from api.cli.failure import CommandError, ServiceError
from api.cli.texts import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from api.cli.client import ServiceClient

Item = dict[str, Any]

PATTERN: Final = re.compile(r"[*?\[]")
ANY_DEPTH: Final = "**"
SHARED: Final = "Shared with me"
"""The name of the folder of items that others share, in a person's root; an own folder of this name hides it."""
NO_ITEM: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY})


@dataclass(frozen=True, slots=True)
class Destination:
    """A place for an item: a folder, and the name that it has there; empty: its own."""

    folder: Item
    name: str = ""

    def path_of(self, name: str) -> str:
        """Return the path of an item that goes there with this name of its own."""
        return below(self.folder, self.name or name)


def is_folder(item: Item) -> bool:
    """Return whether the item is a folder."""
    return item["kind"] == "folder"


def below(folder: Item, name: str) -> str:
    """Return the path of a name in a folder."""
    return f"{str(folder['path']).rstrip('/')}/{name}"


def look_up(client: ServiceClient, ref: str) -> Item | None:
    """Return the item with this path or id, None if there is none. A path may leave out its first slash."""
    wanted = normalize("NFC", ref.rstrip("/") or "/")
    for candidate in dict.fromkeys((wanted, wanted if wanted.startswith("/") else f"/{wanted}")):
        try:
            return client.item(candidate)
        except ServiceError as error:
            if error.status not in NO_ITEM:
                raise
    return shared_folder(client) if wanted.strip("/") == SHARED else None


def shared_folder(client: ServiceClient) -> Item | None:
    """Return the folder of items that others share, None while nobody shares anything."""
    shared = list(client.get("/api/drive/shared", limit=1)["items"])
    if not shared:
        return None
    place = {"id": "shared", "kind": "folder", "name": SHARED, "path": f"/{SHARED}", "parent_id": None, "size": 0}
    return {**place, "updated_at": shared[0]["updated_at"], "owner": None, "role": "viewer"}


def is_shared_folder(item: Item) -> bool:
    """Return whether this is the folder of items that others share, where nobody puts anything."""
    return item["id"] == "shared"


def with_shared(client: ServiceClient, folder: Item, items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items of a folder; the root also has the folder of shared items, unless an item has that name."""
    is_hidden = folder["path"] != "/"
    for item in items:
        is_hidden = is_hidden or item["name"] == SHARED
        yield item
    if not is_hidden and (shared := shared_folder(client)):
        yield shared


def find(client: ServiceClient, ref: str) -> Item:
    """Return the item with this path or id. Raises `CommandError` if there is none."""
    item = look_up(client, ref)
    if item is None:
        raise CommandError.of("no_item", ref=ref, attempt=["ls", _parent_of(ref)])
    return item


def find_file(client: ServiceClient, ref: str) -> Item:
    """Return the file with this path or id. Raises `CommandError` if there is none."""
    item = find(client, ref)
    if is_folder(item):
        raise CommandError.of("is_no_file", ref=ref)
    return item


def expand(client: ServiceClient, refs: Sequence[str]) -> list[Item]:
    """Return the items that the paths, ids and patterns name, each once.

    Raises `CommandError` for one that names nothing.
    """
    found: dict[str, Item] = {}
    for ref in refs:
        item = look_up(client, ref)
        items = [item] if item else [*_matching(client, ref)] if PATTERN.search(ref) else []
        if not items:
            code = "no_match" if PATTERN.search(ref) else "no_item"
            raise CommandError.of(code, ref=ref, pattern=ref, attempt=["ls", _parent_of(ref)])
        found.update((str(item["id"]), item) for item in items)
    return list(found.values())


def children(client: ServiceClient, folder: Item) -> Iterator[Item]:
    """Yield the items directly in a folder."""
    for item in client.pages(f"/api/drive/items/{folder['id']}/children"):
        yield {**item, "parent_id": folder["id"]}


def walk(client: ServiceClient, folder: Item) -> Iterator[Item]:
    """Yield everything below a folder, each folder before its items."""
    for item in children(client, folder):
        yield item
        if is_folder(item):
            yield from walk(client, item)


def place_at(client: ServiceClient, ref: str, *, is_one: bool) -> Destination:
    """Return the place that a target names: an existing folder, or else, for one source, a name in one."""
    item = look_up(client, ref)
    if item and is_folder(item):
        return Destination(open_folder(item))
    if item and not is_one:
        raise CommandError.of("is_no_folder", ref=ref)
    parent, _, name = ref.rstrip("/").rpartition("/")
    folder = look_up(client, parent or "/") if is_one and not ref.endswith("/") else None
    if folder is None:
        missing = ref if not is_one or ref.endswith("/") else parent
        raise CommandError.of("no_target_folder", ref=missing, attempt=["mkdir", "-p", missing])
    if not is_folder(folder):
        raise CommandError.of("is_no_folder", ref=parent)
    return Destination(open_folder(folder), normalize("NFC", name))


def open_folder(folder: Item) -> Item:
    """Return a folder in which something can be put. Raises `CommandError` for the one of items that others share."""
    if is_shared_folder(folder):
        raise CommandError.of("shared_is_no_place")
    return folder


def said_by(problem: dict[str, Any], ref: str) -> str:
    """Return the sentence for an item that the service refused to change."""
    return text("refused", ref=ref, reason=problem.get("detail") or problem.get("code") or "")


def _parent_of(ref: str) -> str:
    fixed = PATTERN.split(ref, maxsplit=1)[0]
    return fixed.rstrip("/").rpartition("/")[0] or "/"


def _matching(client: ServiceClient, pattern: str) -> Iterator[Item]:
    level = [client.item("/")]
    for part in normalize("NFC", pattern).strip("/").split("/"):
        level = [item for folder in level if is_folder(folder) for item in _step(client, folder, part)]
    yield from level


def _step(client: ServiceClient, folder: Item, part: str) -> Iterator[Item]:
    if part == ANY_DEPTH:
        yield folder
        yield from filter(is_folder, walk(client, folder))
        return
    items = children(client, folder)
    for item in with_shared(client, folder, items) if part == SHARED else items:
        if item["name"] == part or fnmatchcase(str(item["name"]), part):
            yield item
