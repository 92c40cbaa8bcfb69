"""Show PDFs in the viewer that only the whole of Chromium has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.drive_server.knowledge import samples
from tests.web.browser.chromium import WHOLE
from tests.web.browser.world import open_file

if TYPE_CHECKING:
    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


@pytest.fixture(scope="module")
def program() -> str:
    return WHOLE


def test_a_pdf_is_shown_in_the_page_and_its_cited_words_as_text(visits: Visits, owner: Person) -> None:
    item = owner.upload("leave.pdf", samples.pdf())
    page = open_file(visits, item)
    frame = page.frame_locator("iframe[title='leave.pdf']")
    expect(frame.locator("embed, html")).not_to_have_count(0)
    address = page.locator("iframe").get_attribute("src")
    assert address is not None
    assert "inline=true" in address
    cited = open_file(visits, item, "?version=1&start=0&end=20&place=page%3D2")
    expect(cited.locator("mark")).to_be_visible()
    cited.get_by_role("button", name="Pages").click()
    expect(cited.locator("iframe")).to_have_attribute("src", re.compile("[#&]page=2$"))


def test_a_pdf_is_shown_to_a_guest_too(visits: Visits, owner: Person) -> None:
    item = owner.upload("guest.pdf", samples.pdf())
    link = owner.http.post(f"/api/drive/items/{item['id']}/shares", json={"role": "viewer"}).json()
    page = visits.open(path=urlsplit(link["url"]).path, signed_in=False)
    with page.expect_response("**/content?inline=true*") as shown:
        expect(page.locator("iframe[title='guest.pdf']")).to_be_visible()
    assert shown.value.headers["content-type"] == "application/pdf"
    assert shown.value.status == 200


def test_a_file_that_search_cannot_read_says_why(visits: Visits, owner: Person) -> None:
    page = open_file(visits, owner.upload("secret.pdf", samples.pdf(password="geheim")))
    expect(page.get_by_text("a password protects it")).to_be_visible()
