"""Every response, whoever made it: pages, JSON, bytes, streams, refusals and failures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from fastapi.routing import APIRoute

from drive_server.http import metadata
from drive_server.http.app import create_app
from drive_server.http.pages import connect, link, login, passage
from drive_server.kernel.access import Actor
from drive_server.services.identity.service import IdentityService

if TYPE_CHECKING:
    import httpx

    from drive_server.kernel.settings import DriveSettings
    from tests.drive_server.http.service import Service

SOURCES = re.compile(r"https?:|//|\*|(?<![-\w])data:|blob:")


def requests(settings: DriveSettings) -> list[tuple[str, str]]:
    """Return the method and address of every route, and of what no route answers."""
    described = create_app(settings).openapi()["paths"]
    api = {(method.upper(), path) for path, operations in described.items() for method in operations}
    pages = [route for part in (connect, link, login, metadata, passage) for route in part.router.routes]
    shown = {(method, route.path) for route in pages if isinstance(route, APIRoute) for method in route.methods or ()}
    others = [("GET", "/mcp"), ("POST", "/mcp"), ("GET", "/openapi.json"), ("GET", "/nothing"), ("PUT", "/api/auth/me")]
    found = {(method, re.sub(r"\{\w+\}", "x", path)) for method, path in api | shown}
    streams = {"/api/drive/index/events", "/api/drive/events", "/api/notices/events"}
    return sorted({*found, *others} - {("GET", path) for path in streams})


def check(answer: httpx.Response) -> None:
    where = f"{answer.request.method} {answer.request.url.path} {answer.status_code}"
    policy = answer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy, where
    assert not SOURCES.search(policy), where
    assert answer.headers.get_list("referrer-policy") == ["no-referrer"], where
    assert answer.headers.get_list("x-content-type-options") == ["nosniff"], where
    cached = answer.headers.get_list("cache-control")
    if answer.request.url.path == "/openapi.json":
        assert cached == ["private, no-cache"]
        return
    assert cached == (["no-store, no-transform"] if "event-stream" in answer.headers["content-type"] else ["no-store"])


async def test_every_response_keeps_to_itself_whoever_asks(service: Service) -> None:
    asked = requests(service.drive.settings)
    assert len(asked) > 40
    for key in (None, ""):
        async with service.client(key) as client:
            for method, path in asked:
                answer = await client.request(method, path, headers={"Accept": "text/html"})
                check(answer) if "content-type" in answer.headers else check_empty(answer)


def check_empty(answer: httpx.Response) -> None:
    answer.headers["content-type"] = ""
    check(answer)


async def test_a_failure_that_nobody_expected_has_the_headers_too(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(IdentityService, "read_as", broken)
    async with service.client() as client:
        failed = await client.get("/api/auth/me")
        refused = await client.post("/api/drive/items", content=b"x" * 200_000)

    assert (failed.status_code, refused.status_code) == (500, 413)
    check(failed)
    check(refused)


async def test_bytes_are_stored_nowhere_but_behind_a_signed_address(service: Service) -> None:
    async with service.client() as client:
        file = (await client.post("/api/drive/files", params={"name": "a.pdf"}, content=b"%PDF-1.4")).json()
        content = await client.get(f"/api/drive/files/{file['id']}/content")
        shown = await client.get(f"/f/{file['id']}/document")
        owner = await service.drive.identity.authenticate(service.token)
        made = (await service.drive.downloads.create(Actor(owner), file["id"])).value
        downloaded = await client.get(urlsplit(made.url).path)

    check(content)
    assert shown.headers["content-security-policy"] == "frame-ancestors 'self'"
    assert "sandbox" in content.headers["content-security-policy"]
    assert downloaded.content == b"%PDF-1.4"
    assert downloaded.headers["cache-control"] == "private, no-cache"


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/docs/oauth2-redirect"])
async def test_no_page_loads_scripts_from_elsewhere_to_describe_the_interface(service: Service, path: str) -> None:
    async with service.client() as client:
        assert (await client.get(path)).status_code == 404
        assert (await client.get("/openapi.json")).json()["paths"]


async def test_only_a_real_pdf_is_shown_and_only_in_our_own_frames(service: Service) -> None:
    page = b"<html><script>alert(1)</script>%PDF-1.4"
    async with service.client() as client:
        for name, kind, data, is_shown in (
            ("real.pdf", "application/pdf", b"%PDF-1.4\n%", True),
            ("false.pdf", "application/pdf", page, False),
            ("page.html", "text/html", page, False),
            ("picture.svg", "image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", False),
            ("empty.pdf", "application/pdf", b"", False),
        ):
            headers = {"Content-Type": kind}
            made = await client.post("/api/drive/files", params={"name": name}, content=data, headers=headers)
            file = made.json()
            where = f"/api/drive/files/{file['id']}/content"
            for path in (f"{where}?inline=true", f"/f/{file['id']}/document", where):
                answer = await client.get(path)
                disposition, policy = (answer.headers[n] for n in ("content-disposition", "content-security-policy"))
                expected = is_shown and path != where
                assert answer.content == data
                assert disposition.startswith("inline" if expected else "attachment"), (name, path)
                assert ("sandbox" in policy, "'self'" in policy) == (not expected, expected), (name, path)
                assert answer.headers["x-frame-options"] == ("SAMEORIGIN" if expected else "DENY")
                assert answer.headers["x-content-type-options"] == "nosniff"
                part = await client.get(path, headers={"Range": "bytes=0-3"})
                assert part.status_code == (206 if data else 416)
                assert ("'self'" in part.headers["content-security-policy"]) == expected
