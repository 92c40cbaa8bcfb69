"""Programs that signed in by OAuth, beside a running service: listed and ended in the terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx

from tests.drive_server.http.oauth.program import METADATA, REDIRECT, VERIFIER, answer_in, challenge_of, form_token
from tests.handshake import HEADERS, INITIALIZE

if TYPE_CHECKING:
    from tests.e2e.service import Service


def sign_in(service: Service, browser: httpx.Client) -> dict[str, str]:
    """Return the tokens of a program that the owner lets in."""
    login = {"action": "log_in", "token": (service.data_dir / "token").read_text().strip()}
    client = browser.post("/register", json={**METADATA, "client_name": "A terminal's program"}).json()
    fields = {
        "client_id": client["client_id"],
        "redirect_uri": REDIRECT,
        "response_type": "code",
        "code_challenge": challenge_of(VERIFIER),
        "code_challenge_method": "S256",
        "scope": "read",
    }
    shown = browser.post("/authorize", params=fields, data=login, follow_redirects=True)
    choice = {"action": "allow", "form": form_token(shown), "scope": "read", "days": "7"}
    told = answer_in(browser.post("/authorize", params=fields, data=choice).headers["location"])
    body = {"grant_type": "authorization_code", "code": told["code"], "redirect_uri": REDIRECT}
    answer = browser.post("/token", data={**body, "client_id": client["client_id"], "code_verifier": VERIFIER})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_program_is_listed_and_ended_in_the_terminal(service: Service) -> None:
    with httpx.Client(base_url=service.url, timeout=60) as browser, httpx.Client(timeout=60) as program:
        tokens = sign_in(service, browser)
        headers = {**HEADERS, "Authorization": f"Bearer {tokens['access_token']}"}
        before = program.post(f"{service.url}/mcp", json=INITIALIZE, headers=headers)
        keys = json.loads(service.run("key", "list", "--json").stdout)
        named = [key["name"] for key in keys if key["name"].startswith("A terminal's program")]
        ended = service.run("key", "revoke", named[0])
        after = program.post(f"{service.url}/mcp", json=INITIALIZE, headers=headers)

    assert named == ["A terminal's program (claude.example)"]
    assert ended.returncode == 0, ended.stderr
    assert (before.status_code, after.status_code) == (200, 401)
    assert not [key for key in keys if key["prefix"].startswith("dat_")]
