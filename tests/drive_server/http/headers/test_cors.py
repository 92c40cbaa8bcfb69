"""Pages of other sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from drive_server.kernel.settings import DriveSettings
from tests.drive_server.http.service import running
from tests.drive_server.http.wire import wired
from tests.handshake import HEADERS, INTRODUCTION

if TYPE_CHECKING:
    import httpx

    from tests.drive_server.http.service import Service

PAGE = "https://app.example.com"
ALLOW = "access-control-allow-origin"


async def preflight(client: httpx.AsyncClient, path: str, origin: str = PAGE, method: str = "PATCH") -> httpx.Response:
    headers = {"Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": "if-match"}
    return await client.options(path, headers=headers)


async def test_no_other_sites_page_may_read_anything_by_default_but_upload(service: Service) -> None:
    async with service.client() as client:
        assert (await preflight(client, "/api/drive/items/root")).status_code == 405
        answer = await client.get("/api/drive/items/root", headers={"Origin": PAGE})
        assert (answer.status_code, ALLOW in answer.headers) == (200, False)
        assert (await client.options("/api/drive/uploads", headers={"Origin": PAGE})).headers[ALLOW] == "*"


async def test_pages_of_the_sites_in_the_settings_may_call_the_api_with_a_key(drive_settings: DriveSettings) -> None:
    settings = drive_settings.model_copy(update={"cors_origins": f"{PAGE},http://localhost:5173"})
    async with running(settings) as service, service.client() as client:
        asked = await preflight(client, "/api/drive/items/root")
        assert (asked.status_code, asked.headers[ALLOW]) == (200, PAGE)
        assert "PATCH" in asked.headers["access-control-allow-methods"]
        assert asked.headers["access-control-allow-headers"] == "if-match"
        for path, status in (
            ("/api/drive/items/root", 200),
            ("/api/drive/items/nothing", 404),
            ("/threads/nothing", 404),
            ("/openapi.json", 200),
        ):
            answer = await client.get(path, headers={"Origin": PAGE})
            assert (answer.status_code, answer.headers[ALLOW]) == (status, PAGE), path
            assert "Retry-After" in answer.headers["access-control-expose-headers"]
            assert "access-control-allow-credentials" not in answer.headers
        too_large = await client.post("/api/drive/items", content=b"x" * 5_000_000, headers={"Origin": PAGE})
        assert (too_large.status_code, too_large.headers[ALLOW]) == (413, PAGE)

        strange = await client.get("/api/drive/items/root", headers={"Origin": "https://evil.example"})
        assert ALLOW not in strange.headers
        assert ALLOW not in (await preflight(client, "/api/drive/items/root", "https://evil.example")).headers
        for path in ("/login/x", "/connect/x", "/s/x", "/d/x"):
            assert ALLOW not in (await client.get(path, headers={"Origin": PAGE})).headers, path


MCP_HEADERS = ("authorization", "content-type", "last-event-id", "mcp-protocol-version", "mcp-session-id")


async def ask_to_call_mcp(client: httpx.AsyncClient, method: str = "POST", **more: str) -> httpx.Response:
    asked = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": ",".join(MCP_HEADERS)}
    return await client.options("/mcp", headers={"Origin": PAGE, **asked, **more})


async def test_a_page_of_a_site_in_the_settings_works_over_mcp_with_a_key(drive_settings: DriveSettings) -> None:
    async with running(drive_settings.model_copy(update={"cors_origins": PAGE})) as service, wired(service) as wire:
        for method in ("POST", "GET", "DELETE"):
            asked = await ask_to_call_mcp(wire.client, method)
            assert (asked.status_code, asked.headers[ALLOW]) == (200, PAGE)
            assert method in asked.headers["access-control-allow-methods"]
            assert set(asked.headers["access-control-allow-headers"].split(",")) == set(MCP_HEADERS)

        opened = await wire.client.post(
            "/mcp", json=wire.request("initialize", INTRODUCTION), headers={**HEADERS, "Origin": PAGE}
        )
        assert (opened.status_code, opened.headers[ALLOW]) == (200, PAGE)
        exposed = set(opened.headers["access-control-expose-headers"].split(", "))
        assert {"Mcp-Session-Id", "WWW-Authenticate"} <= exposed
        assert opened.headers["mcp-session-id"]
        assert "access-control-allow-credentials" not in opened.headers

        wrong = await wire.send(wire.request("ping"), Origin=PAGE, Authorization="Bearer dak_wrong")
        assert (wrong.status_code, wrong.headers[ALLOW]) == (401, PAGE)
        assert "www-authenticate" in wrong.headers


async def test_mcp_stays_closed_to_other_sites_and_to_foreign_names_of_this_machine(
    drive_settings: DriveSettings,
) -> None:
    async with running(drive_settings.model_copy(update={"cors_origins": PAGE})) as service, wired(service) as wire:
        evil = await wire.send(wire.request("ping"), Origin="https://evil.example")
        assert (evil.status_code, ALLOW in evil.headers) == (403, False)
        assert ALLOW not in (await ask_to_call_mcp(wire.client, Origin="https://evil.example")).headers
        rebound = await wire.send(wire.request("ping"), Origin=PAGE, Host="app.example.com")
        assert rebound.status_code == 421


async def test_without_the_setting_no_other_sites_page_comes_to_mcp(service: Service) -> None:
    async with wired(service) as wire:
        assert ALLOW not in (await ask_to_call_mcp(wire.client)).headers
        refused = await wire.send(wire.request("ping"), Origin=PAGE)
        assert (refused.status_code, ALLOW in refused.headers) == (403, False)


async def test_uploads_stay_open_to_any_page_whatever_the_setting(drive_settings: DriveSettings) -> None:
    settings = drive_settings.model_copy(update={"cors_origins": PAGE})
    async with running(settings) as service, service.client() as client:
        for origin in (PAGE, "https://other.example"):
            asked = await preflight(client, "/api/drive/uploads", origin, "POST")
            assert (asked.status_code, asked.headers.get_list(ALLOW)) == (204, ["*"])
            refused = await client.post("/api/drive/uploads", headers={"Origin": origin})
            assert refused.headers.get_list(ALLOW) == ["*"]


def test_the_setting_takes_origins_and_nothing_else() -> None:
    assert DriveSettings(cors_origins=f" {PAGE}/ , http://localhost:5173").resolved_cors_origins == (
        PAGE,
        "http://localhost:5173",
    )
    assert DriveSettings(cors_origins="*").resolved_cors_origins == ("*",)
    assert DriveSettings(cors_origins="").resolved_cors_origins == ()
    for wrong in ("app.example.com", "https://app.example.com/page", "ftp://x.example", "https://*.example.com x"):
        with pytest.raises(ValidationError):
            DriveSettings(cors_origins=wrong)
