"""Calls that ask the person at a host, the drive that they are made in, and the question itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drive_server.services.sharing.links import LinkTerms

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from tests.drive_server.raw import RawClient

PATIENCE = 20
DRY_RUN = {"drive-agent/dry-run": True}
KEY = {"drive-agent/idempotency-key": "call-1"}
REPLACE = {"on_conflict": "replace"}
# Of every tool that may ask whoever sees what it changes, a call that does; `{...}` stands for what is in the
# prepared drive.
CALLS: dict[str, dict[str, Any]] = {
    "rename_item": {"item_id": "/a.md", "name": "b.md", **REPLACE},
    "move_item": {"item_id": "/a.md", "folder_id": "/Folder", **REPLACE},
    "move_items": {"item_ids": ["/a.md"], "folder_id": "/Folder", **REPLACE},
    "copy_item": {"item_id": "/a.md", "folder_id": "/Folder", **REPLACE},
    "restore_item": {"item_id": "{trashed}", **REPLACE},
    "create_file": {"name": "a.md", "content": "new", **REPLACE},
    "write_file": {"file_id": "/a.md", "content": "new"},
    "patch_file": {"file_id": "/a.md", "edits": [{"find": "a", "replace": "b"}]},
    "trash_item": {"item_id": "/a.md"},
    "delete_item": {"item_id": "{trashed}"},
    "empty_trash": {},
    "share_item": {"item_id": "/a.md", "email": "carol@example.com"},
    "create_share_link": {"item_id": "/a.md"},
    "update_share": {"item_id": "/Folder", "email": "bob@example.com", "role": "editor"},
    "revoke_share": {"item_id": "/Folder", "email": "bob@example.com"},
    "undo_changes": {},
    "redo_changes": {},
    "rename_items": {"item_ids": ["/Private/a.md"], "find": "a", "replace": "z"},
    "organize_items": {"folder_id": "/Private", "folders": "Sorted"},
    "append_to_file": {"file_id": "/a.md", "content": "more"},
    "restore_version": {"file_id": "/b.md", "version": 1},
    "get_download_url": {"file_id": "/a.md"},
}
UNRECORDED = {"get_download_url"}
# Calls that ask if others see the place that `{place}` stands for.
PLACED_CALLS: dict[str, dict[str, Any]] = {
    "create_folder": {"name": "New", "folder_id": "{place}"},
    "create_file": {"name": "c.md", "content": "new", "folder_id": "{place}"},
    "fill_template": {
        "template_id": "/form.md",
        "values": [{"name": "x", "value": "y"}],
        "name": "f.md",
        "folder_id": "{place}",
    },
    "rename_item": {"item_id": "{place}/a.md", "name": "c.md"},
    "move_item": {"item_id": "/b.md", "folder_id": "{place}"},
    "move_items": {"item_ids": ["/b.md"], "folder_id": "{place}"},
    "copy_item": {"item_id": "/b.md", "folder_id": "{place}"},
    "restore_item": {"item_id": "{trashed}", "folder_id": "{place}"},
}
QUIET_CALLS: dict[str, dict[str, Any]] = {
    "undo_changes": {"preview": True},
    "list_shares": {"item_id": "/Folder"},
    "read_file": {"file_id": "/a.md"},
}
# So that the calls can be made one after another.
OWN_NAMES: dict[str, dict[str, Any]] = {
    "create_file": {"name": "d.md"},
    "copy_item": {"item_id": "/gone.md"},
    "move_items": {"item_ids": ["/a.md"], "on_conflict": "rename"},
    "restore_item": {"on_conflict": "rename"},
}


async def prepare(drive: Drive, alice: Actor) -> dict[str, str]:
    """Put something of everything into the drive; return what the calls name."""
    await drive.documents.create(alice, "root", "gone.md", "a")
    trashed = (await drive.files.trash(alice, "/gone.md")).value.id
    await drive.documents.create(alice, "root", "gone.md", "b")
    folder = (await drive.files.create_folder(alice, "root", "Folder")).value.id
    await drive.files.create_folder(alice, "root", "Private")
    linked = (await drive.files.create_folder(alice, "root", "Linked")).value.id
    for place in ("/", "/Folder", "/Private", "/Linked"):
        await drive.documents.create(alice, place, "a.md", f"a in {place}")
    await drive.documents.create(alice, "root", "b.md", "b")
    await drive.documents.create(alice, "root", "form.md", "{{x}}")
    await drive.documents.write_text(alice, "/b.md", "b, again")
    await drive.sharing.share(alice, folder, "bob@example.com", "viewer")
    await drive.links.create(alice, linked, LinkTerms("viewer"))
    await drive.files.create_folder(alice, "root", "Undone")
    await drive.undo.undo(alice)
    return {"trashed": trashed}


def filled(arguments: dict[str, Any], known: dict[str, str]) -> dict[str, Any]:
    return {
        name: value.format(**known) if isinstance(value, str) and "{" in value else value
        for name, value in arguments.items()
    }


def of(method: str, messages: list[Any]) -> Any:
    """Return the one message with this method."""
    (found,) = [message for message in messages if getattr(message, "method", None) == method]
    return found


async def question_of(client: RawClient) -> Any:
    """Return the next question of the server."""
    while (message := (await client.reading.receive()).message.root).method != "elicitation/create":
        pass
    return message


async def state(drive: Drive, alice: Actor) -> list[Any]:
    return [
        [(item.path, item.etag) for item in (await drive.files.list_folder(alice, folder)).items]
        for folder in ("root", "/Folder")
    ] + [len((await drive.journal.list_changes(alice, limit=200)).items)]
