"""Writing in a text: saved, kept as a draft, and brought together with what somebody else wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from tests.web.browser.axe import violations
from tests.web.browser.visits import PHONE

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Locator, Page

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


def edit(visits: Visits, item: dict[str, Any], **options: Any) -> tuple[Page, Locator]:
    page = visits.open(f"#/file/{item['id']}?edit=1", **options)
    field = page.get_by_role("textbox", name=item["name"])
    expect(field).to_be_focused()
    return page, field


def change(owner: Person, item: dict[str, Any], text: str) -> None:
    owner.http.put(f"/api/drive/files/{item['id']}/content", content=text).raise_for_status()


def test_a_text_is_opened_written_and_saved_by_keyboard(visits: Visits, owner: Person) -> None:
    item = owner.upload("notes.txt", "one\r\ntwo\r\n")
    page = visits.open(f"#/file/{item['id']}")
    page.get_by_role("button", name="Edit").click()
    field = page.get_by_role("textbox", name="notes.txt")
    expect(field).to_have_value("one\ntwo\n")
    page.keyboard.press("Control+End")
    expect(page.get_by_text("Line 3, column 1")).to_be_visible()
    page.keyboard.type("三")
    expect(page.get_by_text("Not saved")).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Version 2, saved")).to_be_visible()
    assert owner.content(item["id"]) == "one\r\ntwo\r\n三"
    assert violations(page) == []


def test_a_long_text_is_opened_at_its_top(visits: Visits, owner: Person) -> None:
    page, field = edit(visits, owner.upload("long.md", "\n".join(f"Line {number}" for number in range(500))))
    expect(field).to_be_focused()
    assert field.evaluate("field => [field.scrollTop, field.selectionStart]") == [0, 0]
    expect(page.get_by_text("Line 1, column 1")).to_be_visible()


def test_tab_indents_and_nobody_is_caught_in_the_field(visits: Visits, owner: Person) -> None:
    page, field = edit(visits, owner.upload("list.txt", "a\nb"))
    page.keyboard.press("Control+a")
    page.keyboard.press("Tab")
    expect(field).to_have_value("  a\n  b")
    page.keyboard.press("Shift+Tab")
    expect(field).to_have_value("a\nb")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(field).not_to_be_focused()


def test_a_draft_survives_a_page_that_is_left(visits: Visits, owner: Person) -> None:
    item = owner.upload("draft.txt", "stored")
    page, field = edit(visits, item)
    field.fill("written")
    asked: list[str] = []

    def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.once("dialog", leave)
    page.reload()
    expect(page.get_by_text("This is your draft of")).to_be_visible()
    assert asked == ["beforeunload"]
    expect(field).to_have_value("written")
    page.get_by_role("button", name="Discard the draft").click()
    expect(field).to_have_value("stored")


def test_who_leaves_without_saving_can_go_on_writing(visits: Visits, owner: Person) -> None:
    page, field = edit(visits, owner.upload("left.txt", "stored"))
    field.fill("written")
    page.get_by_role("button", name="Back to the file").click()
    expect(page.locator(".written")).to_have_text("stored")
    page.get_by_role("button", name="Go on writing").click()
    expect(field).to_have_value("written")


def test_both_texts_are_compared_and_mine_becomes_a_new_version(visits: Visits, owner: Person) -> None:
    item = owner.upload("both.txt", "first\nsecond\n")
    page, field = edit(visits, item)
    field.fill("first\nmine\n")
    change(owner, item, "first\ntheirs\n")
    expect(page.get_by_text("Somebody changed this file meanwhile.")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Somebody else saved this file meanwhile")
    difference = page.get_by_role("region", name="Differences from theirs to mine")
    expect(difference.get_by_role("row", name="Removed: theirs")).to_be_visible()
    expect(difference.get_by_role("row", name="Added: mine")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Keep mine as a new version").click()
    expect(page.get_by_text("Version 3, saved")).to_be_visible()
    assert owner.content(item["id"]) == "first\nmine\n"


def test_both_are_brought_together_by_hand(visits: Visits, owner: Person) -> None:
    item = owner.upload("merge.md", "a\n")
    page, field = edit(visits, item, language="zh", size=PHONE, dark=True)
    field.fill("a\nmine\n")
    change(owner, item, "a\ntheirs\n")
    page.get_by_role("button", name="保存").click()
    page.get_by_role("button", name="手动合并").click()
    expect(page.get_by_role("textbox", name="对方：版本 2")).to_have_value("a\ntheirs\n")
    field.fill("a\nmine\ntheirs\n")
    assert violations(page) == []
    page.get_by_role("button", name="保存").click()
    expect(page.get_by_text("版本 3，已保存")).to_be_visible()
    assert owner.content(item["id"]) == "a\nmine\ntheirs\n"


def test_theirs_is_taken_with_a_way_back(visits: Visits, owner: Person) -> None:
    item = owner.upload("take.txt", "a")
    page, field = edit(visits, item)
    field.fill("mine")
    change(owner, item, "theirs")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Take theirs").click()
    expect(field).to_have_value("theirs")
    page.get_by_role("button", name="Undo").click()
    expect(field).to_have_value("mine")


def test_another_name_is_no_conflict(visits: Visits, owner: Person) -> None:
    item = owner.upload("old name.txt", "a")
    page, field = edit(visits, item)
    field.fill("b")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Version 2, saved")).to_be_visible()
    owner.http.patch(f"/api/drive/items/{item['id']}", json={"name": "new name.txt"}).raise_for_status()
    renamed = page.get_by_role("textbox", name="new name.txt")
    renamed.fill("c")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Version 3, saved")).to_be_visible()
