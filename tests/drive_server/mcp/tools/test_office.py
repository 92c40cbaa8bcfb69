"""Word documents and workbooks that are written as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drive_server.kernel.context import META_DRY_RUN, META_EFFECT, META_IDEMPOTENCY_KEY
from drive_server.knowledge.writers.render import render_document
from drive_server.services.text import contents

if TYPE_CHECKING:
    import pytest

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from tests.drive_server.hosts import Host

TABLE = "# Costs\n\n| Item | Cost |\n|--|--|\n| Rent | 900 |\n| 电费 | 60.5 |\n"


async def test_a_word_document_is_made_of_markdown_and_written_anew(assistant: Host) -> None:
    made = await assistant.call("create_file", name="报告.docx", content="# Report\n\nFirst **draft**.\n")
    first = await assistant.call("read_file", file_id=made["id"])
    written = await assistant.call("write_file", file_id=made["id"], content="# Report\n\nSecond.\n")
    second = await assistant.call("read_file", file_id=made["id"])
    diff = await assistant.call("diff_versions", file_id=made["id"], from_version=1)

    assert made["media_type"].endswith("wordprocessingml.document")
    assert (first["text"], second["text"], written["version"]) == ("Report\n\nFirst draft.", "Report\n\nSecond.", 2)
    assert written["media_type"] == made["media_type"]
    assert "-First draft." in diff["diff"]


async def test_a_workbook_is_made_of_tables_and_asked(assistant: Host) -> None:
    await assistant.call("create_file", name="costs.xlsx", content=TABLE)
    total = [{"function": "sum", "column": "Cost"}]

    first = await assistant.call("query_table", file_id="/costs.xlsx", aggregates=total)
    await assistant.call("write_file", file_id="/costs.xlsx", content=TABLE.replace("900", "950"))
    second = await assistant.call("query_table", file_id="/costs.xlsx", aggregates=total)

    assert [row["values"] for row in (*first["rows"], *second["rows"])] == [["960.5"], ["1010.5"]]
    assert (first["cells"], second["version"]) == (["sheet=Costs!B2:B3"], 2)


async def test_the_preview_of_a_document_shows_its_text(assistant: Host) -> None:
    dry = {META_DRY_RUN: True}
    made = await assistant.result("create_file", dry, name="a.docx", content="# Report\n\nWords.\n")
    await assistant.call("create_file", name="a.docx", content="# Report\n")
    written = await assistant.result("write_file", dry, file_id="/a.docx", content="Other words.\n")

    assert made.meta is not None
    assert written.meta is not None
    assert "+Words." in made.meta[META_EFFECT]["diff"]
    assert "+Other words." in written.meta[META_EFFECT]["diff"]
    assert (await assistant.call("read_file", file_id="/a.docx"))["text"] == "Report"


async def test_the_same_call_again_makes_nothing_new(assistant: Host) -> None:
    key = {META_IDEMPOTENCY_KEY: "k1"}
    first = await assistant.call("create_file", key, name="a.docx", content="Words.")
    again = await assistant.call("create_file", key, name="a.docx", content="Words.")
    same = await assistant.call("write_file", file_id="/a.docx", content="Words.")

    assert (first["id"], first["version"]) == (again["id"], same["version"])
    assert same["version"] == 1


async def test_a_document_is_not_edited_in_places_but_replaced(assistant: Host) -> None:
    await assistant.call("create_file", name="a.docx", content="Words.")

    patch = await assistant.refused("patch_file", file_id="/a.docx", edits=[{"find": "Words", "replace": "x"}])
    append = await assistant.refused("append_to_file", file_id="/a.docx", content="more")
    replaced = await assistant.call("create_file", name="a.docx", content="Other.", on_conflict="replace")

    assert (patch["code"], append["code"]) == ("unsupported_content", "unsupported_content")
    assert "write_file" in patch["hint"]
    assert "整体改写" in append["messages"]["message"]["zh"]
    assert replaced["version"] == 2


async def test_a_text_that_is_too_long_for_a_document_is_refused(assistant: Host) -> None:
    error = await assistant.refused("create_file", name="a.docx", content="x" * 500_001)

    assert (error["code"], "500,000" in error["hint"]) == ("too_large", True)


async def test_a_long_document_is_made_in_a_process_of_its_own_within_a_time(
    drive: Drive, alice: Actor, assistant: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Long words.\n\n" * 800
    made = await assistant.call("create_file", name="long.docx", content=text)
    content = await drive.documents.open_content(alice, made["id"])
    data = b"".join([part async for part in content.stream()])
    monkeypatch.setattr(contents, "RENDER_SECONDS", 0.0)
    error = await assistant.refused("create_file", name="longer.docx", content=text)

    assert data == render_document(made["media_type"], text)
    assert error["code"] == "too_large"
