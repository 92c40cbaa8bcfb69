"""Who has access: given to people and by links, changed, taken back, undone."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST
from tests.web.browser.world import row

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


@pytest.fixture
def item(owner: Person) -> dict[str, Any]:
    made = owner.http.post(
        "/api/drive/files", params={"name": "plan.txt", "on_conflict": "rename"}, content="the plan\n"
    )
    return made.json()


def sharing(page: Page, item: dict[str, Any]) -> Locator:
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Share").first.click()
    return page.get_by_role("dialog", name=f"Share {item['name']}")


def test_a_person_is_given_access_another_role_and_none(visits: Visits, item: dict[str, Any], owner: Person) -> None:
    owner.http.post("/api/users", json={"email": "bea@example.com"})
    page = visits.open(f"#/file/{item['id']}", size=NARROWEST)
    dialog = sharing(page, item)
    dialog.get_by_role("textbox", name="Email, or group:NAME").or_(
        dialog.get_by_role("combobox", name="Email, or group:NAME")
    ).fill("bea@example.com")
    dialog.get_by_role("button", name="Share").click()
    role = dialog.get_by_role("combobox", name="Role of bea@example.com")
    expect(role).to_have_value("viewer")
    assert violations(page) == []
    with page.expect_response(lambda response: response.request.method == "PATCH"):
        role.select_option("Can edit")
    shares = owner.http.get(f"/api/drive/items/{item['id']}/shares").json()["shares"]
    assert [(one["email"], one["role"]) for one in shares] == [("bea@example.com", "editor")]
    dialog.get_by_role("button", name="Take access from bea@example.com").click()
    expect(role).to_have_count(0)
    assert owner.http.get(f"/api/drive/items/{item['id']}/shares").json()["shares"] == []


def test_an_address_without_an_account_is_told_before_and_a_link_is_offered(
    visits: Visits, item: dict[str, Any], owner: Person
) -> None:
    page = visits.open(f"#/file/{item['id']}", size=NARROWEST)
    dialog = sharing(page, item)
    who = dialog.get_by_role("textbox", name="Email, or group:NAME").or_(
        dialog.get_by_role("combobox", name="Email, or group:NAME")
    )
    who.fill("nobody-yet@example.com")
    dialog.get_by_role("button", name="Share", exact=True).click()
    expect(dialog.get_by_text("Nobody has an account with nobody-yet@example.com here.")).to_be_visible()
    assert owner.http.get(f"/api/drive/items/{item['id']}/shares").json()["shares"] == []
    assert violations(page) == []
    dialog.get_by_role("button", name="Make a link instead").click()
    expect(dialog.get_by_role("button", name="Make the link")).to_be_visible()
    dialog.get_by_role("button", name="Share anyway").click()
    expect(dialog.get_by_role("combobox", name="Role of nobody-yet@example.com")).to_have_value("viewer")
    expect(dialog.get_by_role("button", name="Share", exact=True)).to_be_visible()


def test_what_is_told_of_an_address_is_not_told_of_another_that_was_typed_meanwhile(
    visits: Visits, item: dict[str, Any]
) -> None:
    page = visits.open(f"#/file/{item['id']}")
    held: list[Route] = []
    page.route("**/contacts/account**", lambda route: held.append(route))  # noqa: PLW0108 - Playwright keeps a mark on it
    dialog = sharing(page, item)
    who = dialog.get_by_role("combobox", name="Email, or group:NAME")
    who.fill("nobody-yet@example.com")
    with page.expect_request("**/contacts/account**"):
        who.press("Enter")
    who.press("Enter")
    who.fill("somebody@example.com")
    with page.expect_response("**/contacts/account**"):
        held[0].continue_()
    page.evaluate("() => new Promise(requestAnimationFrame)")
    expect(dialog.get_by_role("button", name="Share", exact=True)).to_be_visible()
    expect(dialog.get_by_text("Nobody has an account")).to_have_count(0)
    expect(who).to_have_value("somebody@example.com")
    assert len(held) == 1


def test_a_link_with_a_password_and_an_end_is_made_copied_and_ended(
    visits: Visits, item: dict[str, Any], owner: Person
) -> None:
    page = visits.open(f"#/file/{item['id']}", dark=True)
    dialog = sharing(page, item)
    dialog.get_by_role("button", name="New link").click()
    dialog.get_by_label("Ends").select_option("In 7 days")
    dialog.get_by_label("Password").fill("open sesame")
    dialog.get_by_label("Most downloads").fill("3")
    assert violations(page) == []
    dialog.get_by_role("button", name="Make the link").click()
    expect(dialog.get_by_text("0 of 3 downloads")).to_be_visible()
    address = dialog.get_by_role("textbox", name="Address of the link").input_value()
    token = address.rsplit("/", 1)[1]
    assert owner.http.get(f"/api/links/{token}").status_code == 403
    assert owner.http.get(f"/api/links/{token}", headers={"X-Link-Password": "open%20sesame"}).status_code == 200
    assert violations(page) == []
    dialog.get_by_role("button", name="End this link").click()
    expect(dialog.get_by_text("There is no link.")).to_be_visible()
    assert owner.http.get(f"/api/links/{token}").status_code == 404


def test_who_is_not_known_is_told_beside_the_field(visits: Visits, item: dict[str, Any]) -> None:
    page = visits.open(f"#/file/{item['id']}", language="zh")
    page.get_by_role("button", name="更多操作", exact=True).click()
    page.get_by_role("menuitem", name="共享").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="共享", exact=True).click()
    expect(dialog.get_by_role("alert").first).not_to_be_empty()


LEAVING = {
    "en": ("Leave the share", "Leave “{}”?", "You left “{}”.", "Undo"),
    "zh": ("退出共享", "要退出“{}”的共享吗？", "已退出“{}”的共享。", "撤销"),
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_share_is_left_after_a_question_and_comes_back_by_undo(visits: Visits, owner: Person, language: str) -> None:
    action, question, done, undo = LEAVING[language]
    name = f"Together {language}"
    folder = owner.folder(name)
    with closing(owner.add_new("lea")) as lea:
        share = {"email": lea.email, "role": "editor"}
        owner.http.post(f"/api/drive/items/{folder['id']}/shares", json=share).raise_for_status()
        page = visits.open("#/shared", lea, language=language, size=NARROWEST)
        row(page, name).click(button="right")
        page.get_by_role("menuitem", name=action).click()
        dialog = page.get_by_role("alertdialog", name=question.format(name))
        expect(dialog).to_contain_text(owner.email)
        assert violations(page) == []
        dialog.get_by_role("button", name=action).click()
        expect(page.get_by_text(done.format(name))).to_be_visible()
        expect(row(page, name)).to_have_count(0)
        assert owner.get(f"/api/drive/items/{folder['id']}/shares")["shares"] == []
        page.get_by_role("button", name=undo).click()
        expect(row(page, name)).to_be_visible()


def test_what_is_ones_own_or_lies_in_a_shared_folder_is_not_left(visits: Visits, owner: Person) -> None:
    folder = owner.folder("Whole")
    owner.upload("inside.txt", "inside", folder["id"])
    with closing(owner.add_new("leo")) as leo:
        share = {"email": leo.email, "role": "editor"}
        owner.http.post(f"/api/drive/items/{folder['id']}/shares", json=share).raise_for_status()
        for page, name in ((visits.open(), "Whole"), (visits.open(f"#/folder/{folder['id']}", leo), "inside.txt")):
            row(page, name).click(button="right")
            expect(page.get_by_role("menuitem", name="Details")).to_be_visible()
            expect(page.get_by_role("menuitem", name="Leave the share")).to_have_count(0)
