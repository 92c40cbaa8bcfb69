"""Each route of LangGraph's API is tried without a key, by another site, and with keys that lack a scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx
import pytest

from tests.api.http.scopes.table import LANGGRAPH
from tests.drive_server.http.test_own_site import EVIL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.api.real_service import RealService
    from tests.e2e.person import Person

SCOPES = ("read", "write", "share", "delete")


def request_of(route: str, thread_id: str) -> tuple[str, str, Any]:
    """Return method, address and body of a request for a route."""
    method, path = route.split(" ")
    names = {"assistant_id": "drive_agent", "thread_id": thread_id, "namespace": "none"}
    for name in ("run_id", "checkpoint_id", "cron_id"):
        names[name] = str(uuid4())
    for name, value in names.items():
        path = path.replace(f"{{{name}}}", value)
    return method, path, bodies(thread_id).get(route, {})


def bodies(thread_id: str) -> dict[str, Any]:
    """Return the bodies of routes that need one."""
    return {
        "POST /runs/batch": [],
        "PUT /store/items": {"namespace": ["a"], "key": "k", "value": {}},
        "DELETE /store/items": {"namespace": ["a"], "key": "k"},
        "POST /threads/prune": {"thread_ids": [thread_id]},
        "POST /threads/{thread_id}/state/checkpoint": {"checkpoint": {"checkpoint_id": thread_id}},
    }


@pytest.fixture
def browser(commanded: RealService, owner: Person) -> Iterator[httpx.Client]:
    """The owner's browser, which is logged in."""
    with httpx.Client(base_url=commanded.url, timeout=60) as connected:
        assert connected.post("/api/auth/login", json={"token": owner.token}).status_code == 200
        yield connected


def test_nobody_gets_in_without_a_key(owner: Person) -> None:
    let_in: list[str] = []
    for route in LANGGRAPH:
        method, path, body = request_of(route, str(uuid4()))
        answer = owner.http.request(method, path, json=body, headers={"Authorization": ""})
        if (answer.status_code, answer.json()["code"]) != (401, "unauthenticated"):
            let_in.append(route)
    assert let_in == []


def test_a_key_needs_the_scopes_that_the_table_says(owner: Person) -> None:
    found = dict.fromkeys(LANGGRAPH, "")
    for scope in SCOPES:
        person = owner.with_key(f"no {scope}", *(one for one in SCOPES if one != scope))
        for route in LANGGRAPH:
            method, path, body = request_of(route, str(uuid4()))
            answer = person.http.request(method, path, json=body)
            if answer.status_code == 403 and answer.json()["code"] == "missing_scope":
                found[route] += scope[0]
        person.close()
    assert found == LANGGRAPH


@pytest.mark.parametrize("headers", EVIL, ids=str)
def test_no_page_of_another_site_acts_through_a_browser(browser: httpx.Client, headers: dict[str, str]) -> None:
    open_to_all: list[str] = []
    for route in LANGGRAPH:
        method, path, body = request_of(route, str(uuid4()))
        if method == "GET":
            continue
        answer = browser.request(method, path, json=body, headers=headers)
        if (answer.status_code, answer.json()["code"]) != (403, "forbidden"):
            open_to_all.append(route)
    assert open_to_all == []
