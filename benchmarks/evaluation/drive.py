"""A drive as a task begins with it, and as it is afterwards, over HTTP and MCP like any client's."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any
from uuid import uuid4

import anyio
import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from benchmarks.evaluation.scoring import DriveState
from benchmarks.evaluation.task import Task
from drive_server.knowledge.media_types import media_type_of
from drive_server.knowledge.writers.render import can_render, render_document

Item = Mapping[str, Any]


class EvaluatedDrive:
    """One person's drive, made for one task."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self._texts: dict[tuple[str, int], str] = {}

    def seed(self, task: Task) -> None:
        """Put there what the task begins with."""
        for path, text in task.files.items():
            folder, _, name = path.rpartition("/")
            params = {"name": name, "parent_id": self._folder(folder)}
            self._sent("POST", "/api/drive/files", params=params, content=_content(name, text))
        for path, people in task.shares.items():
            for email, role in people.items():
                place = f"/api/drive/items/{self.find(path)['id']}/shares"
                self._sent("POST", place, json={"email": email, "role": role})
        for path in task.trashed:
            anyio.run(self._call, "trash_item", {"item_id": path})

    def state(self) -> DriveState:
        """Return the drive as it is."""
        paths: dict[str, str | None] = {}
        shares: dict[str, Mapping[str, str]] = {}
        links: dict[str, int] = {}
        changed = {change["item_id"] for change in self._got("/api/drive/changes?kind=share&limit=100")["changes"]}
        for path, item in self.items():
            paths[path] = self._text(item) if item["kind"] == "file" else None
            access = self._got(f"/api/drive/items/{item['id']}/shares")["shares"] if item["id"] in changed else []
            people = {one["email"]: one["role"] for one in access if one.get("email") and not one.get("inherited_from")}
            if people:
                shares[path] = people
            if count := sum(not one.get("email") for one in access if not one.get("inherited_from")):
                links[path] = count
        return DriveState(paths, shares, links, sorted(item["name"] for item in self._children("trash")))

    def items(self) -> Iterator[tuple[str, Item]]:
        """Yield all that the drive holds, with paths."""
        return self._below("root", "")

    def find(self, path: str) -> Item:
        """Return the item at a path; of the trash for `trash:NAME`."""
        if path.startswith("trash:"):
            return next(item for item in self._children("trash") if item["name"] == path.removeprefix("trash:"))
        return next(item for place, item in self.items() if place == path)

    def _text(self, item: Item) -> str:
        """Return what a file says; each version is fetched once."""
        version = item["id"], item["version"]
        if version not in self._texts:
            response = self.client.get(f"/api/drive/files/{item['id']}/content").raise_for_status()
            self._texts[version] = response.content.decode("utf-8", errors="replace")
        return self._texts[version]

    def _folder(self, path: str) -> str:
        if not path:
            return "root"
        parent, _, name = path.rpartition("/")
        parent_id = self._folder(parent)
        for item in self._children(parent_id):
            if item["name"] == name:
                return item["id"]
        made = self._sent("POST", "/api/drive/items", json={"kind": "folder", "name": name, "parent_id": parent_id})
        return made["id"]

    def _below(self, folder_id: str, path: str) -> Iterator[tuple[str, Item]]:
        for item in self._children(folder_id):
            place = f"{path}/{item['name']}"
            yield place, item
            if item["kind"] == "folder":
                yield from self._below(item["id"], place)

    def _children(self, folder_id: str) -> list[Item]:
        return self._got(f"/api/drive/items/{folder_id}/children")["items"]

    def _got(self, path: str) -> Any:
        return self._sent("GET", path)

    def _sent(self, method: str, path: str, **given: Any) -> Any:
        return self.client.request(method, path, **given).raise_for_status().json()

    async def _call(self, tool: str, args: dict[str, Any]) -> None:
        headers = {"Authorization": self.client.headers["Authorization"]}
        async with (
            create_mcp_http_client(headers=headers) as client,
            streamable_http_client(f"{self.client.base_url}/mcp", http_client=client) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            result = await session.call_tool(tool, args)
            if result.isError:
                raise RuntimeError(str(result.content))


@contextmanager
def new_person(owner: httpx.Client) -> Generator[EvaluatedDrive]:
    """Make an account on the owner's service, with an empty drive."""
    made = owner.post("/api/users", json={"email": f"person-{uuid4().hex[:8]}@example.com"}).raise_for_status().json()
    headers = {"Authorization": f"Bearer {made['key']}"}
    with httpx.Client(base_url=owner.base_url, headers=headers, timeout=owner.timeout, trust_env=False) as client:
        yield EvaluatedDrive(client)


@cache
def _content(name: str, text: str) -> bytes:
    media_type = media_type_of(name)
    return render_document(media_type, text) if can_render(media_type) else text.encode()
