from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest

from drive_server.services.sharing.links import LinkTerms
from tests.drive_server.http.dav.client import Dav
from tests.drive_server.http.dav.test_files import owner

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tests.drive_server.http.service import Service

WRITES = ["PUT", "DELETE", "MKCOL", "PROPPATCH", "LOCK", "MOVE", "COPY"]


@asynccontextmanager
async def guest(service: Service, path: str, **terms: Any) -> AsyncGenerator[Dav]:
    """Return a visitor with a new link to the item, and no key."""
    link = (await service.drive.links.create(await owner(service), path, LinkTerms(**terms))).value
    assert link.url is not None
    mount = f"{urlsplit(link.url).path}/dav"
    async with httpx.AsyncClient(base_url=service.url, timeout=60) as http:
        yield Dav(http, mount)


@pytest.fixture
async def folder(dav: Dav) -> None:
    await dav.ok("MKCOL", "/team")
    await dav.ok("MKCOL", "/team/deep")
    await dav.ok("PUT", "/team/deep/x.txt", b"0123456789")
    await dav.ok("PUT", "/secret.txt", b"no")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("role", ["viewer", "editor"])
async def test_a_guest_reads_what_is_below_the_link_and_changes_nothing(service: Service, role: str) -> None:
    async with guest(service, "/team", role=role) as visitor:
        assert (await visitor.names("/"), await visitor.names("/deep")) == (["deep"], ["x.txt"])
        assert (await visitor.ok("GET", "/deep/x.txt")).content == b"0123456789"
        assert (await visitor.send("GET", "/deep/x.txt", Range="bytes=1-2")).content == b"12"
        for path in ("/secret.txt", "/../secret.txt", "/team"):
            assert (await visitor.send("GET", path)).status_code in {400, 404}
        for method in WRITES:
            assert (await visitor.send(method, "/deep/x.txt", b"")).status_code == 405, method
        options = await visitor.ok("OPTIONS", "/")
        assert (options.headers["dav"], "PUT" in options.headers["allow"]) == ("1, 3", False)
        (found,) = (await visitor.find("/deep/x.txt")).values()
        assert not {"{DAV:}lockdiscovery", "{DAV:}quota-used-bytes"} & found.keys()


@pytest.mark.usefixtures("folder")
async def test_a_link_to_a_file_is_a_folder_with_that_file(service: Service) -> None:
    async with guest(service, "/secret.txt") as visitor:
        assert await visitor.names("/") == ["secret.txt"]
        assert (await visitor.ok("GET", "/secret.txt")).content == b"no"
        assert (await visitor.send("GET", "/other.txt")).status_code == 404


@pytest.mark.usefixtures("folder")
async def test_the_password_of_the_link_is_that_of_any_name(service: Service) -> None:
    async with guest(service, "/team", password="correct horse") as visitor:
        response = await visitor.send("PROPFIND", "/", Depth="0")
        assert (response.status_code, response.headers["www-authenticate"][:6]) == (401, "Basic ")
        visitor.http.auth = ("anybody", "wrong horse")
        assert (await visitor.send("PROPFIND", "/", Depth="0")).status_code == 401
        visitor.http.auth = ("anybody", "correct horse")
        assert (await visitor.send("PROPFIND", "/", Depth="0")).status_code == 207


@pytest.mark.usefixtures("folder")
async def test_the_limit_of_downloads_holds_and_lists_count_nothing(service: Service) -> None:
    async with guest(service, "/team", max_downloads=1) as visitor:
        assert await visitor.names("/deep") == ["x.txt"]
        await visitor.ok("HEAD", "/deep/x.txt")
        assert (await visitor.ok("GET", "/deep/x.txt")).content == b"0123456789"
        assert (await visitor.send("GET", "/deep/x.txt")).status_code == 404


@pytest.mark.usefixtures("folder")
async def test_a_link_that_is_over_or_unknown_leads_nowhere(service: Service) -> None:
    async with guest(service, "/team") as visitor:
        actor = await owner(service)
        assert (await visitor.send("PROPFIND", "/", Depth="0")).status_code == 207
        await service.drive.files.trash(actor, "/team")
        assert (await visitor.send("PROPFIND", "/", Depth="0")).status_code == 404
        assert (await Dav(visitor.http, "/s/unknown/dav").send("PROPFIND", "/", Depth="0")).status_code == 404
