"""All of a person's drive that an action could change, as one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.e2e.person import Person


def state_of(person: Person) -> dict[str, Any]:
    """Return what is in a drive and its trash by path, with contents and who has access; and what is shared with it."""
    state = dict(_below(person, "root", ""))
    state["(trash)"] = person.names("trash")
    state["(shared with me)"] = sorted(person.names("shared"))
    return state


def _below(person: Person, folder_id: str, path: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for item in person.children(folder_id):
        place = f"{path}/{item['name']}"
        shares = person.get(f"/api/drive/items/{item['id']}/shares")["shares"]
        content = person.http.get(f"/api/drive/files/{item['id']}/content").content if item["kind"] == "file" else b""
        found.append((place, (item["id"], content, sorted(map(str, shares)))))
        if item["kind"] == "folder":
            found += _below(person, item["id"], place)
    return found
