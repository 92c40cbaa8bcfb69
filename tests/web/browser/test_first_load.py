"""What a browser really fetches for the first view, beside what `tests.web.page_files` counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from api.page.files import PageFiles
from tests.web.page_files import LIMIT_BYTES

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.web.browser.visits import Visits

SENT = """
() => [...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")]
  .map((entry) => [new URL(entry.name).pathname, entry.encodedBodySize])
  .filter(([path]) => path === "/" || path.startsWith("/assets/"))
"""
QUIET = """
() => {
  const count = performance.getEntriesByType("resource").length;
  if (window.fetched_ !== count) [window.fetched_, window.since_] = [count, performance.now()];
  return performance.now() - window.since_ > 500;
}
"""
"""Nothing more is asked for; not "networkidle", which a page that follows events never is."""


@pytest.fixture(scope="module")
def page_files() -> PageFiles:
    """The modules as they lie in `api/web`."""
    return PageFiles()


def fetched(page: Page) -> dict[str, int]:
    """Return the bytes of the page's own files that were sent, by address."""
    page.wait_for_function(QUIET)
    return dict(page.evaluate(SENT))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_both_sides_are_fetched_within_the_limit(visits: Visits, language: str) -> None:
    page = visits.open(language=language)
    expect(page.locator(".files-side > *").first).to_be_attached()
    files = fetched(page)
    assert "/" in files
    assert len(files) > 1
    assert sum(files.values()) < LIMIT_BYTES, dict(sorted(files.items(), key=lambda one: -one[1])[:15])


def test_words_come_in_the_language_of_the_person_alone(visits: Visits) -> None:
    assert [name for name in fetched(visits.open(language="zh")) if name.endswith("/en.json")] == []
