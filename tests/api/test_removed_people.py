"""Accounts that are disabled or removed: runs end at once, and what the service has of a removed person goes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from api.app import local_login_link
from api.service import Service
from tests.api.command_model import CommandModel, command
from tests.api.real_service import RealService, real_app
from tests.drive_server.actors import local_owner

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.person import Person


def traces(data_dir: Path, *words: str) -> list[str]:
    """Return the tables of the service and of its threads in which one of the words stands."""
    found: list[str] = []
    for path in data_dir.glob("*.db"):
        if path.name == "drive.db":
            continue
        with closing(sqlite3.connect(path)) as connection:
            tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in tables:
                rows = " ".join(map(repr, connection.execute(f"SELECT * FROM {table}")))  # noqa: S608 - our own names
                found += [table] if any(word in rows for word in words) else []
    return found


def fill(person: Person) -> str:
    """Have the person use what there is; return their id."""
    with person.chat(command("create_folder", name="Mine")) as turn:
        turn.finish()
    wish = "remember that my accountant is Li Wei"
    with person.chat(f"{wish}\n{command('remember', fact='my accountant is Li Wei')}") as turn:
        turn.finish()
    for path, body in (
        ("/api/mcp-servers", {"name": "notes", "base_url": "http://127.0.0.1:9/mcp"}),
        ("/api/assistants", {"name": "Helper"}),
    ):
        made = person.http.post(path, json=body)
        assert made.is_success, made.text
    return person.get("/api/auth/me")["id"]


async def killed(*_: object) -> None:
    raise RuntimeError("killed")


def test_the_run_of_who_is_disabled_ends_at_once_also_one_that_waits(owner: Person) -> None:
    person = owner.add_new("gone")
    folder = person.folder("Stays")
    account = f"/api/users/{person.email}"
    with person.chat(command("trash_item", item_id=folder["id"])) as turn:
        turn.until("approval_needed")
        assert owner.http.patch(account, json={"is_disabled": True}).is_success
        assert turn.until("done", "error")["status"] == "cancelled"
    with pytest.raises(AssertionError, match="account_disabled"):
        person.get("/api/threads")
    assert owner.http.patch(account, json={"is_disabled": False}).is_success
    assert person.get("/api/approvals")["items"] == []
    assert person.names() == ["Stays"]
    person.close()


@pytest.mark.sqlite("looks into the files of the databases")
def test_what_the_service_has_of_a_removed_person_goes_also_after_a_crash_in_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = RealService(tmp_path, CommandModel()).start()
    owner = service.owner()
    people = [owner.add_new("one"), owner.add_new("two")]
    try:
        ids = [fill(person) for person in people]
        assert {"threads", "mcp_servers", "assistants", "store"} <= {*traces(tmp_path, *ids)}
        removed = [owner.http.delete(f"/api/users/{ids[0]}", params={"delete_files": "true"})]
        assert traces(tmp_path, ids[0], people[0].email) == []
        with monkeypatch.context() as patched:
            patched.setattr(Service, "_forget_person", killed)
            removed.append(owner.http.delete(f"/api/users/{ids[1]}", params={"delete_files": "true"}))
    finally:
        service.stop()
        for person in (owner, *people):
            person.close()
    assert [one.status_code for one in removed] == [204, 204]
    assert traces(tmp_path, ids[1])
    RealService(tmp_path, CommandModel()).start().stop()
    assert traces(tmp_path, *ids, *(person.email for person in people)) == []


@pytest.mark.sqlite("a database of several services has no local owner")
async def test_a_service_whose_local_owner_is_disabled_leads_to_the_page_to_log_in(tmp_path: Path) -> None:
    app = real_app(tmp_path, CommandModel())
    async with app.router.lifespan_context(app):
        drive = app.state.drive
        owner = await local_owner(drive.identity)
        await drive.identity.create_user(owner, "ana@example.com")
        await drive.people.change(owner, "ana@example.com", is_admin=True)
        assert "/login/" in await local_login_link(app)
        await drive.people.change(owner, owner.user_id, is_disabled=True)
        assert (await local_login_link(app)).endswith("/login")
