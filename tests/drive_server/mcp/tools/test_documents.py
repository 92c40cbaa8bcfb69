from __future__ import annotations

from typing import TYPE_CHECKING

from drive_server.mcp.tools.documents import MAX_CHARACTERS
from tests.drive_server.hosts import Host, text_of

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


async def test_a_file_is_created_and_read(assistant: Host) -> None:
    made = await assistant.call("create_file", name="问候.md", content="你好\nworld 🌍\n")

    read = await assistant.call("read_file", file_id=made["id"])

    assert made["media_type"] == "text/markdown"
    assert (read["text"], read["total_lines"], read["truncated"]) == ("你好\nworld 🌍\n", 2, False)
    assert read["file"]["id"] == made["id"]


async def test_a_part_is_read_by_lines_or_by_characters(assistant: Host) -> None:
    await assistant.call("create_file", name="a.txt", content="one\ntwo\nthree\n")

    by_lines = await assistant.call("read_file", file_id="/a.txt", first_line=2, last_line=2)
    by_characters = await assistant.call("read_file", file_id="/a.txt", start=4, end=7)

    assert (by_lines["text"], by_lines["first_line"], by_lines["start"]) == ("two\n", 2, 4)
    assert (by_characters["text"], by_characters["last_line"]) == ("two", 2)


async def test_a_long_text_is_cut_and_says_how_to_go_on(assistant: Host) -> None:
    text = "x" * (MAX_CHARACTERS + 1)
    await assistant.call("create_file", name="long.txt", content=text)

    first = await assistant.result("read_file", file_id="/long.txt")
    assert first.structuredContent is not None
    rest = await assistant.call("read_file", file_id="/long.txt", start=first.structuredContent["end"])
    asked = await assistant.call("read_file", file_id="/long.txt", end=MAX_CHARACTERS)

    assert first.structuredContent["truncated"]
    assert f"start={MAX_CHARACTERS}" in text_of(first)
    assert (rest["text"], rest["truncated"], asked["truncated"]) == ("x", False, False)


async def test_the_text_goes_into_the_text_block_for_hosts_outside_only(alices: Host, assistant: Host) -> None:
    await assistant.call("create_file", name="a.txt", content="the content itself")

    outside = await alices.result("read_file", file_id="/a.txt")
    inside = await assistant.result("read_file", file_id="/a.txt")

    assert "the content itself" in text_of(outside)
    assert "the content itself" not in text_of(inside)


async def test_an_empty_file_is_read_as_empty(assistant: Host) -> None:
    await assistant.call("create_file", name="empty.txt", content="")

    read = await assistant.result("read_file", file_id="/empty.txt")

    assert read.structuredContent is not None
    assert (read.structuredContent["text"], read.structuredContent["total_lines"]) == ("", 0)
    assert "it is empty" in text_of(read)


async def test_a_file_is_written_anew_and_an_earlier_version_brought_back(assistant: Host) -> None:
    made = await assistant.call("create_file", name="a.txt", content="one")

    await assistant.call("write_file", file_id=made["id"], content="two", if_match=made["etag"])
    versions = await assistant.call("list_versions", file_id=made["id"])
    back = await assistant.call("restore_version", file_id=made["id"], version=1)

    assert [(entry["number"], entry["current"]) for entry in versions["versions"]] == [(2, True), (1, False)]
    assert "blob" not in versions["versions"][0]
    assert back["version"] == 3
    assert (await assistant.call("read_file", file_id=made["id"]))["text"] == "one"


async def test_a_version_that_never_was_is_not_found(assistant: Host) -> None:
    await assistant.call("create_file", name="a.txt", content="one")

    error = await assistant.refused("restore_version", file_id="/a.txt", version=7)

    assert error["code"] == "not_found"


async def test_a_file_is_patched_in_places_that_occur_once(assistant: Host) -> None:
    await assistant.call("create_file", name="a.md", content="30 days\n30 weeks\n")

    patched = await assistant.call(
        "patch_file",
        file_id="/a.md",
        edits=[{"find": "30 days", "replace": "45 days"}, {"find": "weeks", "replace": "周"}],
    )

    assert patched["version"] == 2
    assert (await assistant.call("read_file", file_id="/a.md"))["text"] == "45 days\n30 周\n"


async def test_edits_may_come_as_json_text(assistant: Host) -> None:
    await assistant.call("create_file", name="a.md", content="30 days")

    await assistant.call("patch_file", file_id="/a.md", edits='[{"find": "30", "replace": "45"}]')

    assert (await assistant.call("read_file", file_id="/a.md"))["text"] == "45 days"


async def test_an_edit_that_fits_nowhere_shows_the_nearest_line_and_changes_nothing(assistant: Host) -> None:
    made = await assistant.call("create_file", name="a.md", content="first\nLeave is 30 days.\n")

    error = await assistant.refused(
        "patch_file", file_id="/a.md", edits=[{"find": "Leave is 31 days.", "replace": "Leave is 45 days."}]
    )

    assert error["code"] == "edit_mismatch"
    assert error["details"]["candidates"] == [{"line": 2, "text": "Leave is 30 days."}]
    assert (await assistant.call("get_file_info", item_id="/a.md"))["etag"] == made["etag"]


async def test_contents_that_look_like_json_are_kept_as_text(assistant: Host) -> None:
    for name, content in (("a.json", '{"a": 1}'), ("b.txt", "null"), ("c.txt", "[1]"), ("d.txt", "42")):
        await assistant.call("create_file", name=name, content=content)

        assert (await assistant.call("read_file", file_id=f"/{name}"))["text"] == content


async def test_a_picture_is_not_read_as_text(drive: Drive, alice: Actor, assistant: Host) -> None:
    await drive.documents.create(alice, "root", "photo.png", b"\x89PNG\r\n\x1a\n\0\0")

    for tool, arguments in (
        ("read_file", {}),
        ("write_file", {"content": "x"}),
        ("patch_file", {"edits": [{"find": "a", "replace": "b"}]}),
    ):
        error = await assistant.refused(tool, file_id="/photo.png", **arguments)

        assert error["code"] == "unsupported_content"


async def test_a_folder_is_no_file(assistant: Host) -> None:
    await assistant.call("create_folder", name="A")

    assert (await assistant.refused("read_file", file_id="/A"))["code"] == "invalid_argument"
    assert (await assistant.refused("write_file", file_id="root", content=""))["code"] == "invalid_argument"
