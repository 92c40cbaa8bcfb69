"""Assistants, what they remember and may do unasked, and what others shared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.fakes.chat_model import tool_call
from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST

if TYPE_CHECKING:
    from tests.e2e.person import Person
    from tests.fakes.chat_model import ScriptedChatModel
    from tests.web.browser.visits import Visits


def test_an_assistant_is_made_the_default_with_a_server_and_deleted(visits: Visits, owner: Person) -> None:
    server = owner.http.post(
        "/api/mcp-servers", json={"name": "Tickets", "base_url": "https://a.example.com/mcp"}
    ).json()
    page = visits.open("#/settings/assistants")
    page.get_by_role("button", name="Add an assistant").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Archivist")
    dialog.get_by_label("Instructions").fill("Never change a file.")
    dialog.get_by_role("checkbox", name="Only some tools of the drive").check()
    dialog.get_by_label("Tools").last.fill("no_such_tool")
    dialog.get_by_role("checkbox", name="Tickets").check()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("no_such_tool")
    expect(dialog.get_by_label("Instructions")).to_have_value("Never change a file.")
    assert violations(page) == []
    dialog.get_by_label("Tools").last.fill("list_folder, read_file")
    dialog.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Make default Archivist").click()
    made = next(one for one in owner.get("/api/assistants")["items"] if one["name"] == "Archivist")
    expect(page.get_by_role("button", name="Make default Archivist")).to_have_count(0)
    assert made["drive_tools"] == ["list_folder", "read_file"]
    assert owner.get(f"/api/assistants/{made['id']}/mcp-servers")["server_ids"] == [server["id"]]
    page.get_by_role("button", name="Delete Archivist").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Archivist", exact=True)).to_have_count(0)
    owner.http.delete(f"/api/mcp-servers/{server['id']}")


def test_a_fact_is_edited_and_forgotten(visits: Visits, owner: Person) -> None:
    day = "2026-01-02T03:04:05Z"
    fact = {"id": "1", "text": "Tea, no sugar", "source": {"kind": "said"}, "created_at": day, "updated_at": day}
    answer = owner.http.post("/api/memories/import", json={"export_id": "story", "items": [fact]})
    assert answer.is_success, answer.text
    page = visits.open("#/settings/memory", language="zh", size=NARROWEST)
    page.get_by_role("button", name="编辑 Tea").click()
    page.get_by_role("textbox", name="记住的内容").fill("Coffee")
    page.get_by_role("button", name="保存").click()
    expect(page.get_by_role("button", name="忘记 Coffee")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="忘记 Coffee").click()
    page.get_by_role("alertdialog").get_by_role("button", name="忘记").click()
    expect(page.get_by_text("还没有记住任何内容。")).to_be_visible()


def test_a_grant_is_shown_with_its_bounds_and_withdrawn(
    visits: Visits, owner: Person, model: ScriptedChatModel
) -> None:
    page = visits.open("#/settings/grants")
    expect(page.get_by_text("Nothing is allowed in advance")).to_be_visible()
    folder = owner.folder("Invoices")
    item = owner.upload("bill.txt", "1", folder["id"])
    model.script[:] = [tool_call("trash_item", item_id=item["id"]), "Done."]
    with owner.chat("Take the bill away") as turn:
        approval = turn.until("approval_needed")
        grant = {"folder_id": folder["id"], "minutes": 60, "max_items": 5}
        assert owner.answer(approval, "approve", grant=grant).is_success
        turn.finish()
    page.reload()
    expect(page.get_by_text("Move to the trash", exact=True).first).to_be_visible()
    expect(page.get_by_role("button", name="Invoices", exact=True)).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("Nothing is allowed in advance")).to_be_visible()
    assert owner.get("/api/grants")["items"] == []


def test_what_others_shared_is_listed_and_read(visits: Visits, owner: Person) -> None:
    ida = owner.add_new("ida")
    item = owner.upload("menu.txt", "soup")
    share = owner.http.post(f"/api/drive/items/{item['id']}/shares", json={"email": ida.email, "role": "viewer"})
    assert share.is_success, share.text
    page = visits.open("", ida)
    page.get_by_role("link", name="1 thing shared with you is new").click()
    expect(page.get_by_role("link", name="menu.txt")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Mark all as read").click()
    expect(page.get_by_text("New", exact=True)).to_have_count(0)
    assert ida.get("/api/notices")["unread"] == 0
    page.goto("/#/folder/root")
    expect(page.get_by_role("link", name="shared with you")).to_have_count(0)
    ida.close()
