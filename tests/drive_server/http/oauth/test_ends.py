"""Ends of the access that a program has: with its person, their key, or a scope that is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select

from drive_server.storage.tables.programs import ProgramGrantRow
from tests.drive_server.http.oauth.program import registered

if TYPE_CHECKING:
    from tests.drive_server.http.service import Service

BOB = "bob@example.com"


async def test_a_scope_that_is_taken_from_a_program_is_taken_from_its_tokens(service: Service) -> None:
    async with registered(service) as program:
        tokens = await program.signed_in()
        [key] = await program.keys()
        changed = await program.browser.patch(f"/api/auth/keys/{key['id']}", json={"scopes": ["read"]})
        principal = await service.drive.identity.authenticate_program(tokens["access_token"])
        refreshed = await program.refresh(tokens["refresh_token"])

    assert changed.status_code == 200
    assert set(principal.scopes) == {"read"}
    assert refreshed.json()["scope"] == "read"


async def test_an_administrators_program_is_no_administrator(service: Service) -> None:
    async with registered(service) as program:
        tokens = await program.signed_in()
        principal = await service.drive.identity.authenticate_program(tokens["access_token"])

    assert (principal.email, principal.is_admin) == ("me@localhost", False)
    assert (principal.method, principal.key_name) == ("oauth", "Claude (claude.example)")


async def test_a_program_ends_with_the_key_that_its_person_came_in_with(service: Service) -> None:
    first = await service.add_person(BOB)
    async with service.client(first) as bob, registered(service, logs_in=False) as program:
        body = {"name": "for a browser", "scopes": ["read", "write"], "days": 30}
        made = (await bob.post("/api/auth/keys", json=body)).json()
        await program.browser.post("/api/auth/login", json={"token": made["key"]})
        tokens = await program.signed_in()
        before = await program.mcp(tokens["access_token"])
        await bob.delete(f"/api/auth/keys/{made['id']}")
        after = await program.mcp(tokens["access_token"])
        refreshed = await program.refresh(tokens["refresh_token"])

    assert (before.status_code, after.status_code, refreshed.status_code) == (200, 401, 400)


@pytest.mark.parametrize("is_removed", [False, True])
async def test_a_program_ends_with_its_person(service: Service, *, is_removed: bool) -> None:
    key = await service.add_person(BOB)
    async with service.client() as owner, registered(service, logs_in=False) as program:
        await program.browser.post("/api/auth/login", json={"token": key})
        tokens = await program.signed_in()
        if is_removed:
            ended = await owner.delete(f"/api/users/{BOB}", params={"delete_files": True})
        else:
            ended = await owner.patch(f"/api/users/{BOB}", json={"is_disabled": True})
        opened = await program.mcp(tokens["access_token"])
        refreshed = await program.refresh(tokens["refresh_token"])
        async with service.drive.database.read() as session:
            left = await session.scalar(select(func.count()).select_from(ProgramGrantRow))

    assert ended.status_code in {200, 204}, ended.text
    assert (opened.status_code, refreshed.status_code) == (401, 400)
    assert left == (0 if is_removed else 1)


async def test_a_program_ends_its_access_by_its_refresh_token_too(service: Service) -> None:
    async with registered(service) as program:
        tokens = await program.signed_in()
        fields = {"token": tokens["refresh_token"], "client_id": program.client["client_id"]}
        answers = [
            await program.outside.post("/revoke", data={**fields, "token_type_hint": hint})
            for hint in ("refresh_token", "refresh_token", "something_else")
        ]
        unknown = await program.outside.post("/revoke", data={**fields, "token": "unknown"})
        opened = await program.mcp(tokens["access_token"])

    assert [answer.status_code for answer in (*answers, unknown)] == [200] * 4
    assert opened.status_code == 401
