"""The fields of the tools' answers, whose names clients rely on."""

from tests.drive_server.hosts import Host

ITEM = {
    *("id", "kind", "name", "path", "parent_id", "owner", "role", "etag", "size", "media_type", "version"),
    *("created_at", "updated_at", "modified_at", "trashed_at", "child_count", "index_state", "shared"),
}


async def test_an_item_is_the_same_in_every_answer(assistant: Host) -> None:
    made = await assistant.call("create_file", name="a.md", content="one")
    written = await assistant.call("write_file", file_id="/a.md", content="two")
    tree = await assistant.call("get_folder_tree")
    diff = await assistant.call("diff_versions", file_id="/a.md", from_version=1)
    address = await assistant.call("get_download_url", file_id="/a.md")
    listed = await assistant.call("list_folder")
    folder = await assistant.call("create_folder", name="A")
    moved = await assistant.call("move_items", item_ids=[made["id"]], folder_id="/A")
    trashed = await assistant.call("trash_item", item_id="/A")
    deleted = await assistant.call("delete_item", item_id=trashed["id"])

    (only,) = listed["items"]
    assert set(made) == ITEM
    assert (made["owner"], made["role"], made["path"]) == ("alice@example.com", "owner", "/a.md")
    (child,) = tree["children"]
    assert tree == {"item": tree["item"], "children": [child], "truncated": False}
    assert child == {"item": child["item"], "children": [], "truncated": False}
    # The file is being indexed meanwhile.
    for one in (written, child["item"]):
        assert one | {"index_state": only["index_state"]} == only
    assert set(diff) == {"file", "from_version", "to_version", "diff", "truncated"}
    assert set(address) == {"file", "version", "url", "expires_at"}
    assert set(moved) == {"folder", "items", "unchanged"}
    assert moved["folder"] | {"child_count": 0, "etag": folder["etag"], "updated_at": folder["updated_at"]} == folder
    assert (deleted["count"], deleted["items"]) == (2, [trashed])
    for one in (diff["file"], address["file"], moved["folder"], *moved["items"], trashed):
        assert set(one) == ITEM


async def test_a_version_has_these_fields(assistant: Host) -> None:
    await assistant.call("create_file", name="a.md", content="one")
    (version,) = (await assistant.call("list_versions", file_id="/a.md"))["versions"]
    assert set(version) == {"number", "size", "media_type", "created_at", "modified_at", "author", "run_id", "current"}
    assert (version["number"], version["size"], version["author"]) == (1, 3, "alice@example.com")
