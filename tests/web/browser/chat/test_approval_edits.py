"""Approvals that are changed, decided in a hurry, and decided by another clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.fakes.chat_model import ScriptedChatModel, tool_call
from tests.web.browser.axe import violations
from tests.web.browser.chat.approving import Router, ask, drive_with_plan, share, trash

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


@pytest.fixture(scope="module")
def router() -> Router:
    return Router()


@pytest.fixture(autouse=True)
def plan(owner: Person) -> dict[str, Any]:
    """A drive with one file and one folder."""
    return drive_with_plan(owner)


def test_a_change_offers_no_ids_and_its_folder_in_the_tree_of_folders(
    page: Page, owner: Person, model: ScriptedChatModel, plan: dict[str, Any]
) -> None:
    old = owner.folder("Old")
    owner.http.post("/api/users", json={"email": "bea@example.com"})
    owner.http.post(f"/api/drive/items/{old['id']}/shares", json={"email": "bea@example.com", "role": "viewer"})
    model.script[:] = [tool_call("move_item", "m", item_id=plan["id"], folder_id=old["id"], if_match=None), "Moved."]
    card = ask(page)
    card.get_by_role("button", name="Change").click()
    folder = card.get_by_role("button", name="Target folder: /Old")
    expect(folder).to_be_focused()
    expect(card.get_by_label("If the name is taken")).to_be_visible()
    assert [field.get_attribute("name") for field in card.locator("form [name]").all()] == ["folder_id", "on_conflict"]
    assert violations(page) == []
    folder.click()
    tree = page.get_by_role("tree", name="Folders")
    expect(tree.get_by_role("treeitem", name="Old", selected=True)).to_be_focused()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(folder).to_be_focused()
    folder.click()
    tree.get_by_role("treeitem", name="Archive").click()
    page.get_by_role("button", name="Choose this folder").click()
    expect(card.get_by_role("button", name="Target folder: /Archive")).to_be_focused()
    card.get_by_role("button", name="Approve with these changes").click()
    expect(card.get_by_role("link", name="/Archive/plan.md")).to_be_visible()
    card.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Moved.")).to_be_visible()
    assert owner.names() == ["Archive", "Old"]


def test_a_folder_that_is_moved_is_no_target_of_its_own_move(
    page: Page, owner: Person, model: ScriptedChatModel
) -> None:
    moved, old = owner.folder("Moved"), owner.folder("Old")
    owner.http.post("/api/users", json={"email": "bea@example.com"})
    owner.http.post(f"/api/drive/items/{old['id']}/shares", json={"email": "bea@example.com", "role": "viewer"})
    model.script[:] = [tool_call("move_item", "m", item_id=moved["id"], folder_id=old["id"]), "Kept."]
    card = ask(page)
    card.get_by_role("button", name="Change").click()
    card.get_by_role("button", name="Target folder: /Old").click()
    tree = page.get_by_role("tree", name="Folders")
    expect(tree.get_by_role("treeitem")).to_have_text(["My drive", "Archive", "Old"])


def test_the_record_of_a_changed_call_names_what_was_done(
    page: Page, owner: Person, model: ScriptedChatModel, plan: dict[str, Any]
) -> None:
    owner.http.post("/api/users", json={"email": "bea@example.com"})
    model.script[:] = [share(plan), "Shared."]
    card = ask(page)
    asked = card.locator(".approval-sentence").inner_text()
    card.get_by_role("button", name="Change").click()
    card.get_by_label("Access").select_option("Edit")
    card.get_by_role("button", name="Approve with these changes").click()
    expect(page.get_by_text("Shared.", exact=True)).to_be_visible()
    record = page.locator(".approval-closed")
    expect(record).to_contain_text("Approved with changes:")
    expect(record).to_contain_text("editor")
    assert asked not in record.inner_text()


def test_a_call_that_is_decided_twice_in_a_hurry_was_decided_here(
    page: Page, model: ScriptedChatModel, plan: dict[str, Any]
) -> None:
    model.script[:] = [trash(plan), "In the trash."]
    card = ask(page)
    approve = card.get_by_role("button", name="Approve")
    expect(approve).to_be_enabled()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    approve.evaluate("button => { button.click(); button.click(); }")
    expect(page.get_by_text("In the trash.")).to_be_visible()
    expect(page.get_by_text("Decided in another window or program.")).to_have_count(0)
    assert len([url for url in sent if "/api/approvals/" in url]) == 1


def test_who_has_another_time_can_decide_all_the_same(
    visits: Visits, owner: Person, model: ScriptedChatModel, plan: dict[str, Any]
) -> None:
    page = visits.open("")
    page.clock.install()
    page.clock.fast_forward("03:00:00")
    model.script[:] = [trash(plan), "In the trash."]
    card = ask(page)
    expect(card.get_by_role("timer")).to_contain_text("left")
    page.clock.fast_forward("00:02")
    card.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("In the trash.")).to_be_visible()
    assert owner.names() == ["Archive"]


def in_ten_minutes(route: Route) -> None:
    """Answer as the service does in ten minutes, but for the approval, which it takes for open. Streams go on."""
    if "/events" in route.request.url:
        return route.continue_()
    answer = route.fetch()
    date = format_datetime(datetime.now(UTC) + timedelta(minutes=10), usegmt=True)
    return route.fulfill(response=answer, headers={**answer.headers, "date": date})


def test_once_its_time_is_over_nothing_can_be_decided(
    visits: Visits, owner: Person, model: ScriptedChatModel, plan: dict[str, Any]
) -> None:
    page = visits.open("")
    page.clock.install()
    model.script[:] = [trash(plan), "Kept."]
    card = ask(page)
    expect(card.get_by_role("button", name="Approve")).to_be_visible()
    page.route("**/api/**", in_ten_minutes)
    page.clock.fast_forward("10:00")
    expect(card.get_by_role("timer")).to_have_text("The time is over")
    expect(card.get_by_role("button", name="Approve")).to_have_count(0)
    expect(card.get_by_role("button", name="Reject")).to_have_count(0)
    expect(card).to_contain_text("Move 'plan.md' to the trash")
    assert owner.names() == ["Archive", "plan.md"]
    waiting = owner.get("/api/approvals")["items"][-1]
    owner.http.post(f"/api/runs/{waiting['run_id']}/cancel")
    expect(card).to_have_count(0)
    page.unroute_all(behavior="ignoreErrors")
