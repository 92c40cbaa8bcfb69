"""Every method of WebDAV with every scope: what a key may not do leaves the drive as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from wsgidav.request_server import RequestServer

from drive_server.http.dav.endpoint import SCOPES
from drive_server.kernel.access import Scope
from tests.drive_server.http.dav.client import LOCK_BODY, dav_of
from tests.drive_server.http.dav.test_locks import PATCH

if TYPE_CHECKING:
    from tests.drive_server.http.dav.client import Dav
    from tests.drive_server.http.service import Service

FORBIDDEN = 403


async def key_with(service: Service, *scopes: Scope) -> str:
    async with service.client() as owner:
        made = await owner.post("/api/auth/keys", json={"name": "x", "scopes": list(scopes)})
    return made.json()["key"]


async def send(dav: Dav, method: str, token: str) -> int:
    base = str(dav.http.base_url).rstrip("/")
    special: dict[str, dict[str, Any]] = {
        "PUT": {"path": "/new.txt", "body": b"x"},
        "MKCOL": {"path": "/folder"},
        "COPY": {"path": "/free.txt", "Destination": base + dav.address("/copy.txt")},
        "MOVE": {"path": "/free.txt", "Destination": base + dav.address("/moved.txt")},
        "PROPPATCH": {"path": "/free.txt", "body": PATCH},
        "LOCK": {"path": "/free.txt", "body": LOCK_BODY.format(scope="exclusive")},
        "UNLOCK": {"path": "/locked.txt", "Lock_Token": f"<{token}>"},
        "DELETE": {"path": "/free.txt"},
        "PROPFIND": {"path": "/", "Depth": "1"},
    }
    wanted = special.get(method, {"path": "/free.txt"})
    return (await dav.send(method, wanted.pop("path"), wanted.pop("body", None), **wanted)).status_code


def test_every_method_that_the_library_serves_has_its_scope() -> None:
    served = {name.removeprefix("do_") for name in dir(RequestServer) if name.startswith("do_")}
    assert served - {"OPTIONS", "POST"} <= set(SCOPES), "OPTIONS says nothing of any item; POST is not served"


@pytest.mark.parametrize("method", [*SCOPES, "POST", "REPORT", "ACL"])
async def test_a_key_without_the_scope_of_a_method_changes_nothing(service: Service, dav: Dav, method: str) -> None:
    for name in ("/free.txt", "/locked.txt"):
        await dav.ok("PUT", name, b"one")
    token, needed = await dav.token("/locked.txt"), SCOPES.get(method)
    lacking = [key for key in Scope if key != needed]
    async with dav_of(service, await key_with(service, *lacking)) as weak:
        before = await dav.names()
        status = await send(weak, method, token)
        assert status == FORBIDDEN if needed else status >= 400
    assert await dav.names() == before
    assert (await dav.send("PUT", "/locked.txt", b"two")).status_code == 423, "the lock holds"
    if needed:
        async with dav_of(service, await key_with(service, *{Scope.READ, needed})) as strong:
            assert await send(strong, method, token) < 300


async def test_a_key_that_only_reads_ends_no_lock_even_its_person_s_own(service: Service, dav: Dav) -> None:
    await dav.ok("PUT", "/a.txt", b"one")
    token = await dav.token("/a.txt")
    async with dav_of(service, await key_with(service, Scope.READ)) as reader:
        assert (await reader.send("UNLOCK", "/a.txt", Lock_Token=f"<{token}>")).status_code == FORBIDDEN
        assert (await reader.send("LOCK", "/a.txt", If=f"(<{token}>)")).status_code == FORBIDDEN, "nor renews one"
        assert (await reader.send("OPTIONS", "/a.txt")).status_code == 200
    assert (await dav.send("UNLOCK", "/a.txt", Lock_Token=f"<{token}>")).status_code == 204
