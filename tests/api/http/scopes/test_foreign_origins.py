"""No page of another site changes anything through a browser that is logged in: each route is asked by one."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.api.http.scopes.table import NEEDED
from tests.api.http.scopes.world import World, make_world
from tests.drive_server.http.test_own_site import EVIL

if TYPE_CHECKING:
    from collections.abc import Iterator

FINISH = "POST /mcp-servers/{server_id}/callback"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with ExitStack() as stack:
        yield make_world(tmp_path_factory.mktemp("foreign"), stack)


@pytest.fixture
def browser(made: World) -> Iterator[httpx.Client]:
    """The owner's browser, which is logged in."""
    with httpx.Client(base_url=made.running.url, timeout=60) as client:
        assert client.post("/api/auth/login", json={"token": made.owner.token}).status_code == 200
        yield client


@pytest.mark.parametrize("headers", EVIL, ids=str)
def test_no_route_that_changes_something_is_open_to_another_site(
    made: World, browser: httpx.Client, headers: dict[str, str]
) -> None:
    before, session = made.state(), browser.cookies["drive_session"]
    open_to_all: list[str] = []
    for route in NEEDED:
        method = route.split(" ")[0]
        if method == "GET":
            continue
        sent = browser.request(
            method, made.path_of(route), json=made.body_of(route), params=made.params_of(route), headers=headers
        )
        if (sent.status_code, sent.json()["code"]) != (403, "forbidden"):
            open_to_all.append(route)
    assert open_to_all == []
    assert browser.cookies["drive_session"] == session
    assert browser.get("/api/auth/me").status_code == 200
    assert made.state() == before


@pytest.mark.parametrize("headers", EVIL, ids=str)
@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_no_form_of_another_site_talks_with_the_assistant(
    made: World, browser: httpx.Client, headers: dict[str, str], content_type: str
) -> None:
    before = made.owner.get("/api/threads")
    form = {**headers, "content-type": content_type}
    for path in ("/api/chat", f"/api/runs/{made.ids['waiting_run']}/cancel", f"/api/runs/{made.ids['run_id']}/undo"):
        assert browser.post(path, content=b'{"message": "hi"}', headers=form).status_code == 403, path
    assert made.owner.get("/api/threads") == before


@pytest.mark.parametrize("headers", EVIL, ids=str)
def test_a_sign_in_to_a_server_is_not_finished_by_another_site(
    made: World, browser: httpx.Client, headers: dict[str, str]
) -> None:
    form = {**headers, "accept": "text/html"}
    answer = browser.post(made.path_of(FINISH), params=made.params_of(FINISH), headers=form)
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


def test_the_services_own_page_and_programs_are_let_in(made: World, browser: httpx.Client) -> None:
    thread = f"/api/threads/{made.ids['talked_thread']}"
    own = browser.patch(thread, json={"title": "Mine"}, headers={"Sec-Fetch-Site": "same-origin"})
    program = made.owner.http.patch(thread, json={"title": "Mine too"}, headers={"Origin": "https://app.example"})
    assert (own.status_code, program.status_code) == (200, 200)
