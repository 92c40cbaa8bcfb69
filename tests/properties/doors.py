"""A person's three ways into the drive, over real connections: MCP, HTTP and WebDAV."""

from __future__ import annotations

from base64 import b64encode
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote, urljoin

from drive_server.connect import ConcurrentSession
from drive_server.kernel.access import Actor, Scope
from tests.drive_server.hosts import WHOLE
from tests.drive_server.http.dav.client import Dav, dav_of
from tests.drive_server.http.items import DRIVE, FILES, ITEMS, done
from tests.drive_server.http.streamable_http.test_endpoint import remote

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import httpx

    from tests.drive_server.hosts import Host
    from tests.drive_server.http.service import Service

Way = Literal["mcp", "http", "dav"]
UPLOADS = f"{DRIVE}/uploads"
TUS = {"Tus-Resumable": "1.0.0"}
NO_ROOM = 507
PATIENCE = 120
"""Seconds: that a call takes long is no difference between the drives."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the drive answered: a value, or why it refused."""

    value: dict[str, Any] = field(default_factory=dict[str, Any])
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a person finds by one way: items by id or by path, what they can restore, the bytes that they keep."""

    live: dict[str, Any]
    used: int
    trash: frozenset[str] | None = None
    starred: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a key. `call`, `ask` and `send` do one thing by MCP, HTTP and WebDAV."""

    email: str
    host: Host
    http: httpx.AsyncClient
    dav: Dav

    async def call(self, tool: str, **arguments: Any) -> Answer:
        """Call a tool."""
        result = await self.host.result(
            tool, WHOLE, **{name: value for name, value in arguments.items() if value is not None}
        )
        found = result.structuredContent or {}
        if not result.isError:
            return Answer(found)
        assert found["code"] not in {"internal", "storage_failure"}, found
        return Answer(refusal=f"{found['code']}: {found['message']}")

    async def ask(self, method: str, path: str, **options: Any) -> Answer:
        """Send a request."""
        return _answer(await self.http.request(method, path, **options))

    async def send(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Send a request of WebDAV."""
        return _answer(await self.dav.send(method, path, body, **headers))

    async def upload(self, folder: str, name: str, text: str, choice: str) -> Answer:
        """Upload a file in two pieces; the upload ends if it is refused."""
        data = text.encode()
        named = {"filename": name, "parent_id": folder, "on_conflict": choice}
        pairs = ",".join(f"{key} {b64encode(value.encode()).decode()}" for key, value in named.items())
        begun = await self.http.post(
            UPLOADS, headers={**TUS, "Upload-Length": str(len(data)), "Upload-Metadata": pairs}
        )
        response, offset = begun, 0
        address = urljoin(str(begun.url), begun.headers.get("location", ""))
        while response.is_success and "upload-item-id" not in response.headers:
            piece = data[offset : offset + max(1, len(data) // 2)]
            headers = {**TUS, "Content-Type": "application/offset+octet-stream", "Upload-Offset": str(offset)}
            response = await self.http.patch(address, content=piece, headers=headers)
            offset += len(piece)
        if not response.is_success:
            if begun.is_success:
                await self.http.delete(address, headers=TUS)
            return _answer(response)
        return Answer({"id": response.headers["upload-item-id"]})

    async def child(self, folder: str, name: str) -> str:
        """Return the id of the item of that name in a folder."""
        return next(item["id"] for item in await self._listed("http", folder) if item["name"] == name)

    async def names(self, folder: str) -> dict[str, str]:
        """Return the ids of what is in a folder by name."""
        return {item["name"]: item["id"] for item in await self._listed("http", folder)}

    async def seen(self, way: Way) -> Seen:
        """Return all that the person finds that way."""
        if way == "dav":
            used = await self.dav.prop("/", "quota-used-bytes")
            return Seen(await self._paths(), int(used or -1))
        live = {item["id"]: item for item in await self._below(way)}
        trash = frozenset(item["id"] for item in await self._listed(way, "trash") if item["owner"] == self.email)
        if way == "mcp":
            me = await self.host.call("whoami")
            return Seen(live, me["used_bytes"], trash)
        me = done(await self.http.get("/api/auth/me"))
        starred = done(await self.http.get(f"{DRIVE}/starred", params={"limit": 1000}))["items"]
        return Seen(live, me["used_bytes"], trash, frozenset(item["id"] for item in starred))

    async def text(self, way: Way, item_id: str, path: str) -> str:
        """Return the content of a file."""
        if way == "mcp":
            return (await self.host.call("read_file", file_id=item_id))["text"]
        if way == "http":
            return (await self.http.get(f"{FILES}/{item_id}/content")).raise_for_status().text
        return (await self.dav.ok("GET", path)).text

    async def version_sizes(self, way: Way, item_id: str) -> list[int]:
        """Return the sizes of all versions of a file, the first one first."""
        if way == "mcp":
            found = await self.host.call("list_versions", WHOLE, file_id=item_id, limit=1000)
        else:
            found = done(await self.http.get(f"{FILES}/{item_id}/versions", params={"limit": 1000}))
        assert [version["number"] for version in found["versions"]] == [*range(len(found["versions"]), 0, -1)]
        return [version["size"] for version in reversed(found["versions"])]

    async def newest_changes(self, way: Way) -> list[dict[str, Any]]:
        """Return the last two changes of the person."""
        if way == "mcp":
            return (await self.host.call("list_changes", WHOLE, limit=2))["changes"]
        return done(await self.http.get(f"{DRIVE}/changes", params={"limit": 2}))["changes"]

    async def _below(self, way: Way) -> list[dict[str, Any]]:
        found = [await self._root(way), *await self._listed(way, "shared")]
        for item in found:
            if item["child_count"]:
                found += await self._listed(way, item["id"])
        return found

    async def _root(self, way: Way) -> dict[str, Any]:
        if way == "mcp":
            return await self.host.call("get_file_info", WHOLE, item_id="root")
        return done(await self.http.get(f"{ITEMS}/root"))

    async def _listed(self, way: Way, ref: str) -> list[dict[str, Any]]:
        if way == "mcp":
            return (await self.host.call("list_folder", WHOLE, folder_id=ref, limit=1000))["items"]
        return done(await self.http.get(f"{ITEMS}/{ref}/children", params={"limit": 1000}))["items"]

    async def _paths(self) -> dict[str, int | None]:
        """Return all paths with the files' sizes."""
        folders, found = ["/"], dict[str, int | None]()
        for folder in folders:
            members = await self.dav.find(folder, "getcontentlength", "resourcetype", depth="1")
            for href, values in list(members.items())[1:]:
                path = unquote(href).removeprefix("/dav").rstrip("/")
                length = values.get("{DAV:}getcontentlength")
                found[path] = None if length is None else int(length.text)
                if length is None:
                    folders.append(path)
        return found


def _answer(response: httpx.Response) -> Answer:
    if response.is_success and response.status_code != 207:
        is_json = response.headers.get("content-type", "").startswith("application/json")
        return Answer(response.json() if is_json else {})
    assert response.status_code < 500 or response.status_code == NO_ROOM, response.text
    return Answer(refusal=f"{response.status_code}: {response.text}")


@asynccontextmanager
async def person_of(service: Service, email: str, quota: int) -> AsyncGenerator[Person]:
    """Open all three ways for a new person."""
    key = await service.add_person(email)
    async with AsyncExitStack() as stack:
        admin = await stack.enter_async_context(service.client())
        done(await admin.patch(f"/api/users/{email}", json={"quota_bytes": quota}))
        http = await stack.enter_async_context(service.client(key))
        dav = await stack.enter_async_context(dav_of(service, key))
        # A host that can't ask deletes for good only with a key that its person made for that.
        person = Actor(replace(await service.drive.identity.authenticate(key), method="token", proof=""))
        _, purging = await service.drive.identity.create_key(person, "host", sorted(Scope))
        host = await stack.enter_async_context(remote(service, purging, kind=ConcurrentSession, seconds=PATIENCE))
        http.timeout = dav.http.timeout = PATIENCE
        yield Person(email, host, http, dav)
