"""Hits, tables and findings name the parts of their files that could not be read, for models and for people."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from docx import Document
from openpyxl import Workbook
from PIL import Image

from drive_server.knowledge.text.omissions import OMISSION_KINDS, missing_things
from drive_server.mcp.results import MissingResult
from drive_server.mcp.tools.map_reduce.results import FindingResult
from drive_server.services.map_reduce.findings import Finding, coverage_of

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from tests.drive_server.hosts import Host

PICTURE = {"en": "1 picture without text", "zh": "1 张没有文字的图片"}
FORMULA = {"en": "1 formula not calculated", "zh": "1 个未计算的公式"}


def report() -> bytes:
    picture, out = io.BytesIO(), io.BytesIO()
    Image.new("RGB", (64, 64), "red").save(picture, "PNG")
    document = Document()
    document.add_paragraph("The warehouse in Ghent stores pallets of tiles.")
    document.add_picture(io.BytesIO(picture.getvalue()))
    document.save(out)
    return out.getvalue()


def uncalculated() -> bytes:
    book, out = Workbook(), io.BytesIO()
    for row in (["Name", "Salary", "Bonus"], ["Ann", 12000, 100], ["Bob", 9800, "=B3/10"]):
        book.worksheets[0].append(row)
    book.save(out)
    return out.getvalue()


async def test_a_hit_in_a_file_that_was_not_read_whole_says_what_is_missing(
    drive: Drive, alice: Actor, assistant: Host
) -> None:
    await drive.documents.create(alice, "root", "report.docx", report())
    await drive.documents.create(alice, "root", "whole.md", "The warehouse in Ghent is cold.")
    await drive.ingester.drain()
    for tool in ("search_files", "semantic_search_files"):
        found = await assistant.call(tool, query="warehouse Ghent")
        missing = {hit["file"]["name"]: (hit["missing"], hit["note"]) for hit in found["hits"]}
        assert missing["report.docx"] == (PICTURE, "Not read: 1 picture without text.")
        assert missing["whole.md"] == (None, "")


async def test_the_answer_of_a_table_says_what_of_its_workbook_is_missing(
    drive: Drive, alice: Actor, assistant: Host
) -> None:
    await drive.documents.create(alice, "root", "staff.xlsx", uncalculated())
    sums = [{"function": "sum", "column": "Salary"}]
    found = await assistant.call("query_table", file_id="/staff.xlsx", aggregates=sums)
    none = [{"column": "Name", "operator": "=", "value": "Nobody"}]
    empty = await assistant.call("query_table", file_id="/staff.xlsx", filters=none)
    assert found["rows"][0]["values"] == ["21800"]
    assert [one["missing"] for one in (found, empty)] == [FORMULA, FORMULA]
    assert found["note"] == "Not read: 1 formula not calculated."


def test_a_finding_of_a_file_with_losses_is_partial_and_the_coverage_names_them() -> None:
    finding = Finding(path="/a.docx", status="answered", read_characters=5, characters=5, omissions={"picture": 1})
    repeated = Finding(path="/b.pdf", status="answered", read_characters=5, characters=5, omissions={"margin": 9})
    result = FindingResult.of(finding)
    assert (finding.is_partial, repeated.is_partial) == (True, False)
    assert result.missing == MissingResult(**PICTURE)
    assert result.note == "Not read: 1 picture without text."
    both = [finding, repeated]
    assert coverage_of(both, 2, "en") == "2 of 2 read; 1 only in part: /a.docx (not read: 1 picture without text)."
    assert "1 个只读了一部分：/a.docx（未读取：1 张没有文字的图片）" in coverage_of(both, 2, "zh")


@pytest.mark.parametrize("kind", OMISSION_KINDS)
def test_every_kind_is_named_in_both_languages_or_is_no_loss(kind: str) -> None:
    is_lost = kind not in {"margin", "encoding", "damage", "unsearched"}
    assert (MissingResult.of({kind: 2}) is not None) == is_lost
    assert bool(missing_things({kind: 2}, "zh")) == is_lost
    assert "omitted" not in missing_things({kind: 2}) + missing_things({kind: 2}, "zh")
