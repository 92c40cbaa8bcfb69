"""No message shows a name that misleads the eye as it is: whatever says something about an item says it escaped.

Every tool is called with such names, so that it works, so that it refuses, and as a rehearsal; so is what is asked,
recorded, attached and listed. A tool that is not in the table fails the first test.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from drive_server.kernel.errors import DriveError
from drive_server.services.tree.names import clean_name
from tests.drive_server.hosts import Host, Person, asking_host_of, host_of, text_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.types import CallToolResult

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

# A Cyrillic а, a zero-width space, a right-to-left mark, a slash that is none, a mathematical letter.
MISLEADING = "\u0430\u200b\u200f\u2215\U0001d429"
FILE = f"p{MISLEADING}y.md"
FOLDER = f"f{MISLEADING}r"
SECOND = f"s{MISLEADING}d.md"
DRY_RUN = {"drive-agent/dry-run": True}
BOB = "bob@example.com"

CALLS: dict[str, list[dict[str, Any]]] = {
    "whoami": [{}],
    "authenticate": [{"api_key": FILE}],
    "list_folder": [{}, {"folder_id": "{folder}"}, {"folder_id": "{file}"}, {"folder_id": f"/{FOLDER}/{FILE}/x"}],
    "get_folder_tree": [{}, {"folder_id": "{folder}"}, {"folder_id": "{file}"}],
    "get_file_info": [{"item_id": "{file}"}, {"item_id": "{folder}"}, {"item_id": f"/{MISLEADING}"}],
    "read_file": [{"file_id": "{file}"}, {"file_id": "{folder}"}, {"file_id": "{picture}"}],
    "create_folder": [{"name": FOLDER}, {"name": FOLDER, "on_conflict": "rename"}, {"name": f"{MISLEADING}/x"}],
    "create_file": [
        {"name": SECOND, "content": "x"},
        {"name": SECOND, "content": "x"},
        {"name": SECOND, "content": "y", "on_conflict": "replace"},
        {"name": FOLDER, "content": "y", "on_conflict": "replace"},
        {"name": "x.md", "content": "y", "parent_id": "{file}"},
    ],
    "write_file": [{"file_id": "{file}", "content": "new text"}, {"file_id": "{picture}", "content": "x"}],
    "patch_file": [
        {"file_id": "{file}", "edits": [{"find": "text", "replace": "words"}]},
        {"file_id": "{file}", "edits": [{"find": "nothing", "replace": "x"}]},
        {"file_id": "{picture}", "edits": [{"find": "x", "replace": "y"}]},
        {"file_id": "{file}", "edits": [{"find": "words", "replace": "x"}], "if_match": "stale-1"},
    ],
    "append_to_file": [{"file_id": "{file}", "content": "more"}, {"file_id": "{picture}", "content": "x"}],
    "list_versions": [{"file_id": "{file}"}, {"file_id": "{folder}"}],
    "diff_versions": [
        {"file_id": "{file}", "from_version": 1},
        {"file_id": "{file}", "from_version": 99},
        {"file_id": "{picture}", "from_version": 1},
    ],
    "compare_files": [
        {"file_id": "{file}", "other_file_id": "{folder}"},
        {"file_id": "{file}", "other_file_id": "{picture}"},
    ],
    "query_table": [{"file_id": "{file}"}, {"file_id": "{picture}"}],
    "restore_version": [{"file_id": "{file}", "version": 1}, {"file_id": "{file}", "version": 99}],
    "get_download_url": [{"file_id": "{file}"}, {"file_id": "{file}", "version": 1}, {"file_id": "{folder}"}],
    "search_files": [{"query": "y.md"}, {"query": FILE}, {"query": "words", "folder_id": "{folder}"}],
    "semantic_search_files": [{"query": "new text"}, {"query": FILE, "folder_id": "{file}"}],
    "find_related_files": [{"file_id": "{file}"}, {"file_id": "{picture}"}, {"file_id": "{folder}"}],
    "check_citations": [
        {"citations": [{"file_id": f"/{FOLDER}/{FILE}", "quote": "text"}, {"file_id": "x", "quote": MISLEADING}]},
    ],
    "get_index_status": [{}, {"folder_id": "{folder}"}],
    "reindex": [{"folder_id": "{folder}"}, {"folder_id": "{file}"}],
    "map_reduce_files": [{"instruction": "x", "folder_id": "{folder}"}],
    "read_bulk_result": [{"result_id": FILE}],
    "rename_item": [{"item_id": "{file}", "name": SECOND}, {"item_id": "{file}", "name": FILE}],
    "copy_item": [
        {"item_id": "{file}", "folder_id": "{folder}"},
        {"item_id": "{file}", "folder_id": "{folder}"},
        {"item_id": "{file}", "folder_id": "{folder}", "on_conflict": "rename"},
        {"item_id": "{folder}", "folder_id": "{folder}"},
    ],
    "move_item": [
        {"item_id": "{file}", "folder_id": "{folder}"},
        {"item_id": "{file}", "folder_id": "{folder}", "on_conflict": "rename"},
        {"item_id": "{folder}", "folder_id": "{folder}"},
    ],
    "move_items": [
        {"item_ids": ["{picture}"], "folder_id": "{folder}"},
        {"item_ids": ["{picture}"], "folder_id": "{file}"},
    ],
    "fill_template": [
        {"template_id": "{file}", "values": [], "name": "x"},
        {"template_id": "{file}", "values": [{"name": FILE, "value": MISLEADING}], "name": "x"},
        {"template_id": "{picture}", "values": [], "name": "x"},
    ],
    "rename_items": [
        {"names": [{"item_id": "{picture}", "name": SECOND}]},
        {"folder_id": "{folder}", "pattern": "{name} {number}", "preview": True},
        {"folder_id": "{folder}", "pattern": "{name} {number}"},
        {"folder_id": "{folder}", "find": " 1", "replace": ""},
        {"folder_id": "{folder}", "pattern": "same"},
        {"folder_id": "{file}", "pattern": "same"},
    ],
    "organize_items": [
        {"folder_id": "{folder}", "folders": "{type}", "preview": True},
        {"folder_id": "{folder}", "folders": SECOND},
    ],
    "share_item": [
        {"item_id": "{file}", "email": BOB},
        {"item_id": "{folder}", "email": BOB},
        {"item_id": "root", "email": BOB},
    ],
    "create_share_link": [{"item_id": "{file}", "password": "correct horse"}, {"item_id": "root"}],
    "list_shares": [{"item_id": "{file}"}],
    "update_share": [
        {"item_id": "{file}", "email": BOB, "role": "editor"},
        {"item_id": "{inner}", "email": BOB, "role": "editor"},
        {"item_id": "{file}", "link_id": "x", "role": "editor"},
        {"item_id": "{inner}", "link_id": "{link}", "role": "editor"},
    ],
    "revoke_share": [{"item_id": "{inner}", "email": BOB}, {"item_id": "{file}", "email": BOB}],
    "list_shared_with_me": [{}],
    "list_changes": [{}, {"item_id": "{file}"}, {"tool": FILE}],
    "trash_item": [{"item_id": "{file}"}, {"item_id": "{file}"}],
    "list_trash": [{}],
    "restore_item": [{"item_id": "{file}"}, {"item_id": "{file}"}],
    "delete_item": [{"item_id": "{file}"}, {"item_id": "{second}"}],
    "undo_changes": [{"preview": True}, {}],
    "redo_changes": [{}, {}],
    "empty_trash": [{}],
}


@dataclass
class Walk:
    """Alice's drive, full of hostile names, and all texts that she or Bob got."""

    drive: Drive
    alice: Actor
    host: Host
    places: dict[str, str]
    said: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def note(self, where: str, *texts: object) -> None:
        self.said += [(where, str(text)) for text in texts if text]

    def note_result(self, where: str, result: CallToolResult) -> None:
        self.note(where, text_of(result))
        structured = result.structuredContent or {}
        if result.isError:
            self.note(where, structured["message"], structured["hint"])
        effect = (result.meta or {}).get("drive-agent/effect") or {}
        self.note(f"{where} effect", effect.get("summary"), effect.get("diff"))
        for item in effect.get("items", ()):
            self.note(f"{where} effect", item["name"], item["path"], item.get("what"))

    async def call(self, tool: str, arguments: dict[str, Any]) -> None:
        filled = _filled(arguments, self.places)
        self.note_result(f"{tool} rehearsed", await self.host.result(tool, DRY_RUN, **filled))
        self.note_result(tool, await self.host.result(tool, **filled))

    def misleading(self) -> list[tuple[str, str]]:
        return [(where, ascii(text)) for where, text in self.said if set(text) & set(MISLEADING)]


def _filled(arguments: dict[str, Any], places: dict[str, str]) -> dict[str, Any]:
    def fill(value: Any) -> Any:
        if isinstance(value, list):
            return [fill(part) for part in value]
        return places.get(value[1:-1], value) if isinstance(value, str) and value.startswith("{") else value

    return {name: fill(value) for name, value in arguments.items()}


@pytest.fixture
async def walk(drive: Drive, alice: Actor) -> AsyncIterator[Walk]:
    assert clean_name(FILE) == FILE
    async with host_of(drive, alice) as host:
        outer = await host.call("create_folder", name=f"o{MISLEADING}")
        folder = await host.call("create_folder", name=FOLDER, folder_id=outer["id"])
        inner = await host.call("create_file", name=f"i{MISLEADING}.md", content="x", folder_id=folder["id"])
        file = await host.call("create_file", name=FILE, content="some text\n")
        second = await host.call("create_file", name=f"d{MISLEADING}.md", content="x")
        picture = (await drive.documents.create(alice, "root", f"g{MISLEADING}.png", b"\x89PNG\x00\xff")).value
        link = await host.call("create_share_link", item_id=folder["id"])
        places = {"file": file["id"], "folder": folder["id"], "inner": inner["id"], "second": second["id"]}
        await drive.ingester.drain()
        yield Walk(drive, alice, host, {**places, "picture": picture.id, "link": link["id"]})


async def test_every_tool_is_in_the_table(walk: Walk) -> None:
    assert walk.drive.server.specs.keys() - {"more_tools"} == CALLS.keys()


async def test_no_tool_says_a_misleading_name(walk: Walk) -> None:
    for tool, calls in CALLS.items():
        for arguments in calls:
            await walk.call(tool, arguments)

    assert len({where for where, _ in walk.said}) > len(CALLS)
    assert any("\\u{430}" in text for _, text in walk.said)
    assert walk.misleading() == []


async def test_no_question_says_one(walk: Walk) -> None:
    person = Person(*["decline"] * 8)
    asked: list[tuple[str, dict[str, Any]]] = [
        ("trash_item", {"item_id": "{folder}"}),
        ("share_item", {"item_id": "{folder}", "email": BOB}),
        ("create_share_link", {"item_id": "{folder}"}),
        ("revoke_share", {"item_id": "{folder}", "link_id": "{link}"}),
        ("undo_changes", {}),
    ]
    async with asking_host_of(walk.drive, walk.alice, person) as host:
        for tool, arguments in asked:
            walk.note_result(tool, await host.result(tool, **_filled(arguments, walk.places)))

    assert len(person.questions) == len(asked)
    walk.note("question", *person.questions)
    assert walk.misleading() == []


async def test_no_record_of_what_was_done_says_one_nor_what_a_stranger_is_told_of_it(walk: Walk, bob: Actor) -> None:
    await walk.host.call("share_item", item_id=walk.places["folder"], email=BOB, role="editor")
    await walk.host.call("rename_item", item_id=walk.places["inner"], name=f"n{MISLEADING}.md")
    for reader, item in ((walk.alice, None), (bob, walk.places["inner"])):
        changes = (await walk.drive.journal.list_changes(reader, item=item)).items
        assert changes
        walk.note("journal", *(change.summary for change in changes))
    with pytest.raises(DriveError) as caught:
        await walk.drive.documents.write_text(bob, walk.places["inner"], "x", if_match="stale-1")
    walk.note("etag", caught.value.message, caught.value.hint)
    walk.note("etag", *(change["summary"] for change in caught.value.details["changes"]))
    assert walk.misleading() == []


async def test_no_resource_note_and_no_prompt_says_one(walk: Walk) -> None:
    session = walk.host.session
    for place, kind in (("file", "files"), ("picture", "files")):
        address: Any = f"drive://{kind}/{walk.places[place]}"
        contents = (await session.read_resource(address)).contents
        walk.note("resource", *(getattr(part, "text", "") for part in contents), *(part.meta for part in contents))
    for resource in (await session.list_resources()).resources:
        walk.note("resources", resource.description, resource.title)
    known = {"folder": walk.places["folder"], "language": "en", "person": BOB}
    for prompt in (await session.list_prompts()).prompts:
        given = {one.name: known.get(one.name, walk.places["file"]) for one in prompt.arguments or []}
        told = await session.get_prompt(prompt.name, given)
        walk.note(f"prompt {prompt.name}", told.description)
        walk.note(
            f"prompt {prompt.name}",
            *(message.content.text for message in told.messages if message.content.type == "text"),
        )
    assert walk.misleading() == []
