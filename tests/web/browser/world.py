"""What stories begin with, beyond what a person does over HTTP (`tests.e2e.person`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.e2e.person import Person


def empty(person: Person) -> None:
    """Take everything out of a person's drive, so that a story begins with nothing."""
    for item in person.get("/api/drive/items/root/children", limit="1000")["items"]:
        assert person.http.post(f"/api/drive/items/{item['id']}/trash").is_success
    assert person.http.delete("/api/drive/trash").is_success
