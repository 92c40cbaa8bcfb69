"""What stories begin with, beyond what a person does over HTTP (`tests.e2e.person`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


def empty(person: Person) -> None:
    """Take everything out of a person's drive, so that a story begins with nothing."""
    for item in person.get("/api/drive/items/root/children", limit="1000")["items"]:
        assert person.http.post(f"/api/drive/items/{item['id']}/trash").is_success
    assert person.http.delete("/api/drive/trash").is_success


def begin_with_bills(owner: Person, *names: str) -> None:
    """Begin with a folder that has one file, and beside it files of these names."""
    empty(owner)
    bills = owner.folder("Bills")
    owner.upload("march.txt", "12 EUR", bills["id"])
    for name in names:
        owner.upload(name, name)


def row(page: Page, name: str) -> Locator:
    """Return the row of a file or folder in the list."""
    return page.get_by_role("row", name=name)


def open_file(visits: Visits, item: dict[str, Any], query: str = "", **options: Any) -> Page:
    """Return the page with a file open, at the place that `query` names."""
    page = visits.open(f"#/file/{item['id']}{query}", **options)
    expect(page.get_by_role("heading", name=item["name"])).to_be_visible()
    return page


def give_token(place: Page | Locator, token: str) -> None:
    """Sign in with a token where the page asks who is there."""
    place.get_by_role("button", name="Use an access token or API key").click()
    place.get_by_label("Access token or API key").fill(token)
    place.get_by_role("button", name="Sign in", exact=True).click()
