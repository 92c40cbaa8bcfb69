"""The bundle of the page: the number and size of its requests, and each of its views."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.web.browser.test_first_load import QUIET
from tests.web.browser.views import Words, furnish, views

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from api.page.files import PageFiles
    from tests.e2e.person import Person
    from tests.fakes.chat_model import ScriptedChatModel
    from tests.web.browser.visits import Visits

MAX_REQUESTS = 15
MAX_BYTES = 110_000
SENT = """
() => [...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")]
  .map((entry) => [entry.name, entry.transferSize])
"""


@pytest.fixture(scope="module")
def page_files(bundled: PageFiles) -> PageFiles:
    return bundled


def sent(page: Page) -> list[tuple[str, int]]:
    """Return all requests of a page with the bytes of their answers, once nothing more is asked for."""
    page.wait_for_function(QUIET)
    return page.evaluate(SENT)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_first_view_takes_few_requests(visits: Visits, language: str) -> None:
    page = visits.open(language=language)
    expect(page.locator(".files-side > *").first).to_be_attached()
    found = sent(page)
    assert len(found) <= MAX_REQUESTS, found
    assert sum(size for _, size in found) < MAX_BYTES, found


def test_every_view_is_there(visits: Visits, owner: Person, model: ScriptedChatModel) -> None:
    world = furnish(owner, model)
    page = visits.open(language="zh")
    for view in views(world).values():
        view.open(page, Words("zh"))
    addresses = [address for address, _ in page.evaluate(SENT)]
    assert [one for one in addresses if "/assets/" in one and "/bundle/" not in one] == []
