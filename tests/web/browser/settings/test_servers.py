"""A person's MCP servers: added, tested, changed, imported, decided about, deleted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from graph.settings import AgentSettings
from tests.fakes.small_mcp import ECHO, SmallServer, small_server
from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Route

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    """Servers may be on this machine."""
    return {"agent": AgentSettings(model="offline", mcp_private_hosts="127.0.0.1")}


@pytest.fixture
def small() -> Generator[SmallServer]:
    with small_server() as server:
        yield server


def test_a_server_is_added_tested_and_its_tools_decided_about(
    visits: Visits, owner: Person, small: SmallServer
) -> None:
    page = visits.open("#/settings/mcp")
    page.get_by_role("button", name="Add a server").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Name", exact=True).fill("Tickets")
    dialog.get_by_label("Address", exact=True).fill(small.url)
    dialog.get_by_role("button", name="Add a value").click()
    dialog.get_by_label("Headers: name 1").fill("X-Key")
    dialog.get_by_label("Value of X-Key").fill("a secret")
    assert violations(page) == []
    dialog.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("button", name="Test the connection").click()
    expect(page.get_by_text("It works: small 1")).to_be_visible()
    expect(page.get_by_text("Connected", exact=True)).to_be_visible()
    assert any(seen.get("X-Key") == "a secret" for seen in small.seen)
    page.get_by_role("switch", name="Approved in advance").check()
    expect(page.get_by_role("switch", name="Approved in advance")).to_be_checked()
    assert violations(page) == []

    small.tools = [{**ECHO, "description": "Say it back, and tell others."}]
    page.get_by_role("button", name="Test the connection").click()
    expect(page.get_by_role("row", name="Added: Say it back, and tell others.")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Accept the change").click()
    expect(page.get_by_role("switch", name="Approved in advance")).not_to_be_checked()
    page.get_by_role("switch", name="In use").uncheck()
    expect(page.get_by_role("switch", name="Approved in advance")).to_be_disabled()

    page.get_by_role("button", name="Edit").click()
    expect(page.get_by_label("Value of X-Key")).to_have_attribute("placeholder", "Set; type to replace")
    page.get_by_role("textbox", name="Name", exact=True).fill("Issues")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Issues")).to_be_visible()
    made = owner.get("/api/mcp-servers")["items"][0]
    assert made["headers"] == {"X-Key": True}

    page.get_by_role("button", name="Delete").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("You have no server yet.")).to_be_visible()


def test_a_server_that_can_not_be_reached_says_why(visits: Visits, owner: Person) -> None:
    body = {"name": "Nowhere", "base_url": "http://127.0.0.1:9/mcp"}
    made = owner.http.post("/api/mcp-servers", json=body).json()
    page = visits.open(f"#/settings/mcp/{made['id']}", language="zh", size=NARROWEST, dark=True)
    page.get_by_role("button", name="测试连接").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_text("无法使用")).to_be_visible()
    assert violations(page) == []
    owner.http.delete(f"/api/mcp-servers/{made['id']}")


def test_a_program_that_does_not_start_shows_its_last_lines(visits: Visits, owner: Person) -> None:
    made = owner.http.post("/api/mcp-servers", json={"name": "Dies", "base_url": "http://127.0.0.1:9/mcp"}).json()
    page = visits.open(f"#/settings/mcp/{made['id']}")
    # No program of this machine may be started by the service of these tests: the answer gets its lines on the way.
    page.route("**/api/mcp-servers/*/connect*", with_last_lines)
    page.get_by_role("button", name="Test").click()
    failed = page.get_by_role("alert")
    expect(failed).to_contain_text("It last wrote:")
    expect(failed.locator("pre")).to_have_text("fatal: <b>wrong</b> token")
    owner.http.delete(f"/api/mcp-servers/{made['id']}")


def with_last_lines(route: Route) -> None:
    answer = route.fetch()
    route.fulfill(response=answer, json={**answer.json(), "last_lines": "fatal: <b>wrong</b> token"})


def test_servers_of_another_program_are_imported(visits: Visits, owner: Person) -> None:
    page = visits.open("#/settings/mcp")
    page.get_by_role("button", name="Import from JSON").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("JSON").fill("{mcpServers")
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("This is no JSON.")
    listed = {
        "mcpServers": {"Calendar": {"url": "https://calendar.example.com/mcp", "headers": {"X-Key": "${input:k}"}}}
    }
    dialog.get_by_label("JSON").fill(json.dumps(listed))
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(dialog.get_by_text("X-Key")).to_be_visible()
    dialog.get_by_role("button", name="Close").last.click()
    expect(page.get_by_role("link", name="Calendar")).to_be_visible()
    assert violations(page) == []
    for one in owner.get("/api/mcp-servers")["items"]:
        owner.http.delete(f"/api/mcp-servers/{one['id']}")
