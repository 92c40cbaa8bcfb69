"""The place of everything of a drive in its export: folders and files as in the drive, under names for any disk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from api.cli.exports.format.names import MAX_BYTES, MAX_PATH, length_of
from drive_server.kernel.files.portable_names import portable_names, shortened, split_suffix

if TYPE_CHECKING:
    from api.cli.exports.table import ItemTable

FILES: Final = "Files"
TRASH: Final = "Trash"
DEEP: Final = "Deep folders"
VERSIONS: Final = "Versions"
THREADS: Final = "Threads"
ID_CHARACTERS: Final = 8


class Layout:
    """Gives each item its path, and lists the files that the export consists of.

    `deep` counts the items that were brought up.
    """

    def __init__(self, table: ItemTable) -> None:
        self._table = table
        self.deep = 0

    def run(self) -> None:
        """Place all items of the table."""
        self._place_below(FILES, self._table.children(None, None), depth=0)
        self._place_below(TRASH, self._table.trashed(), depth=0)
        for item in self._table.by_depth():
            if item["kind"] == "file":
                self._add_files(item)

    def _place_below(self, folder: str, items: list[tuple[str, str, str]], depth: int) -> None:
        waiting = [(folder, items, depth, None if folder == FILES else "")]
        while waiting:
            path, children, level, trash_id = waiting.pop()
            names = portable_names([name for _, name, _ in children], MAX_BYTES)
            for (item_id, _, kind), safe in zip(children, names, strict=True):
                place = self._within_limit(f"{path}/{safe}", item_id, safe)
                self._table.place(item_id, place, level)
                if kind == "folder":
                    inner = item_id if trash_id == "" else trash_id
                    waiting.append((place, self._table.children(item_id, inner), level + 1, inner))

    def _within_limit(self, path: str, item_id: str, name: str) -> str:
        """Return the path, or a short one if it is too deep for some disks."""
        if length_of(path) <= MAX_PATH:
            return path
        self.deep += 1
        return f"{DEEP}/{item_id} {shortened(name, '', MAX_PATH // 4)}"

    def _add_files(self, item: dict[str, Any]) -> None:
        """List the newest content at the item's path, and others once each, by the item's name and number."""
        *earlier, newest = item["versions"]
        self._table.add_file(item["path"], newest["sha256"], newest["size"], newest["modified_at"])
        stem, suffix = split_suffix(item["path"].rpartition("/")[2])
        folder = f"{VERSIONS}/{shortened(stem, '', MAX_PATH // 3)} ({item['id'][:ID_CHARACTERS]})"
        for version in earlier:
            if self._table.path_of(version["sha256"]) is None:
                path = f"{folder}/version {version['number']}{suffix}"
                if self._table.has_file(path):
                    path = f"{VERSIONS}/{item['id']}/version {version['number']}{suffix}"
                self._table.add_file(path, version["sha256"], version["size"], version["modified_at"])


def manifest_entry(table: ItemTable, item: dict[str, Any]) -> dict[str, Any]:
    """Return an item for the manifest: its place, and of each version the path of a file with its content."""
    entry = json.loads(json.dumps(item))
    versions: list[dict[str, Any]] = entry["versions"]
    for version in versions:
        version["path"] = table.path_of(version["sha256"])
    if versions and table.has_file(item["path"]):
        versions[-1]["path"] = item["path"]
    return entry
