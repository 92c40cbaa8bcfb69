"""The id of a request: on every answer, and in the log."""

from __future__ import annotations

import logging
import re
from io import StringIO
from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.telemetry.formats import TextFormat
from drive_server.services.identity.service import IdentityService
from tests.drive_server.http.service import running

if TYPE_CHECKING:
    import httpx

    from drive_server.kernel.settings import DriveSettings
    from tests.drive_server.http.service import Service

ID = "X-Request-Id"


@pytest.mark.parametrize("path", ["/api/auth/me", "/api/nowhere", "/mcp", "/dav/", "/s/none", "/openapi.json"])
async def test_every_answer_has_an_id_of_its_own(owner_client: httpx.AsyncClient, path: str) -> None:
    first, second = [(await owner_client.get(path)).headers.get_list(ID) for _ in range(2)]
    assert len(first) == len(second) == 1
    assert re.fullmatch("[0-9a-f]{16}", first[0])
    assert first != second


@pytest.mark.parametrize(
    ("sent", "is_kept"),
    [("page-7f3a9c.1", True), ("short", False), ("x" * 65, False), ("two words here", False), ("<b>12345678", False)],
)
async def test_a_clients_own_id_is_kept_if_it_is_a_plain_word(
    owner_client: httpx.AsyncClient, sent: str, is_kept: bool
) -> None:
    answer = await owner_client.get("/api/drive/items/nothing", headers={ID: sent})
    assert (answer.headers[ID] == sent) == is_kept


async def test_a_failure_is_found_in_the_log_by_its_id(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    written = StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(TextFormat())

    async def broken(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(IdentityService, "read_as", broken)
    logging.getLogger().addHandler(handler)
    try:
        async with service.client() as client:
            failed = await client.get("/api/auth/me")
    finally:
        logging.getLogger().removeHandler(handler)
    assert (failed.status_code, failed.json()["code"]) == (500, "internal")
    assert f"GET me failed: RuntimeError (request={failed.headers[ID]} " in written.getvalue()


async def test_pages_of_other_sites_may_read_it(drive_settings: DriveSettings) -> None:
    settings = drive_settings.model_copy(update={"cors_origins": "https://app.example.com"})
    async with running(settings) as service, service.client() as client:
        answer = await client.get("/api/auth/me", headers={"Origin": "https://app.example.com"})
        assert ID in answer.headers["access-control-expose-headers"]
        assert ID in (await client.options("/api/drive/uploads")).headers["access-control-expose-headers"]
