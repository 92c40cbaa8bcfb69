"""Who has access: given to people and by links, changed, taken back, undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

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
