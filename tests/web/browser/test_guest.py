"""Who came by a link: a password, a folder, a file, the end."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from playwright.sync_api import expect

from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST

if TYPE_CHECKING:
    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


def test_a_guest_opens_a_folder_with_a_password_and_downloads_from_it(visits: Visits, owner: Person) -> None:
    folder = owner.folder("Trip")
    owner.upload("route.txt", "north\n", folder["id"])
    link = owner.http.post(
        f"/api/drive/items/{folder['id']}/shares", json={"role": "viewer", "password": "open sesame"}
    )
    path = urlsplit(link.json()["url"]).path
    page = visits.open(path=path, signed_in=False, size=NARROWEST, dark=True)
    page.get_by_label("Password of this link").fill("wrong")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("alert")).not_to_be_empty()
    page.get_by_label("Password of this link").fill("open sesame")
    page.get_by_role("button", name="Open").click()
    page.get_by_role("link", name="route.txt").click()
    assert violations(page) == []
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.path().read_text() == "north\n"
    owner.http.delete(f"/api/drive/items/{folder['id']}/shares/{link.json()['id']}").raise_for_status()
    page.reload()
    expect(page.get_by_text("This link leads nowhere")).to_be_visible()


def test_without_scripts_the_plain_page_is_there(visits: Visits, owner: Person) -> None:
    item = owner.upload("plain.txt", "plain\n")
    link = owner.http.post(f"/api/drive/items/{item['id']}/shares", json={"role": "viewer"}).json()
    answer = owner.http.get(urlsplit(link["url"]).path, params={"plain": "1"}, headers={"accept": "text/html"})
    assert "plain.txt" in answer.text
    assert "<script" not in answer.text
    page = visits.context(signed_in=False, java_script_enabled=False).new_page()
    page.goto(urlsplit(link["url"]).path)
    page.get_by_role("link", name="Go on without scripts").click()
    expect(page.get_by_text("plain.txt")).to_be_visible()
