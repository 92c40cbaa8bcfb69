"""A drive as a task begins with it, and as it is afterwards, over HTTP and MCP like any client's."""

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import anyio
import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from benchmarks.evaluation.clock import NOW
from benchmarks.evaluation.documents import content_of
from benchmarks.evaluation.own_servers import OwnServers
from benchmarks.evaluation.scoring import DriveState
from benchmarks.evaluation.task import ServerTool, Task

Item = Mapping[str, Any]
ASSISTANT = "drive_agent"
"""The id of the assistant that everybody has."""


class EvaluatedDrive:
    """One person's drive, made for one task. `servers` has their own MCP servers, if tasks may have such."""

    def __init__(self, client: httpx.Client, servers: OwnServers | None = None) -> None:
        self.client = client
        self._servers = servers
        self._addresses: list[str] = []
        self._texts: dict[tuple[str, int], str] = {}

    def seed(self, task: Task) -> None:
        """Put there what the task begins with."""
        for path, text in task.files.items():
            folder, _, name = path.rpartition("/")
            params = {"name": name, "parent_id": self._folder(folder)}
            self._sent("POST", "/api/drive/files", params=params, content=content_of(name, text))
        for path, people in task.shares.items():
            for email, role in people.items():
                place = f"/api/drive/items/{self.find(path)['id']}/shares"
                self._sent("POST", place, json={"email": email, "role": role})
        for path in task.trashed:
            anyio.run(self._call, "trash_item", {"item_id": path})
        if task.remembered:
            self._remember(task.remembered)
        if task.servers:
            self._connect(task.servers)

    def wait_for_index(self) -> None:
        """Return when everything can be searched."""
        while any(self._waiting()):
            time.sleep(0.05)

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
        return DriveState(
            paths,
            shares,
            links,
            sorted(item["name"] for item in self._children("trash")),
            sorted(fact["text"] for fact in self.memories()),
            [call for address in self._addresses for call in self._own().sent(address)],
        )

    def memories(self) -> list[Item]:
        """Return the remembered facts."""
        return self._got("/api/memories")["items"]

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

    def _waiting(self) -> Iterator[int]:
        index = self._got("/api/drive/index")
        yield from (index["summary"]["pending"], index["summary"]["indexing"], index["awaiting_vectors"])

    def _remember(self, facts: Sequence[str]) -> None:
        known = {"source": {"kind": "said"}, "created_at": NOW.isoformat(), "updated_at": NOW.isoformat()}
        items = [{"id": uuid4().hex, "text": fact, **known} for fact in facts]
        self._sent("POST", "/api/memories/import", json={"export_id": uuid4().hex, "items": items})

    def _connect(self, servers: Mapping[str, Mapping[str, ServerTool]]) -> None:
        """Define the person's servers, look at their tools, and let the assistant use them."""
        keys: list[str] = []
        for name, tools in servers.items():
            address = self._own().open(name, tools)
            self._addresses.append(address)
            made = self._sent("POST", "/api/mcp-servers", json={"name": name, "base_url": address})
            self._sent("POST", f"/api/mcp-servers/{made['id']}/connect")
            keys.append(made["id"])
        self._sent("PUT", f"/api/assistants/{ASSISTANT}/mcp-servers", json={"server_ids": keys})

    def _own(self) -> OwnServers:
        if self._servers is None:
            raise ValueError("no servers are served here")
        return self._servers

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
def new_person(owner: httpx.Client, servers: OwnServers | None = None) -> Generator[EvaluatedDrive]:
    """Make an account on the owner's service, with an empty drive."""
    made = owner.post("/api/users", json={"email": f"person-{uuid4().hex[:8]}@example.com"}).raise_for_status().json()
    headers = {"Authorization": f"Bearer {made['key']}"}
    with httpx.Client(base_url=owner.base_url, headers=headers, timeout=owner.timeout, trust_env=False) as client:
        yield EvaluatedDrive(client, servers)
