"""The ways to sign in that the service offers, for who has not signed in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from tests.drive_server.http.service import running

if TYPE_CHECKING:
    from drive_server.kernel.settings import DriveSettings

LEAST = {"password": True, "passkey": True, "oidc": None, "one_time_link": True, "reset_by_mail": False}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, {}),
        ({"public_url": "http://192.0.2.7:8000"}, {"passkey": False}),
        ({"smtp_url": SecretStr("smtp://127.0.0.1:9"), "smtp_from": "a@example.com"}, {"reset_by_mail": True}),
        (
            {"oidc_issuer": "https://login.example.com/realms/home", "oidc_client_id": "drive"},
            {"oidc": {"name": "login.example.com", "url": "/login/oidc"}},
        ),
        ({"oidc_issuer": "https://login.example.com/realms/home"}, {}),
    ],
)
async def test_it_offers_what_works_to_who_has_no_key(
    drive_settings: DriveSettings, settings: dict[str, Any], told: dict[str, Any]
) -> None:
    named = {"public_url": "http://localhost:8000", **settings}
    async with running(drive_settings.model_copy(update=named)) as service, service.client("") as visitor:
        answer = await visitor.get("/api/auth/ways")
    assert (answer.status_code, answer.json()) == (200, LEAST | told)
