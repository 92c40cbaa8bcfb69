"""The folders of the drive that an import fills: found or made, with what is in them already."""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from api.cli.client import read_json
from api.cli.failure import CommandError, ServiceError
from api.cli.importing.names import decoded, importable_name
from api.cli.importing.scan import Remark
from api.cli.service.reconnection import until_answered

if TYPE_CHECKING:
    from api.cli.client import ServiceClient
    from api.cli.importing.scan import SourceFolder
    from api.cli.importing.upload import Retries

Item = dict[str, Any]


@dataclass(slots=True)
class FolderPlace:
    """A folder of the drive and its items by name; `problem` says why there is none."""

    id: str = ""
    items: dict[str, Item] = field(default_factory=dict[str, Item])
    problem: str = ""


class DriveFolders:
    """Finds and makes folders, each once. `made` counts those made; `renamed` tells which got another name."""

    def __init__(self, client: ServiceClient, retries: Retries) -> None:
        self._client = client
        self._retries = retries
        self._places: dict[int, FolderPlace] = {}
        self.made = 0
        self.renamed: list[Remark] = []

    def open_target(self, path: str, top: SourceFolder) -> None:
        """Find the folder at a path of the drive, making what is missing of it, as the place of the import's top."""
        self._places[id(top)] = self._find(path) or self._make_path(path)

    def _find(self, path: str) -> FolderPlace | None:
        try:
            item = until_answered(lambda: self._client.item(path), self._retries)
        except ServiceError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise
        if item["kind"] != "folder":
            raise CommandError(f"{path} is a file, so nothing can be imported into it.")
        return self._existing(item["id"])

    def _make_path(self, path: str) -> FolderPlace:
        place = self._existing("root")
        for name in [decoded(part) for part in path.split("/") if part]:
            item = place.items.get(name)
            if item and item["kind"] != "folder":
                raise CommandError(f"{item['path']} is a file, so nothing can be imported into it.")
            place = self._existing(item["id"]) if item else self._make(place, name)
        return place

    def place_of(self, folder: SourceFolder) -> FolderPlace:
        """Return the place of a folder, whose parent was asked for before."""
        if id(folder) not in self._places:
            if folder.parent is None:
                raise CommandError("The import has no target folder.")
            self._places[id(folder)] = self._below(self.place_of(folder.parent), folder)
        return self._places[id(folder)]

    def _below(self, parent: FolderPlace, folder: SourceFolder) -> FolderPlace:
        if parent.problem:
            return parent
        existing = parent.items.get(folder.name)
        if existing and existing["kind"] == "folder":
            return self._existing(existing["id"])
        name = importable_name(folder.name, parent.items)
        if name != folder.name:
            self.renamed.append(Remark(folder.shown, f"imported as {name}"))
        try:
            return self._make(parent, name)
        except ServiceError as error:
            return FolderPlace(problem=f"its folder could not be made: {error.message}")

    def _existing(self, folder_id: str) -> FolderPlace:
        path = f"/api/drive/items/{folder_id}/children"
        items = until_answered(lambda: list(self._client.pages(path)), self._retries)
        return FolderPlace(folder_id, {item["name"]: item for item in items})

    def _make(self, parent: FolderPlace, name: str) -> FolderPlace:
        body = {"kind": "folder", "name": name, "parent_id": parent.id}
        headers = {"Idempotency-Key": uuid4().hex}
        item = until_answered(
            lambda: read_json(self._client.send("POST", "/api/drive/items", json=body, headers=headers)), self._retries
        )
        parent.items[name] = item
        self.made += 1
        return FolderPlace(item["id"])
