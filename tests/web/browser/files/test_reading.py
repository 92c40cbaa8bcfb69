"""How much of a file could be read: said where it is open, and in its details; what waits for OCR, and photos."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.drive_server.knowledge.omitting.office import SAMPLES
from tests.drive_server.knowledge.readers.pages.test_ocr import photo
from tests.web.browser.axe import violations
from tests.web.browser.files.test_search import wait_for_index
from tests.web.browser.visits import NARROWEST
from tests.web.browser.world import open_file, row

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits

SCAN = Path(__file__).parents[3] / "drive_server" / "knowledge" / "readers" / "pages" / "scan.png"
OCR_MILLISECONDS = 120_000
"""Longest time for the start of OCR, a page, and the longest pause between two questions of the page."""


def details(page: Page, name: str, *, menu: str = "More actions", entry: str = "Details") -> Locator:
    page.get_by_role("button", name=menu, exact=True).click()
    page.get_by_role("menuitem", name=entry).first.click()
    return page.get_by_role("dialog").filter(has_text=name)


def partly_read(owner: Person) -> dict[str, object]:
    name, content = SAMPLES["docx"]["picture"]()
    item = owner.upload(name, content)
    wait_for_index(owner)
    return item


@pytest.mark.parametrize(
    ("language", "line", "kind", "menu", "entry"),
    [
        ("en", "Not all of this file could be read: 1 picture without text.", "1 picture", "More actions", "Details"),
        ("zh", "此文件未能全部读取：", "图片", "更多操作", "详细信息"),
    ],
)
def test_a_file_that_was_not_read_whole_says_of_what(
    visits: Visits, owner: Person, language: str, line: str, kind: str, menu: str, entry: str
) -> None:
    item = partly_read(owner)
    page = open_file(visits, item, language=language, size=NARROWEST)
    expect(page.get_by_role("note").filter(has_text=line)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROWEST[0]
    dialog = details(page, str(item["name"]), menu=menu, entry=entry)
    expect(dialog.get_by_role("listitem").filter(has_text=kind).first).to_be_visible()
    assert violations(page) == []
    owner.http.post(f"/api/drive/items/{item['id']}/trash").raise_for_status()


def test_a_file_that_was_read_whole_says_nothing(visits: Visits, owner: Person) -> None:
    item = owner.upload("whole.txt", "All of it.")
    wait_for_index(owner)
    page = visits.open()
    with page.expect_response("**/index"):
        page.goto(f"/#/file/{item['id']}")
    expect(page.get_by_role("region", name="whole.txt")).to_be_visible()
    expect(page.locator(".index-state")).to_have_count(0)


def test_a_photo_tells_when_where_and_by_what_it_was_taken(visits: Visits, owner: Person) -> None:
    taken = photo("2019:07:14 12:30:05", (33.0, 51.0, 31.2), (151.0, 12.0, 36.0))
    item = owner.upload("harbour.jpg", taken)
    wait_for_index(owner)
    page = open_file(visits, item, size=NARROWEST)
    expect(page.get_by_role("img", name="harbour.jpg")).to_be_visible()
    expect(page.locator(".index-state")).to_have_count(0)
    dialog = details(page, "harbour.jpg")
    for name, value in (
        ("Taken", "Jul 14, 2019, 12:30"),
        ("Coordinates", "-33.85867, 151.21000"),
        ("Camera", "EOS R6"),
    ):
        fact = dialog.locator("dl > div").filter(has=page.get_by_text(name, exact=True))
        expect(fact).to_contain_text(value)
    assert violations(page) == []


@pytest.mark.timeout(300)
def test_a_scan_waits_under_a_clock_and_is_shown_as_read_by_itself(visits: Visits, owner: Person) -> None:
    folder = owner.folder("Scans")
    page = visits.open(f"#/folder/{folder['id']}")
    item = owner.upload("leave.png", SCAN.read_bytes(), folder["id"])
    waits = row(page, "leave.png").get_by_role("img", name="Waiting for text recognition")
    expect(waits).to_be_visible(timeout=OCR_MILLISECONDS)
    expect(waits).to_have_count(0, timeout=OCR_MILLISECONDS)
    expect(row(page, "leave.png")).to_be_visible()
    # The clock goes when its text is recognised; then the text is put into the index.
    wait_for_index(owner)
    assert owner.get(f"/api/drive/items/{item['id']}")["index_state"] == "ready"


def test_guests_are_told_nothing_of_the_index(visits: Visits, owner: Person) -> None:
    item = partly_read(owner)
    link = owner.http.post(f"/api/drive/items/{item['id']}/shares", json={"role": "viewer"}).json()
    asked: list[str] = []
    page = visits.context(signed_in=False).new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(urlsplit(link["url"]).path)
    expect(page.get_by_text("See:")).to_be_visible()
    assert [url for url in asked if url.endswith("/index")] == []
    expect(page.locator(".index-state")).to_have_count(0)
