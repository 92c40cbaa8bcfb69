"""Who came by a link: a password, a folder, a file, the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from playwright.sync_api import FilePayload, expect

from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST

if TYPE_CHECKING:
    from playwright.sync_api import Route

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


def link_to(owner: Person, item: dict[str, Any], **terms: Any) -> str:
    made = owner.http.post(f"/api/drive/items/{item['id']}/shares", json={"role": "viewer", **terms})
    assert made.is_success, made.text
    return urlsplit(made.json()["url"]).path


def test_a_guest_sees_what_is_in_a_file_without_downloading_it(visits: Visits, owner: Person) -> None:
    folder = owner.folder("Papers")
    owner.upload("plan.md", "# The plan\n\n<img src=x onerror=alert(1)>We ship on **Friday**.", folder["id"])
    owner.upload("costs.csv", "name,amount\nrent,100\n", folder["id"])
    owner.upload("data.bin", bytes(range(256)), folder["id"])
    path = link_to(owner, folder)
    page = visits.open(path=path, signed_in=False)
    page.get_by_role("link", name="plan.md").click()
    expect(page.get_by_role("region", name="plan.md").get_by_text("We ship on Friday.")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="Up").click()
    page.get_by_role("link", name="costs.csv").click()
    expect(page.get_by_role("cell", name="100")).to_be_visible()
    page.get_by_role("link", name="Up").click()
    page.get_by_role("link", name="data.bin").click()
    expect(page.get_by_text("This kind of file can't be shown here.")).to_be_visible()
    expect(page.get_by_text("Owner")).to_have_count(0)
    assert owner.email not in page.content()


def test_a_look_by_a_link_with_a_limit_is_asked_for(visits: Visits, owner: Person) -> None:
    item = owner.upload("once.txt", "Read me once.")
    path = link_to(owner, item, max_downloads=1)

    def downloads() -> int:
        shares = owner.get(f"/api/drive/items/{item['id']}/shares")["shares"]
        return next(share["downloads"] for share in shares if share["kind"] == "link")

    page = visits.open(path=path, signed_in=False)
    expect(page.get_by_text("This counts as one of the link's downloads.")).to_be_visible()
    expect(page.get_by_text("Read me once.")).to_have_count(0)
    assert downloads() == 0
    page.get_by_role("button", name="Show what is in it").click()
    expect(page.get_by_text("Read me once.")).to_be_visible()
    assert downloads() == 1


def test_by_an_editors_link_files_are_uploaded_and_replaced(visits: Visits, owner: Person) -> None:
    folder = owner.folder("Drop box")
    owner.upload("report.txt", "old", folder["id"])
    page = visits.open(path=link_to(owner, folder, role="editor"), signed_in=False, size=NARROWEST)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload files").click()
    names = ("report.txt", "照片 🎉.txt")
    chooser.value.set_files([FilePayload(name=name, mimeType="text/plain", buffer=b"new") for name in names])
    expect(page.get_by_text("2 files are here now.").first).to_be_visible()
    assert owner.names(folder["id"]) == ["report (2).txt", "report.txt", "照片 🎉.txt"]
    assert violations(page) == []
    page.get_by_role("link", name="report.txt").click()
    expect(page.get_by_text("old", exact=True)).to_be_visible()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Replace with a file").click()
    chooser.value.set_files([{"name": "other.txt", "mimeType": "text/plain", "buffer": b"newer"}])
    expect(page.get_by_text("newer", exact=True)).to_be_visible()
    (item,) = [one for one in owner.children(folder["id"]) if one["name"] == "report.txt"]
    assert owner.content(item["id"]) == "newer"
    assert len(owner.get(f"/api/drive/files/{item['id']}/versions")["versions"]) == 2


def test_a_guest_sees_how_far_an_upload_is_and_stops_it(visits: Visits, owner: Person) -> None:
    folder = owner.folder("Slow drop box")
    page = visits.open(path=link_to(owner, folder, role="editor"), signed_in=False, size=NARROWEST)
    page.route("**/files?name=second*", lambda _: None)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload files").click()
    names = ("first.txt", "second.txt", "third.txt")
    chooser.value.set_files([FilePayload(name=name, mimeType="text/plain", buffer=b"new") for name in names])
    expect(page.get_by_role("status").filter(has_text="Uploading second.txt, 2 of 3 …")).to_be_visible()
    expect(page.get_by_role("progressbar", name="second.txt")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Stop").press("Enter")
    expect(page.get_by_text("1 file is here now.").first).to_be_visible()
    expect(page.get_by_role("button", name="Upload files")).to_be_focused()
    assert owner.names(folder["id"]) == ["first.txt"]


def test_an_upload_goes_on_while_the_guest_opens_another_folder(visits: Visits, owner: Person) -> None:
    folder = owner.folder("Deep drop box")
    owner.folder("Below", folder["id"])
    page = visits.open(path=link_to(owner, folder, role="editor"), signed_in=False)
    held: list[Route] = []
    page.route("**/files?name=slow*", lambda route: held.append(route))  # noqa: PLW0108 - Playwright keeps a mark on it
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload files").click()
    with page.expect_request("**/files?name=slow*"):
        chooser.value.set_files([FilePayload(name="slow.txt", mimeType="text/plain", buffer=b"s")])
    page.get_by_role("link", name="Below").click()
    expect(page.get_by_role("heading", name="Below")).to_be_visible()
    expect(page.get_by_role("progressbar", name="slow.txt")).to_be_visible()
    held[0].continue_()
    expect(page.get_by_text("1 file is here now.").first).to_be_visible()
    expect(page.get_by_role("heading", name="Below")).to_be_visible()
    assert owner.names(folder["id"]) == ["Below", "slow.txt"]


def test_an_upload_that_is_refused_is_told(visits: Visits, owner: Person) -> None:
    folder = owner.folder("Drop box that ends")
    page = visits.open(path=link_to(owner, folder, role="editor"), signed_in=False)
    expect(page.get_by_role("button", name="Upload files")).to_be_visible()
    assert owner.http.post(f"/api/drive/items/{folder['id']}/trash").is_success
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload files").click()
    chooser.value.set_files([FilePayload(name="late.txt", mimeType="text/plain", buffer=b"late")])
    expect(page.get_by_role("region", name="Notices").get_by_text("There is no such link.")).to_be_visible()
    expect(page.get_by_role("button", name="Upload files")).to_have_count(0)


def test_by_a_viewers_link_nothing_can_be_changed(visits: Visits, owner: Person) -> None:
    folder = owner.folder("Only to read")
    owner.upload("a.txt", "a", folder["id"])
    page = visits.open(path=link_to(owner, folder), signed_in=False)
    expect(page.get_by_role("link", name="a.txt")).to_be_visible()
    expect(page.get_by_role("button", name="Upload files")).to_have_count(0)
    page.get_by_role("link", name="a.txt").click()
    expect(page.get_by_text("a", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Replace with a file")).to_have_count(0)
