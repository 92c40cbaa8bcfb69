"""Comparing two files, whatever their formats."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from docx import Document
from openpyxl import Workbook
from reportlab.pdfgen.canvas import Canvas

from tests.drive_server.hosts import text_of

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from tests.drive_server.hosts import Host


def word(*paragraphs: str) -> bytes:
    document = Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def pdf(*pages: str) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out)
    for page in pages:
        canvas.drawString(72, 720, page)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def book(*rows: tuple[object, ...]) -> bytes:
    workbook = Workbook()
    for row in rows:
        workbook.worksheets[0].append(list(row))
    out = io.BytesIO()
    workbook.save(out)
    return out.getvalue()


async def test_two_texts_are_compared_with_the_lines_that_differ(assistant: Host) -> None:
    await assistant.call("create_file", name="v1.csv", content="item,amount\nHardware,20000\nTravel,4000\n")
    await assistant.call("create_file", name="v2.csv", content="item,amount\nHardware,23500\nTravel,4000\nTraining,5\n")

    found = await assistant.call("compare_files", file_id="/v1.csv", other_file_id="/v2.csv")

    assert "-Hardware,20000\n+Hardware,23500\n" in found["diff"]
    assert found["diff"].startswith("--- /v1.csv (version 1)\n+++ /v2.csv (version 1)\n")
    assert found["places"] == [{"place": "line=2", "other_place": "line=2"}, {"place": "", "other_place": "line=4"}]
    assert (found["changes"], found["truncated"]) == (2, False)


async def test_documents_of_different_formats_are_compared_as_their_texts(
    drive: Drive, alice: Actor, assistant: Host
) -> None:
    await drive.documents.create(alice, "root", "a.docx", word("Leave is 25 days.", "Ask in writing."))
    await drive.documents.create(alice, "root", "b.md", b"Leave is 30 days.\n\nAsk in writing.")

    found = await assistant.call("compare_files", file_id="/a.docx", other_file_id="/b.md")

    assert "-Leave is 25 days.\n+Leave is 30 days.\n" in found["diff"]
    assert found["places"] == [{"place": "", "other_place": "line=1"}]


async def test_workbooks_and_pages_say_where_they_differ(drive: Drive, alice: Actor, assistant: Host) -> None:
    await drive.documents.create(alice, "root", "a.xlsx", book(("Item", "Cost"), ("a", 5), ("b", 7)))
    await drive.documents.create(alice, "root", "b.xlsx", book(("Item", "Cost"), ("a", 5), ("b", 8)))
    await drive.documents.create(alice, "root", "a.pdf", pdf("First page.", "Rent is 900."))
    await drive.documents.create(alice, "root", "b.pdf", pdf("First page.", "Rent is 950."))

    sheets = await assistant.call("compare_files", file_id="/a.xlsx", other_file_id="/b.xlsx")
    pages = await assistant.call("compare_files", file_id="/a.pdf", other_file_id="/b.pdf")

    assert ("-b | 7" in sheets["diff"], "+b | 8" in sheets["diff"]) == (True, True)
    assert sheets["places"] == [{"place": "sheet=Sheet!A2:B3", "other_place": "sheet=Sheet!A2:B3"}]
    assert pages["places"] == [{"place": "page=2", "other_place": "page=2"}]


async def test_the_same_text_is_said_to_be_the_same(assistant: Host) -> None:
    await assistant.call("create_file", name="a.md", content="same")
    await assistant.call("create_file", name="b.md", content="same")

    result = await assistant.result("compare_files", file_id="/a.md", other_file_id="/b.md")

    assert "the same text" in text_of(result)


async def test_a_long_difference_is_cut_at_a_line_and_says_so(assistant: Host) -> None:
    await assistant.call("create_file", name="a.md", content="old line\n" * 4_000)
    await assistant.call("create_file", name="b.md", content="new line\n" * 4_000)

    found = await assistant.call("compare_files", file_id="/a.md", other_file_id="/b.md")

    assert (found["truncated"], len(found["diff"]) <= 20_000, found["diff"][-1]) == (True, True, "\n")


async def test_a_file_that_is_not_the_person_s_to_see_or_has_no_text_is_refused(
    drive: Drive, bob: Actor, alice: Actor, assistant: Host
) -> None:
    theirs = (await drive.documents.create(bob, "root", "b.md", b"secret")).value.id
    await assistant.call("create_file", name="a.md", content="mine")
    await drive.documents.create(alice, "root", "a.mp3", b"ID3\x00\xff")

    unseen = await assistant.refused("compare_files", file_id="/a.md", other_file_id=theirs)
    silent = await assistant.refused("compare_files", file_id="/a.md", other_file_id="/a.mp3")

    assert (unseen["code"], silent["code"]) == ("not_found", "unsupported_content")
