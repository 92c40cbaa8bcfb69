"""People sign in to MCP servers by OAuth: the SDK's own authorization server and protected server, over real HTTP."""

from __future__ import annotations

import json
import logging
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from graph.settings import AgentSettings
from tests.api.command_model import CommandModel
from tests.api.real_service import RealService
from tests.api.serving import execute
from tests.fakes.oauth_server import RESOURCE_METADATA, SERVICE_METADATA, oauth_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.person import Person
    from tests.fakes.oauth_server import OAuthServer

SERVERS = "/api/mcp-servers"
HTML = {"accept": "text/html", "sec-fetch-site": "same-origin"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sign-ins")


@pytest.fixture(scope="module")
def running(data: Path, locked: OAuthServer) -> Iterator[RealService]:
    del locked  # it ends after the service, whose connections it waits for
    agent = AgentSettings(model="offline", mcp_private_hosts="127.0.0.1")
    service = RealService(data, CommandModel(), agent=agent).start()
    yield service
    service.stop()


@pytest.fixture(scope="module")
def locked() -> Iterator[OAuthServer]:
    with oauth_server() as server:
        yield server


@pytest.fixture
def server(locked: OAuthServer) -> OAuthServer:
    locked.overrides.clear()
    locked.provider.lasts = 3600
    return locked


@pytest.fixture
def person(running: RealService) -> Iterator[Person]:
    owner = running.owner()
    added = owner.add_new("ann")
    owner.close()
    yield added
    added.close()


@pytest.fixture
def path(person: Person, server: OAuthServer) -> str:
    """The path of a new server of the person."""
    made = person.http.post(SERVERS, json={"name": "Locked", "base_url": server.mcp_url})
    return f"{SERVERS}/{made.json()['id']}"


def begin(person: Person, path: str) -> str:
    answer = person.http.post(f"{path}/authorize")
    assert answer.status_code == 200, answer.text
    return answer.json()["url"]


def finish(person: Person, path: str, params: Any) -> httpx.Response:
    return person.http.post(f"{path}/callback", params=params)


def sign_in(person: Person, path: str, server: OAuthServer) -> None:
    done = finish(person, path, server.agree(begin(person, path)))
    assert done.status_code == 200, done.text


def reason(answer: httpx.Response) -> str:
    assert answer.status_code == 409, answer.text
    return answer.json()["details"]["reason"]


def connect(person: Person, path: str) -> dict[str, Any]:
    return person.http.post(f"{path}/connect").json()


def test_a_server_that_demands_a_sign_in_says_so_and_works_after_it(
    person: Person, path: str, server: OAuthServer
) -> None:
    before = connect(person, path)
    shown = person.get(path)
    assert (before["status"], before["code"], shown["code"], shown["signed_in"]) == (
        "error",
        "sign_in",
        "sign_in",
        False,
    )

    address = httpx.URL(begin(person, path))
    assert address.params["code_challenge_method"] == "S256"
    assert address.params["redirect_uri"].endswith(f"{path}/callback")
    done = finish(person, path, server.agree(str(address)))

    assert done.json()["signed_in"]
    assert [tool["name"] for tool in connect(person, path)["tools"]] == ["secret_of_the_day"]
    assert server.provider.resources[-1] == server.mcp_url


def test_a_browser_is_asked_and_finishes_by_a_form_of_the_same_site(
    person: Person, path: str, server: OAuthServer
) -> None:
    params = server.agree(begin(person, path))
    cookie = person.http.post("/api/auth/login", json={"token": person.token}).cookies["drive_session"]
    with httpx.Client(base_url=person.http.base_url, headers=HTML) as browser:
        asked = browser.get(f"{path}/callback", params=params)
        stranger = browser.post(f"{path}/callback", params=params)
        browser.cookies.set("drive_session", cookie)
        foreign = browser.post(f"{path}/callback", params=params, headers={"sec-fetch-site": "cross-site"})
        done = browser.post(f"{path}/callback", params=params)

    assert "<form method='post'>" in asked.text
    assert (stranger.status_code, foreign.status_code, done.status_code) == (401, 403, 200)
    assert "Locked" in done.text
    assert person.get(path)["signed_in"]


def test_a_state_counts_once_and_only_for_its_person_and_server(
    running: RealService, person: Person, path: str, server: OAuthServer
) -> None:
    owner = running.owner()
    other = owner.add_new("bob")
    owner.close()
    theirs = other.http.post(SERVERS, json={"name": "Locked", "base_url": server.mcp_url}).json()["id"]
    params = server.agree(begin(person, path))

    assert reason(finish(person, path, {**params, "state": "another"})) == "sign_in_gone"
    assert finish(other, path, params).status_code == 404
    assert reason(finish(other, f"{SERVERS}/{theirs}", params)) == "sign_in_gone"
    assert finish(person, path, params).status_code == 200
    assert reason(finish(person, path, params)) == "sign_in_gone"
    other.close()


def test_a_code_that_was_used_or_made_for_another_sign_in_gives_nothing(
    person: Person, path: str, server: OAuthServer
) -> None:
    used = server.agree(begin(person, path))
    finish(person, path, used)
    person.http.delete(f"{path}/authorize")

    state = httpx.URL(begin(person, path)).params["state"]
    assert reason(finish(person, path, {"code": used["code"], "state": state})) == "sign_in_failed"

    first = server.agree(begin(person, path))
    state = httpx.URL(begin(person, path)).params["state"]
    assert reason(finish(person, path, {"code": first["code"], "state": state})) == "sign_in_failed"
    assert not person.get(path)["signed_in"]


def test_a_new_sign_in_ends_the_one_before(person: Person, path: str, server: OAuthServer) -> None:
    first = server.agree(begin(person, path))
    begin(person, path)
    assert reason(finish(person, path, first)) == "sign_in_gone"


def test_a_person_or_service_that_refuses_ends_the_sign_in(person: Person, path: str) -> None:
    state = httpx.URL(begin(person, path)).params["state"]
    denied = finish(person, path, {"state": state, "error": "access_denied"})
    assert reason(denied) == "sign_in_denied"
    assert reason(finish(person, path, {"state": state, "code": "x"})) == "sign_in_gone"


def test_answers_of_another_issuer_are_refused(person: Person, path: str, server: OAuthServer) -> None:
    params = server.agree(begin(person, path))
    assert reason(finish(person, path, {**params, "iss": "https://evil.example"})) == "issuer"
    assert reason(finish(person, path, params)) == "sign_in_gone"

    params = server.agree(begin(person, path))
    assert finish(person, path, {**params, "iss": server.url}).status_code == 200

    server.overrides[SERVICE_METADATA] = server.metadata(issuer="https://evil.example")
    assert reason(person.http.post(f"{path}/authorize")) == "issuer"


def resource(server: OAuthServer, **changes: Any) -> dict[str, Any]:
    return {"resource": server.mcp_url, "authorization_servers": [server.url], **changes}


PRIVATE = ["https://127.0.0.2", "https://10.0.0.1", "https://169.254.169.254", "https://[::1]"]


@pytest.mark.parametrize("address", PRIVATE)
def test_metadata_that_leads_into_a_private_network_is_refused(
    person: Person, path: str, server: OAuthServer, address: str
) -> None:
    server.overrides[RESOURCE_METADATA] = resource(server, authorization_servers=[address])
    assert reason(person.http.post(f"{path}/authorize")) == "address_refused"
    del server.overrides[RESOURCE_METADATA]
    for field in ("authorization_endpoint", "registration_endpoint"):
        server.overrides[SERVICE_METADATA] = server.metadata(**{field: f"{address}/x"})
        assert reason(person.http.post(f"{path}/authorize")) == "address_refused", field
        del server.overrides[SERVICE_METADATA]
    server.overrides[SERVICE_METADATA] = server.metadata(token_endpoint=f"{address}/token")
    params = server.agree(begin(person, path))
    assert reason(finish(person, path, params)) == "address_refused"


def test_metadata_without_tls_or_pkce_or_of_another_resource_is_refused(
    person: Person, path: str, server: OAuthServer
) -> None:
    changes: list[tuple[str, dict[str, Any], str]] = [
        (SERVICE_METADATA, server.metadata(authorization_endpoint="http://login.example.com/"), "not_encrypted"),
        (SERVICE_METADATA, server.metadata(registration_endpoint="http://93.184.216.34/"), "not_encrypted"),
        (SERVICE_METADATA, server.metadata(code_challenge_methods_supported=["plain"]), "no_pkce"),
        (RESOURCE_METADATA, resource(server, resource="https://bank.example/mcp"), "sign_in_failed"),
        ("/register", {"error": "no"}, "not_registered"),
    ]
    for place, answer, code in changes:
        server.overrides = {place: answer}
        assert reason(person.http.post(f"{path}/authorize")) == code


def test_a_registered_client_takes_the_place_of_registering(person: Person, path: str, server: OAuthServer) -> None:
    begin(person, path)
    own = next(reversed(server.provider.clients.values()))
    assert own.client_id
    server.overrides["/register"] = {"error": "no"}
    begun = person.http.post(f"{path}/authorize", json={"client_id": own.client_id})
    assert httpx.URL(begun.json()["url"]).params["client_id"] == own.client_id


def test_a_server_that_needs_no_sign_in_or_has_no_address_says_so(person: Person, server: OAuthServer) -> None:
    server.overrides["/open"] = {}
    made = person.http.post(SERVERS, json={"name": "Open", "type": "streamableHttp", "base_url": f"{server.url}/open"})
    assert reason(person.http.post(f"{SERVERS}/{made.json()['id']}/authorize")) == "sign_in_unneeded"


def test_a_token_that_is_over_is_refreshed_once_for_many_callers(
    person: Person, path: str, server: OAuthServer
) -> None:
    sign_in(person, path, server)
    connect(person, path)
    server.provider.refreshes = 0
    server.provider.access.clear()
    with ThreadPoolExecutor(6) as many:
        answers = list(many.map(connect, [person] * 6, [path] * 6))
    assert [answer["status"] for answer in answers] == ["connected"] * 6
    assert server.provider.refreshes == 1


def test_a_token_is_refreshed_before_its_end(person: Person, path: str, server: OAuthServer) -> None:
    server.provider.lasts = 20
    sign_in(person, path, server)
    server.provider.lasts, server.provider.refreshes = 3600, 0
    assert connect(person, path)["status"] == "connected"
    assert server.provider.refreshes == 1
    assert connect(person, path)["status"] == "connected"
    assert server.provider.refreshes == 1


def test_a_refused_refresh_asks_for_a_new_sign_in(person: Person, path: str, server: OAuthServer) -> None:
    sign_in(person, path, server)
    server.provider.access.clear()
    server.provider.refresh.clear()
    assert connect(person, path)["code"] == "sign_in"
    assert not person.get(path)["signed_in"]
    sign_in(person, path, server)
    assert connect(person, path)["status"] == "connected"


def test_signing_out_deletes_and_revokes_the_tokens(person: Person, path: str, server: OAuthServer, data: Path) -> None:
    sign_in(person, path, server)
    connect(person, path)
    assert server.provider.access
    out = person.http.delete(f"{path}/authorize")
    assert out.json()["signed_in"] is False
    assert not server.provider.access
    assert execute(data, "SELECT credentials FROM mcp_servers WHERE id = ?", path.split("/")[-1]) == [("",)]
    assert connect(person, path)["code"] == "sign_in"


def test_tokens_do_not_follow_a_server_to_another_address(person: Person, path: str, server: OAuthServer) -> None:
    sign_in(person, path, server)
    moved = person.http.put(path, json={"base_url": f"{server.url}/other/mcp"})
    assert moved.json()["signed_in"] is False
    person.http.put(path, json={"base_url": server.mcp_url})
    assert connect(person, path)["code"] == "sign_in"

    params = server.agree(begin(person, path))
    person.http.put(path, json={"base_url": f"{server.url}/other/mcp"})
    finish(person, path, params)
    assert person.get(path)["signed_in"] is False


@pytest.mark.sqlite("looks at all that is in the file of the database")
def test_tokens_and_codes_are_in_no_answer_log_or_plain_row(
    person: Person, path: str, server: OAuthServer, data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        params = server.agree(begin(person, path))
        answers = [finish(person, path, params).text]
        server.provider.access.clear()
        answers += [json.dumps(connect(person, path)), person.http.get(SERVERS).text]
        secrets = [*server.provider.access, *server.provider.refresh, params["code"]]
        server.overrides["/token"] = {"access_token": secrets[0], "token_type": "odd"}
        server.provider.access.clear()
        answers.append(json.dumps(connect(person, path)))
        answers.append(finish(person, path, server.agree(begin(person, path))).text)
    with closing(sqlite3.connect(data / "api.db")) as database:
        answers += ["\n".join(database.iterdump())]
    # The test's own client, and the log of requests, which the service switches off.
    others = ("httpx", "httpcore", "uvicorn.access")
    records = [record for record in caplog.records if not record.name.startswith(others)]
    ours = [record.getMessage() + (record.exc_text or "") for record in records]
    assert [text for text in [*answers, *ours] if any(secret in text for secret in secrets)] == []
