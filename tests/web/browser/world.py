"""What stories begin with, beyond what a person does over HTTP (`tests.e2e.person`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


def empty(person: Person) -> None:
    """Take everything out of a person's drive, so that a story begins with nothing."""
    for item in person.get("/api/drive/items/root/children", limit="1000")["items"]:
        assert person.http.post(f"/api/drive/items/{item['id']}/trash").is_success
    assert person.http.delete("/api/drive/trash").is_success


def open_file(visits: Visits, item: dict[str, Any], query: str = "", **options: Any) -> Page:
    """Return the page with a file open, at the place that `query` names."""
    page = visits.open(f"#/file/{item['id']}{query}", **options)
    expect(page.get_by_role("heading", name=item["name"])).to_be_visible()
    return page
