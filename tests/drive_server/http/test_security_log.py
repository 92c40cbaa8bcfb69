"""The log as whoever runs the service reads it: who came in, who was refused, what was slow; and no content."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from drive_server.kernel.clock import utc_now
from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.telemetry.formats import JsonFormat, TextFormat, fields_of
from drive_server.kernel.telemetry.requests import logger as requests_logger
from drive_server.kernel.telemetry.security import SECURITY
from drive_server.storage.tables.people import ApiKeyRow
from tests.drive_server.http.routes.people.test_passwords import BOB, FIRST, log_in, set_password
from tests.drive_server.http.service import running

if TYPE_CHECKING:
    import httpx

    from drive_server.kernel.settings import DriveSettings
    from tests.drive_server.http.service import Service

WRONG = "not the password at all"


def security_lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [getattr(record, "details", {}) for record in caplog.records if record.name == SECURITY]


def told(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str, str]]:
    return [(one["event"], one["outcome"], one.get("reason", "")) for one in security_lines(caplog)]


@pytest.fixture(autouse=True)
def _all_levels(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, SECURITY)


async def test_wrong_sign_ins_leave_a_line_each_and_a_right_one_too(
    service: Service, bobs_client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    await set_password(bobs_client, FIRST)
    caplog.clear()
    async with service.client("") as client:
        for _ in range(3):
            await log_in(client, WRONG)
        await log_in(client, FIRST)
        await client.post("/api/auth/logout")
    refused = ("sign_in", "refused", "unauthenticated")
    assert told(caplog) == [refused, refused, refused, ("sign_in", "done", ""), ("sign_out", "done", "")]
    assert [one["method"] for one in security_lines(caplog)[:4]] == ["password"] * 4
    assert len(security_lines(caplog)[3]["actor"]) == 32


async def test_keys_that_are_made_used_beyond_their_scopes_unknown_and_ended_leave_lines(
    service: Service, owner_client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    made = (await owner_client.post("/api/auth/keys", json={"name": "reader", "scopes": ["read"]})).json()
    async with service.client(made["key"]) as reader:
        refused = await reader.post("/api/drive/items", json={"kind": "folder", "name": "x", "parent_id": "root"})
    async with service.client("dk_unknown") as stranger:
        unknown = await stranger.get("/api/auth/me")
    await owner_client.delete(f"/api/auth/keys/{made['id']}")
    assert (refused.status_code, unknown.status_code) == (403, 401)
    assert told(caplog) == [
        ("key_made", "done", ""),
        ("access", "refused", "missing_scope"),
        ("access", "refused", "unauthenticated"),
        ("key_ended", "done", ""),
    ]


async def test_keys_that_were_revoked_or_have_expired_leave_a_line(
    service: Service, owner_client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    made = [
        (await owner_client.post("/api/auth/keys", json={"name": name, "scopes": ["read"], "days": 1})).json()
        for name in ("revoked", "expired")
    ]
    await owner_client.delete(f"/api/auth/keys/{made[0]['id']}")
    async with service.drive.database.write() as session:
        row = await session.get_one(ApiKeyRow, made[1]["id"])
        row.expires_at = utc_now() - timedelta(days=1)
    caplog.clear()
    for path in ("/api/auth/me", "/api/drive/items/root", "/mcp", "/dav/"):
        for one in made:
            async with service.client(one["key"]) as program:
                assert (await program.get(path)).status_code == 401
    assert told(caplog) == [("access", "refused", "unauthenticated")] * 8


async def test_people_whose_account_was_disabled_leave_a_line_with_their_key_and_with_their_password(
    service: Service, owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    await set_password(bobs_client, FIRST)
    bob = (await bobs_client.get("/api/auth/me")).json()
    await owner_client.patch(f"/api/users/{bob['id']}", json={"is_disabled": True})
    caplog.clear()
    assert (await bobs_client.get("/api/auth/me")).status_code == 401
    async with service.client("") as browser:
        await log_in(browser, FIRST)
    assert told(caplog) == [("access", "refused", "account_disabled"), ("sign_in", "refused", "account_disabled")]


async def test_a_wrong_token_or_password_that_is_typed_in_is_one_sign_in_that_was_refused(
    service: Service, bobs_client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    await set_password(bobs_client, FIRST)
    async with service.client("") as browser:
        await browser.post("/api/auth/login", json={"token": "dak_unknown"})
        await log_in(browser, FIRST)
        caplog.clear()
        await browser.post("/api/auth/proof", json={"token": "dak_unknown"})
        await browser.post("/api/auth/proof", json={"password": WRONG})
    assert told(caplog) == [("sign_in", "refused", "unauthenticated")] * 2
    assert [one["method"] for one in security_lines(caplog)] == ["token", "password"]


async def test_too_many_wrong_keys_are_a_limit_that_was_met(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(12):
        async with service.client(f"dak_{number}") as stranger:
            await stranger.get("/api/auth/me")
    assert told(caplog)[-2:] == [("access", "refused", "unauthenticated"), ("limit", "refused", "rate_limited")]


async def test_what_fails_is_told_by_its_operation_and_kind_and_not_by_its_address_or_words(
    service: Service, owner_client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken_sync(*_: object, **__: object) -> None:
        raise StorageFailureError("secret-content")

    async def broken(*_: object, **__: object) -> None:
        broken_sync()

    monkeypatch.setattr(service.drive.files, "list_folder_sync", broken_sync)
    monkeypatch.setattr(service.drive.visits, "open", broken)
    await owner_client.get("/api/drive/items/%2Fsecret-name/children")
    await owner_client.get("/s/secret-link")
    written = "\n".join(map(TextFormat().format, caplog.records))
    assert written.count("failed: StorageFailureError") == 2
    assert "secret" not in written


async def test_a_request_without_a_key_is_no_refusal(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    async with service.client("") as client:
        assert (await client.get("/api/auth/me")).status_code == 401
    assert told(caplog) == []


async def test_lines_name_the_request_its_address_and_the_person_and_no_secret_or_content(
    service: Service, bobs_client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "drive_server")
    lines: list[tuple[str, dict[str, Any]]] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append((JsonFormat().format(record), fields_of(record)))

    kept = Kept()
    logging.getLogger().addHandler(kept)
    try:
        await set_password(bobs_client, FIRST)
        await bobs_client.post("/api/drive/files?name=secret-name.txt", content=b"secret-content")
        async with service.client("") as client:
            await log_in(client, WRONG)
            answer = await client.get("/api/auth/me", headers={"X-Request-Id": "mine-12345"})
    finally:
        logging.getLogger().removeHandler(kept)
    assert answer.headers["x-request-id"] == "mine-12345"
    written = "\n".join(line for line, _ in lines)
    for word in (FIRST, WRONG, BOB, "secret-name", "secret-content", bobs_client.headers["authorization"][7:]):
        assert word not in written
    requests = [fields for line, fields in lines if requests_logger.name in line]
    assert {fields["address"] for fields in requests} == {"127.0.0.1"}
    assert requests[-1]["request"] == "mine-12345"
    assert any("user" in fields for fields in requests)


async def test_a_request_that_waits_long_for_its_answer_is_a_warning_that_names_the_operation(
    drive_settings: DriveSettings, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(drive_settings.model_copy(update={"slow_seconds": 1e-9})) as service, service.client() as client:
        await client.post("/api/drive/files?name=a.txt", content=b"x")
        await client.get("/api/drive/items/%2Fa.txt")
    slow = [record.getMessage() for record in caplog.records if record.name == requests_logger.name]
    assert slow[-1].startswith("GET get_file_info: 200 after ")
    assert all(record.levelno == logging.WARNING for record in caplog.records if record.name == requests_logger.name)
