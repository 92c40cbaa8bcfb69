"""A WebDAV client for tests: a person's requests to `/dav`, and what the answers say."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import httpx
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a compiled module without stubs

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tests.drive_server.http.service import Service

LOCK_BODY = """<?xml version="1.0" encoding="utf-8"?>
<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:{scope}/></D:lockscope><D:locktype><D:write/></D:locktype>
<D:owner>Ann's computer</D:owner></D:lockinfo>"""


@dataclass(frozen=True, slots=True)
class Dav:
    """Sends requests for paths below the mount."""

    http: httpx.AsyncClient
    mount: str = "/dav"

    async def send(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """Send a request; `If_Match` is the header If-Match."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.http.request(method, self.address(path), content=body, headers=named)

    async def ok(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """Send a request that has to succeed."""
        response = await self.send(method, path, body, **headers)
        assert response.is_success, (method, path, response.status_code, response.text)
        return response

    def address(self, path: str) -> str:
        """Return the path on the server."""
        return self.mount + quote(path, safe="/")

    async def move(self, path: str, to: str, method: str = "MOVE", **headers: str) -> httpx.Response:
        """Move or copy to another path."""
        base = str(self.http.base_url).rstrip("/")
        return await self.send(method, path, Destination=base + self.address(to), **headers)

    async def names(self, path: str = "/") -> list[str]:
        """Return the names in a folder."""
        found = await self.find(path, depth="1")
        return [unquote(href).rstrip("/").rpartition("/")[2] for href in list(found)[1:]]

    async def find(self, path: str, *names: str, depth: str = "0") -> dict[str, dict[str, Any]]:
        """Return by address the properties that were found, all or those of the names, as elements."""
        body = None
        if names:
            asked = "".join(f"<D:{name}/>" for name in names)
            body = f'<D:propfind xmlns:D="DAV:"><D:prop>{asked}</D:prop></D:propfind>'
        response = await self.send("PROPFIND", path, body, Depth=depth)
        assert response.status_code == 207, (path, response.status_code, response.text)
        return properties_of(response.content)

    async def prop(self, path: str, name: str) -> str | None:
        """Return the text of a property, None if it is not there."""
        (found,) = (await self.find(path, name)).values()
        element = found.get(f"{{DAV:}}{name}")
        return None if element is None else (element.text or "")

    async def lock(self, path: str, *, scope: str = "exclusive", **headers: str) -> httpx.Response:
        """Ask for a lock."""
        return await self.send("LOCK", path, LOCK_BODY.format(scope=scope), **headers)

    async def token(self, path: str, **headers: str) -> str:
        """Lock, and return the token."""
        response = await self.lock(path, **headers)
        assert response.is_success, response.text
        return response.headers["lock-token"].strip("<>")


def properties_of(body: bytes) -> dict[str, dict[str, Any]]:
    """Return by address the properties with the status 200 of a multistatus."""
    found: dict[str, dict[str, Any]] = {}
    for response in etree.fromstring(body):
        values = found.setdefault(response.findtext("{DAV:}href"), {})
        for stat in response.findall("{DAV:}propstat"):
            if " 200 " in stat.findtext("{DAV:}status"):
                values |= {element.tag: element for element in stat.find("{DAV:}prop")}
    return found


@asynccontextmanager
async def dav_of(service: Service, key: str | None = None, mount: str = "/dav") -> AsyncGenerator[Dav]:
    """Open a client that signs in with the key, by default the local access token, as a password."""
    auth = ("anybody", service.token if key is None else key)
    async with httpx.AsyncClient(base_url=service.url, auth=auth if key != "" else None, timeout=60) as http:
        yield Dav(http, mount)
