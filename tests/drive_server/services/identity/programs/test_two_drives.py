"""Programs sign in at any of several services: one gives the code, another the tokens, and each ends them for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.errors import UnauthenticatedError
from drive_server.services.identity.programs.grants import Asked
from tests.drive_server.actors import new_person
from tests.drive_server.replicas import two_drives

if TYPE_CHECKING:
    from pathlib import Path

REDIRECT = "https://claude.example/callback"


async def test_what_one_service_grants_the_other_gives_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_drives(tmp_path, monkeypatch) as (a, b):
        person = await new_person(a.identity, "ana@example.com")
        await a.clients.register("a-program", {"client_name": "Claude", "redirect_uris": [REDIRECT]}, "10.0.0.1")
        program = await b.clients.find("a-program")
        assert program is not None
        asked = Asked(program, REDIRECT, is_redirect_explicit=True, challenge="x", resource="http://drive/mcp")
        code = await a.grants.grant(person, asked, ["read"], 7)
        grant = await b.grants.by_code(program, code)
        assert grant is not None
        tokens = await b.grants.redeem(grant)
        assert tokens is not None
        caller = await a.identity.authenticate_program(tokens.access)
        again = await a.grants.refresh(grant, tokens.refresh, grant.scopes)
        assert again is not None
        reused = await b.grants.by_refresh(program, tokens.refresh)
        with pytest.raises(UnauthenticatedError):
            await a.identity.authenticate_program(again.access)

    assert (caller.email, caller.key_name, sorted(caller.scopes)) == (
        "ana@example.com",
        "Claude (claude.example)",
        ["read"],
    )
    assert reused is None
