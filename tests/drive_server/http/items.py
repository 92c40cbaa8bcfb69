"""Items of a drive as tests make them over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

DRIVE = "/api/drive"
ITEMS = f"{DRIVE}/items"
FILES = f"{DRIVE}/files"


async def folder(client: httpx.AsyncClient, name: str, parent: str = "root") -> dict[str, Any]:
    """Make a folder."""
    return done(await client.post(ITEMS, json={"kind": "folder", "name": name, "parent_id": parent}))


async def file(
    client: httpx.AsyncClient, name: str, content: bytes = b"one\ntwo\n", parent: str = "root"
) -> dict[str, Any]:
    """Upload a file."""
    return done(await client.post(FILES, params={"name": name, "parent_id": parent}, content=content))


async def share(client: httpx.AsyncClient, item: dict[str, Any], email: str, role: str) -> None:
    """Give a person a role."""
    done(await client.post(f"{ITEMS}/{item['id']}/shares", json={"email": email, "role": role}))


async def names(client: httpx.AsyncClient, ref: str = "root") -> list[str]:
    """Return the names in a folder, or in the trash."""
    return [item["name"] for item in done(await client.get(f"{ITEMS}/{ref}/children"))["items"]]


async def undo(client: httpx.AsyncClient, answer: httpx.Response) -> dict[str, Any]:
    """Take back the change that an answer is of."""
    return done(await client.post(f"{DRIVE}/changes/{answer.headers['drive-change-id']}/undo"))


def done(answer: httpx.Response) -> dict[str, Any]:
    """Return the JSON of an answer that has to be a success."""
    assert answer.is_success, answer.text
    return answer.json()


def refused(answer: httpx.Response) -> tuple[int, str]:
    """Return the status and the code of an answer that has to be a problem."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    assert answer.json()["status"] == answer.status_code
    return answer.status_code, answer.json()["code"]
