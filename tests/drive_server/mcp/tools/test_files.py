from __future__ import annotations

from typing import TYPE_CHECKING

from tests.drive_server.hosts import Host, text_of

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


async def test_a_folder_is_listed_with_folders_before_files(assistant: Host) -> None:
    await assistant.call("create_file", name="a.md", content="x")
    await assistant.call("create_folder", name="z")

    listed = await assistant.call("list_folder")

    assert [(item["kind"], item["name"]) for item in listed["items"]] == [("folder", "z"), ("file", "a.md")]
    assert (listed["total"], listed["cursor"]) == (2, None)


async def test_a_long_folder_is_listed_page_by_page_in_one_block_of_text_each(
    drive: Drive, alice: Actor, alices: Host
) -> None:
    for number in range(101):
        await drive.files.create_folder(alice, "root", f"{number:03}")

    first = await alices.result("list_folder")
    assert first.structuredContent is not None
    rest = await alices.call("list_folder", cursor=first.structuredContent["cursor"])

    names = [item["name"] for item in [*first.structuredContent["items"], *rest["items"]]]
    assert names == [f"{number:03}" for number in range(101)]
    assert "100 items of 101" in text_of(first)
    assert text_of(first).count("\n- /") == 100


async def test_the_trash_and_what_others_shared_are_listed_like_folders(assistant: Host, bobs: Host) -> None:
    plan = await assistant.call("create_file", name="计划.md", content="x")
    await assistant.call("share_item", item_id=plan["id"], email="bob@example.com")
    await assistant.call("create_folder", name="Old")
    await assistant.call("trash_item", item_id="/Old")

    shared = await bobs.call("list_folder", folder_id="shared")
    trashed = await assistant.call("list_folder", folder_id="trash")

    assert [(item["name"], item["role"], item["path"]) for item in shared["items"]] == [
        ("计划.md", "viewer", "/Shared with me/计划.md")
    ]
    assert [item["name"] for item in trashed["items"]] == ["Old"]
    assert trashed["items"][0]["trashed_at"]


async def test_a_tree_shows_several_levels_and_says_where_it_is_cut(alices: Host) -> None:
    await alices.call("create_folder", name="A")
    await alices.call("create_folder", name="B", folder_id="/A")
    await alices.call("create_file", name="c.md", content="x", folder_id="/A/B")

    shallow = await alices.result("get_folder_tree", depth=1)
    deep = await alices.call("get_folder_tree", folder_id="/A", depth=20)

    assert shallow.structuredContent is not None
    assert shallow.structuredContent["children"][0]["truncated"]
    assert "/A (folder" in text_of(shallow)
    assert deep["children"][0]["children"][0]["item"]["path"] == "/A/B/c.md"


async def test_an_item_is_looked_up_by_id_by_path_and_as_root(assistant: Host) -> None:
    made = await assistant.call("create_folder", name="Ünïcode 🗂")

    by_id = await assistant.call("get_file_info", item_id=made["id"])
    by_path = await assistant.call("get_file_info", item_id="/Ünïcode 🗂")
    root = await assistant.call("get_file_info", item_id="root")

    assert by_id == by_path == made
    assert (root["path"], root["parent_id"], root["child_count"]) == ("/", None, 1)


async def test_a_name_that_is_taken_is_refused_with_a_free_one(assistant: Host) -> None:
    await assistant.call("create_folder", name="Reports")

    error = await assistant.refused("create_folder", name="Reports")

    assert error["code"] == "name_conflict"
    assert error["details"]["suggestion"] == "Reports (2)"


async def test_an_item_is_renamed_and_moved_and_keeps_its_id(assistant: Host) -> None:
    made = await assistant.call("create_file", name="draft.md", content="x")
    await assistant.call("create_folder", name="Reports")

    renamed = await assistant.call("rename_item", item_id=made["id"], name="final.md", if_match=made["etag"])
    moved = await assistant.call("move_item", item_id="/final.md", folder_id="/Reports", if_match=renamed["etag"])

    assert (moved["id"], moved["path"]) == (made["id"], "/Reports/final.md")


async def test_a_stale_etag_is_refused_and_says_what_changed(assistant: Host) -> None:
    made = await assistant.call("create_folder", name="A")
    await assistant.call("rename_item", item_id=made["id"], name="B")

    for tool, arguments in (("rename_item", {"name": "C"}), ("move_item", {"folder_id": "root"}), ("trash_item", {})):
        error = await assistant.refused(tool, item_id=made["id"], if_match=made["etag"], **arguments)

        assert error["code"] == "etag_mismatch"
        assert error["details"]["changes"][0]["summary"] == "Renamed 'A' to 'B'."


async def test_what_was_trashed_is_restored_with_all_that_was_in_it(assistant: Host) -> None:
    await assistant.call("create_folder", name="Old")
    await assistant.call("create_file", name="a.md", content="x", folder_id="/Old")

    trashed = await assistant.call("trash_item", item_id="/Old")
    assert (await assistant.refused("read_file", file_id="/Old/a.md"))["code"] == "not_found"
    await assistant.call("restore_item", item_id=trashed["id"])

    assert (await assistant.call("read_file", file_id="/Old/a.md"))["text"] == "x"


async def test_what_was_trashed_is_restored_to_another_folder(assistant: Host) -> None:
    made = await assistant.call("create_file", name="a.md", content="x")
    await assistant.call("trash_item", item_id=made["id"])
    await assistant.call("create_folder", name="New")

    restored = await assistant.call("restore_item", item_id=made["id"], folder_id="/New")

    assert restored["path"] == "/New/a.md"


async def test_a_folder_is_copied_with_all_that_is_in_it(assistant: Host, alices: Host) -> None:
    await assistant.call("create_folder", name="报告")
    await assistant.call("create_file", name="a 📄.md", content="one", folder_id="/报告")

    refused = await assistant.refused("copy_item", item_id="/报告", folder_id="root")
    copied = await alices.result("copy_item", item_id="/报告", folder_id="root", on_conflict="rename")

    assert refused["details"]["suggestion"] == "报告 (2)"
    assert copied.structuredContent is not None
    assert copied.structuredContent["path"] == "/报告 (2)"
    assert text_of(copied).startswith("Copied: /报告 (2) (folder, id ")
    assert (await assistant.call("read_file", file_id="/报告 (2)/a 📄.md"))["text"] == "one"


async def test_several_items_are_moved_as_one_change(assistant: Host) -> None:
    ids = [(await assistant.call("create_file", name=f"{number}.md", content="x"))["id"] for number in range(3)]
    place = await assistant.call("create_folder", name="Place")

    moved = await assistant.result("move_items", item_ids=[*ids, ids[0]], folder_id=place["id"])
    undone = await assistant.call("undo_changes")

    assert moved.structuredContent is not None
    assert [item["path"] for item in moved.structuredContent["items"]] == [f"/Place/{number}.md" for number in range(3)]
    assert text_of(moved) == "Moved 3 items to /Place."
    assert len(undone["undone"]) == 1
    assert (await assistant.call("list_folder"))["total"] == 4


async def test_a_folder_is_made_under_the_next_free_name(assistant: Host) -> None:
    await assistant.call("create_folder", name="A")

    made = await assistant.call("create_folder", name="A", on_conflict="rename")

    assert made["name"] == "A (2)"
    assert (await assistant.refused("create_folder", name="A", on_conflict="replace"))["code"] == "invalid_argument"


async def test_misleading_characters_in_a_name_are_escaped_in_texts_and_not_in_the_structure(
    assistant: Host, alices: Host
) -> None:
    await assistant.call("create_folder", name="a\u2215b\u200f")

    listed = await alices.result("list_folder")

    assert listed.structuredContent is not None
    assert listed.structuredContent["items"][0]["name"] == "a\u2215b\u200f"
    assert "/a\\u{2215}b\\u{200f} (folder" in text_of(listed)
