"""Uploads: the tray, taken names, whole folders, lost networks, a page that is loaded again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from api.page.files import PageFiles
from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST
from tests.web.browser.world import empty, give_token

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


@pytest.fixture(scope="module")
def page_files() -> PageFiles:
    """The modules as they lie in `api/web`: `UPLOAD` calls one of them."""
    return PageFiles()


UPLOAD = """([files, folder]) => {
    const entry = document.querySelector("script[type=module]").src.replace("app/main.js", "files/uploads/uploads.js");
    const made = files.map(({name, text, size, path, modified}) => {
        const file = new File([size ? new Uint8Array(size) : text], name, {lastModified: modified ?? 1});
        if (path) Object.defineProperty(file, "webkitRelativePath", {value: path});
        return file;
    });
    import(entry).then((module) => module.uploadFiles(made, folder));
}"""


def upload(page: Page, *files: dict[str, Any], folder: str = "root") -> Locator:
    """Upload files as the list of files does, and return the tray."""
    page.evaluate(UPLOAD, [list(files), folder])
    return page.get_by_role("region", name="Uploads")


HAS_FILE = """() => new Promise((resolve) => {
    const look = () => {
        const opening = indexedDB.open("uploads", 1);
        opening.onsuccess = () => {
            const counting = opening.result.transaction("files").objectStore("files").count();
            counting.onsuccess = () => (counting.result ? resolve() : setTimeout(look, 20));
        };
    };
    look();
})"""
"""Waits until the browser keeps a file."""


@pytest.fixture(autouse=True)
def _nothing_before(owner: Person) -> None:
    empty(owner)


def test_files_of_all_names_arrive_and_open_from_the_tray(page: Page, owner: Person) -> None:
    names = ["notes.txt", "报告 二〇二六.md", "🎉 party.txt", "קובץ.txt", "empty.bin"]
    tray = upload(page, *({"name": name, "text": "" if name == "empty.bin" else name} for name in names))
    expect(tray.get_by_text("5 files uploaded.")).to_be_visible()
    assert sorted(owner.names()) == sorted(names)
    expect(page.get_by_role("status").filter(has_text="5 files uploaded.")).to_be_attached()
    assert violations(page) == []
    tray.get_by_role("button", name="Open notes.txt").click()
    expect(page).to_have_url(re.compile("#/file/"))
    tray.get_by_role("button", name="Clear the list").click()
    expect(tray).to_have_count(0)


def test_a_taken_name_is_asked_about_once_for_all(page: Page, owner: Person) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        owner.upload(name, "old")
    tray = upload(page, *({"name": name, "text": "new"} for name in ("a.txt", "b.txt", "c.txt", "a.txt")))
    dialog = page.get_by_role("dialog", name="This name is taken")
    dialog.get_by_role("button", name="Replace").click()
    dialog.get_by_role("checkbox", name="Do the same for").check()
    dialog.get_by_role("button", name="Keep both").click()
    expect(tray.get_by_text("4 files uploaded.")).to_be_visible()
    items = owner.get("/api/drive/items/root/children")["items"]
    assert sorted(item["version"] for item in items) == [1, 1, 1, 1, 1, 2]
    assert {"a.txt", "b.txt", "c.txt"} < {item["name"] for item in items}


def test_a_folder_arrives_with_all_that_is_in_it(page: Page, owner: Person) -> None:
    owner.folder("Trip")
    paths = ["Trip/a.txt", "Trip/2026/b.txt", "Trip/2026/c.txt", "Trip/图片/d.txt"]
    tray = upload(page, *({"name": path.split("/")[-1], "text": "x", "path": path} for path in paths))
    expect(tray.get_by_text("4 files uploaded.")).to_be_visible()
    assert owner.names() == ["Trip"]
    for path in paths:
        assert owner.http.get("/api/drive/items/" + f"/{path}".replace("/", "%2F")).is_success, path


def test_an_upload_is_paused_and_goes_on(page: Page, owner: Person) -> None:
    page.route("**/api/drive/uploads/*", lambda route: None if route.request.method == "PATCH" else route.continue_())
    tray = upload(page, {"name": "large.bin", "size": 5_000_000})
    expect(tray.get_by_role("progressbar", name="large.bin")).to_be_visible()
    tray.get_by_role("button", name="Pause large.bin").click()
    expect(tray.get_by_text("1 upload paused")).to_be_visible()
    page.unroute_all(behavior="ignoreErrors")
    tray.get_by_role("button", name="Resume large.bin").click()
    expect(tray.get_by_text("1 file uploaded.")).to_be_visible()
    assert owner.names() == ["large.bin"]


def test_an_upload_is_cancelled_and_leaves_nothing(page: Page, owner: Person) -> None:
    page.route("**/api/drive/uploads/*", lambda route: None if route.request.method == "PATCH" else route.continue_())
    tray = upload(page, {"name": "unwanted.bin", "size": 5_000_000})
    expect(tray.get_by_role("progressbar", name="unwanted.bin")).to_be_visible()
    tray.get_by_role("button", name="Cancel unwanted.bin").click()
    expect(tray.get_by_text("Cancelled").first).to_be_visible()
    page.unroute_all(behavior="ignoreErrors")
    assert owner.names() == []


def test_a_lost_network_stops_nothing_for_good(page: Page, owner: Person) -> None:
    tray = upload(page, {"name": "now.txt", "text": "now"})
    expect(tray.get_by_text("1 file uploaded.")).to_be_visible()
    page.context.set_offline(True)
    upload(page, {"name": "later.txt", "text": "later"})
    expect(tray.get_by_text("No connection: it goes on by itself")).to_be_visible()
    page.context.set_offline(False)
    expect(tray.get_by_text("2 files uploaded.")).to_be_visible()
    assert owner.names() == ["later.txt", "now.txt"]


def test_a_page_that_is_loaded_again_goes_on_where_it_was(page: Page, owner: Person) -> None:
    held: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if held or route.request.method != "PATCH":
            route.continue_()
        else:
            held.append(route)

    page.route("**/api/drive/uploads/*", hold_the_first)
    tray = upload(page, {"name": "large.bin", "size": 5_000_000})
    expect(tray.get_by_role("progressbar", name="large.bin")).to_be_visible()
    until_kept(page, "keys.some((key) => key.startsWith('tus::'))")
    page.evaluate(HAS_FILE)
    page.once("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(tray.get_by_text("1 file uploaded.")).to_be_visible()
    assert owner.names() == ["large.bin"]
    until_kept(page, "!keys.some((key) => key.startsWith('tus::') || key === 'unfinished-uploads')")


def test_a_session_that_is_over_asks_to_sign_in_and_goes_on(page: Page, owner: Person) -> None:
    tray = upload(page, {"name": "before.txt", "text": "before"})
    expect(tray.get_by_text("1 file uploaded.")).to_be_visible()
    page.context.clear_cookies()
    upload(page, {"name": "after.txt", "text": "after"})
    dialog = page.get_by_role("dialog", name="Your session is over. Sign in again to go on.")
    give_token(dialog, owner.token)
    expect(tray.get_by_text("2 files uploaded.")).to_be_visible()
    assert owner.names() == ["after.txt", "before.txt"]


def test_files_that_are_dropped_on_the_list_are_uploaded_into_its_folder(page: Page, owner: Person) -> None:
    folder = owner.folder("Inbox")
    page.goto(f"/#/folder/{folder['id']}")
    expect(page.get_by_text("Inbox").first).to_be_visible()
    dropped = page.evaluate_handle("""() => {
        const transfer = new DataTransfer();
        transfer.items.add(new File(["x"], "收据.txt"));
        return transfer;
    }""")
    for kind in ("dragenter", "dragover", "drop"):
        page.locator(".files-main > :last-child").dispatch_event(kind, {"dataTransfer": dropped})
    expect(page.get_by_role("region", name="Uploads").get_by_text("1 file uploaded.")).to_be_visible()
    assert owner.names(folder["id"]) == ["收据.txt"]


def until_kept(page: Page, condition: str) -> None:
    """Wait for what the browser keeps; the page's policy lets Playwright's own way of waiting run nothing."""
    page.evaluate(f"""() => new Promise((resolve) => {{
        const look = () => {{
            const keys = Object.keys(localStorage);
            if ({condition}) resolve();
            else setTimeout(look, 20);
        }};
        look();
    }})""")


def test_what_is_refused_says_why_and_can_be_tried_again(visits: Visits, owner: Person) -> None:
    page = visits.open(size=NARROWEST, dark=True)
    full = {"code": "quota_exceeded", "detail": "There is no room for it.", "hint": "Empty the trash."}
    page.route(
        "**/api/drive/uploads",
        lambda route: route.fulfill(status=507, json=full, content_type="application/problem+json"),
    )
    tray = upload(page, {"name": "a.txt", "text": "a"})
    expect(tray.get_by_text("There is no room for it. Empty the trash.")).to_be_visible()
    expect(tray.get_by_text("1 file could not be uploaded.")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROWEST[0]
    page.unroute_all()
    tray.get_by_role("button", name="Try a.txt again").click()
    expect(tray.get_by_text("1 file uploaded.")).to_be_visible()
    assert owner.names() == ["a.txt"]


def test_a_file_keeps_its_own_date_and_the_list_is_sorted_by_it(page: Page, owner: Person) -> None:
    dates = {"new.txt": 1_577_880_000_000, "old.txt": 915_192_000_000, "before 1970.txt": -86_400_000}
    tray = upload(page, *({"name": name, "text": name, "modified": date} for name, date in dates.items()))
    expect(tray.get_by_text("3 files uploaded.")).to_be_visible()
    owner.upload("today.txt", "today")
    kept = {item["name"]: item["modified_at"][:10] for item in owner.children()}
    kept.pop("today.txt")
    assert kept == {"new.txt": "2020-01-01", "old.txt": "1999-01-01", "before 1970.txt": "1969-12-31"}
    rows = page.get_by_role("grid").locator("[role=row][data-index]")
    page.get_by_role("button", name="Changed", exact=True).click()
    expect(rows).to_have_text([re.compile(name) for name in ("today", "new", "old", "before 1970")])
    page.get_by_role("button", name="Changed", exact=True).click()
    expect(rows).to_have_text([re.compile(name) for name in ("before 1970", "old", "new", "today")])
    expect(rows.nth(1)).to_contain_text("1999")
