from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.drive_server.hosts import Host, text_of

if TYPE_CHECKING:
    from drive_server.drive import Drive


async def test_a_file_is_found_by_its_name_and_by_its_words(drive: Drive, assistant: Host) -> None:
    await assistant.call("create_file", name="leave.md", content="Parental leave lasts 30 days.")
    await drive.ingester.drain()

    by_name = await assistant.call("search_files", query="LEAVE.md")
    by_words = await assistant.call("search_files", query="parental lasts")

    assert [hit["text"] for hit in by_name["hits"]] == ["leave.md"]
    (found,) = by_words["hits"]
    read = await assistant.call("read_file", file_id=found["file"]["id"], start=found["start"], end=found["end"])
    assert read["text"] == found["text"]


async def test_a_passage_is_found_in_chinese(drive: Drive, assistant: Host) -> None:
    await assistant.call("create_file", name="假期.md", content="员工每年享有十五天年假。病假另行规定。")
    await drive.ingester.drain()

    found = await assistant.call("semantic_search_files", query="年假有几天")

    assert found["hits"][0]["file"]["path"] == "/假期.md"
    assert "十五天年假" in found["hits"][0]["text"]


async def test_a_search_stays_below_the_folder_and_of_the_kind_asked_for(assistant: Host) -> None:
    await assistant.call("create_folder", name="plan A")
    await assistant.call("create_folder", name="plan B", folder_id="/plan A")
    await assistant.call("create_file", name="plan.md", content="x", folder_id="/plan A")

    below = await assistant.call("search_files", query="plan", folder_id="/plan A")
    folders = await assistant.call("search_files", query="plan", kind="folder")

    assert sorted(hit["file"]["name"] for hit in below["hits"]) == ["plan B", "plan.md"]
    assert sorted(hit["file"]["name"] for hit in folders["hits"]) == ["plan A", "plan B"]


async def test_files_are_listed_by_a_filter_alone(assistant: Host) -> None:
    await assistant.call("create_file", name="leave.md", content="x")
    await assistant.call("create_folder", name="plans")

    async def found(**filters: Any) -> list[str]:
        return [hit["file"]["name"] for hit in (await assistant.call("search_files", **filters))["hits"]]

    assert await found(modified_after="today", kind="file") == ["leave.md"]
    assert await found(query=None, kind="folder") == ["plans"]
    assert await found(query="", modified_after="2001", modified_before="2001") == []
    refused = await assistant.refused("search_files")
    assert refused["hint"] == "Give some words, or a date, a kind, a type, an owner or a folder."


async def test_a_search_is_narrowed_by_type_time_and_owner(drive: Drive, assistant: Host) -> None:
    for name in ("leave.md", "leave.csv"):
        await assistant.call("create_file", name=name, content="Parental leave lasts 30 days.")
    await drive.ingester.drain()

    for tool in ("search_files", "semantic_search_files"):

        async def found(tool: str = tool, **filters: Any) -> list[str]:
            hits = (await assistant.call(tool, query="parental leave", **filters))["hits"]
            return sorted(hit["file"]["name"] for hit in hits)

        assert await found(types=["text"]) == ["leave.md"]
        assert await found(types='["spreadsheet"]', belongs_to="me") == ["leave.csv"]
        assert await found(modified_before="2020-01-01") == []
        assert await found(belongs_to="shared") == []
        assert await found(modified_after="2020-01-01") == ["leave.csv", "leave.md"]
        refused = await assistant.refused(tool, query="leave", types=["documnt"])
        assert (refused["code"], refused["message"]) == ("invalid_argument", "There is no such type of file.")
        assert "document" in refused["hint"]


async def test_a_host_outside_gets_the_passages_as_text(drive: Drive, alices: Host, assistant: Host) -> None:
    await assistant.call("create_file", name="leave.md", content="Parental leave lasts 30 days.")
    await drive.ingester.drain()

    outside = text_of(await alices.result("semantic_search_files", query="parental leave"))
    inside = text_of(await assistant.result("semantic_search_files", query="parental leave"))

    assert "Parental leave lasts 30 days." in outside
    assert "characters 0-29" in outside
    assert inside == "1 hit."


async def test_what_waits_for_the_index_is_told(assistant: Host) -> None:
    await assistant.call("create_file", name="new.md", content="Something new.")

    found = await assistant.call("semantic_search_files", query="something")

    assert found["hits"] or "1" in found["note"]


async def test_other_peoples_files_are_not_found(drive: Drive, assistant: Host, bobs: Host) -> None:
    await assistant.call("create_file", name="secret.md", content="The secret plan.")
    await drive.ingester.drain()

    for tool in ("search_files", "semantic_search_files"):
        assert (await bobs.call(tool, query="secret plan"))["hits"] == []


async def test_what_is_not_there_is_said_to_be_not_found(drive: Drive, assistant: Host) -> None:
    await assistant.call("create_file", name="leave.md", content="Parental leave lasts 30 days.")
    await assistant.call("create_file", name="休假.md", content="员工每年享有28天休假。")
    await drive.ingester.drain()

    for tool in ("search_files", "semantic_search_files"):
        found = await assistant.call(tool, query="zzzzqqq")
        assert (found["hits"], found["note"]) == ([], "Nothing found for 'zzzzqqq'."), tool
        assert text_of(await assistant.result(tool, query="zzzzqqq")) == "0 hits. Nothing found for 'zzzzqqq'."
        assert (await assistant.call(tool, query="parental leave"))["note"] == ""
