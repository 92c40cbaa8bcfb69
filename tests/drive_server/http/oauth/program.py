"""A program that signs in by OAuth, step by step, and the browser of the person who is asked."""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.handshake import HEADERS, INITIALIZE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import httpx

    from tests.drive_server.http.service import Service

REDIRECT = "https://claude.example/callback"
VERIFIER = "a-verifier-that-is-long-enough-for-its-standard-0123"
METADATA = {"client_name": "Claude", "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none"}


def challenge_of(verifier: str) -> str:
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")


@dataclass
class Program:
    """A program that has registered, and the person's browser, which is logged in unless it says otherwise."""

    service: Service
    browser: httpx.AsyncClient
    outside: httpx.AsyncClient
    client: dict[str, Any]
    redirect: str = REDIRECT
    fields: dict[str, str] = field(default_factory=dict[str, str])

    def address(self, **changes: str | None) -> str:
        """Return the address to which the program leads the browser; None leaves a parameter out."""
        fields: dict[str, str | None] = {
            "client_id": self.client["client_id"],
            "redirect_uri": self.redirect,
            "response_type": "code",
            "code_challenge": challenge_of(VERIFIER),
            "code_challenge_method": "S256",
            "state": "the state",
            "scope": "read write",
            "resource": f"{self.service.url}/mcp",
            **changes,
        }
        return "/authorize?" + urlencode({name: value for name, value in fields.items() if value is not None})

    async def decide(
        self, action: str = "allow", scope: tuple[str, ...] = ("read", "write"), days: str = "7", **changes: str | None
    ) -> dict[str, str]:
        """Answer on the page, and return the parameters with which the browser is led back."""
        address = self.address(**changes)
        form = {"form": form_token(await self.browser.get(address)), "scope": list(scope), "days": days}
        answer = await self.browser.post(address, data={**form, "action": action})
        assert answer.status_code == 303, answer.text
        return answer_in(answer.headers["location"])

    async def token(self, **fields: str) -> httpx.Response:
        """Ask the token endpoint."""
        known = {"client_id": self.client["client_id"]}
        if secret := self.client.get("client_secret"):
            known["client_secret"] = secret
        return await self.outside.post("/token", data={**known, **fields})

    async def redeem(self, code: str, **changes: str) -> httpx.Response:
        fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.redirect}
        return await self.token(**{**fields, "code_verifier": VERIFIER, **changes})

    async def refresh(self, token: str, **changes: str) -> httpx.Response:
        return await self.token(grant_type="refresh_token", refresh_token=token, **changes)

    async def signed_in(self, **choices: Any) -> dict[str, Any]:
        """Return the tokens that the program gets after a yes."""
        answer = await self.redeem((await self.decide(**choices))["code"])
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def mcp(self, access: str) -> httpx.Response:
        """Return the answer of the MCP server to the first request with this token."""
        headers = {**HEADERS, "Authorization": f"Bearer {access}"}
        return await self.outside.post("/mcp", json=INITIALIZE, headers=headers)

    async def keys(self) -> list[dict[str, Any]]:
        """Return the keys in the person's list that a program of this test has."""
        found = (await self.browser.get("/api/auth/keys")).json()["items"]
        return [key for key in found if key["name"].endswith(")")]


def answer_in(location: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}


def form_token(page: httpx.Response) -> str:
    found = re.search(r"name='form' value='([^']+)'", page.text)
    assert found is not None, page.text
    return unescape(found[1])


async def register(service: Service, **metadata: Any) -> httpx.Response:
    async with service.client("") as client:
        return await client.post("/register", json={**METADATA, **metadata})


@asynccontextmanager
async def registered(service: Service, *, logs_in: bool = True, **metadata: Any) -> AsyncGenerator[Program]:
    """A program, and a browser in which the owner of the drive is logged in."""
    answer = await register(service, **metadata)
    assert answer.status_code == 201, answer.text
    async with service.client("") as browser, service.client("") as outside:
        if logs_in:
            await browser.post("/api/auth/login", json={"token": service.token})
        redirect = metadata.get("redirect_uris", [REDIRECT])[0]
        yield Program(service, browser, outside, answer.json(), redirect)
