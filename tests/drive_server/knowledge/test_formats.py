"""One row for each format: every part of the drive that knows formats reads the table."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from drive_server.knowledge import formats
from drive_server.knowledge.formats import FORMATS, GROUPS, Format, FormatTable, format_of
from drive_server.knowledge.media_types import is_text, media_type_of
from drive_server.knowledge.readers.extract import extract
from drive_server.knowledge.text.elements import Extraction, Part, join

if TYPE_CHECKING:
    from drive_server.knowledge.text.omissions import Omissions

DOCUMENT = (Path(__file__).parents[3] / "docs" / "FORMATS.md").read_text()
READ = [row for row in FORMATS if row.reader]


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> Format:
    """A format that is added by a reader and a row."""

    def made_up_extraction(path: Path, omissions: Omissions) -> Extraction:
        omissions.add("picture", 2)
        return join([Part("title", path.read_text().removeprefix("%MADE "), level=1)])

    module = ModuleType("drive_server.knowledge.readers.made_up")
    module.__dict__["made_up_extraction"] = made_up_extraction
    monkeypatch.setitem(sys.modules, module.__name__, module)
    types = {"application/x-made-up": "made up"}
    row = Format("made-up", types, "presentation", "made_up:made_up_extraction", b"%MADE")
    monkeypatch.setattr(formats, "table", FormatTable((*FORMATS, row)))
    return row


def test_a_format_is_added_by_a_reader_and_a_row(tmp_path: Path, made_up: Format) -> None:
    path = tmp_path / "blob"
    path.write_text("%MADE a plan")
    assert media_type_of("a.made") == "application/x-made-up"
    assert not is_text("application/x-made-up")
    for name, media_type in (("a.made", ""), ("a", "application/x-made-up"), ("a.txt", "text/plain")):
        assert format_of(name, media_type, b"%MADE a plan") is made_up
        assert extract(path, name, media_type).text == "a plan"
        assert extract(path, name, media_type).reason == "Not read: 2 pictures without text."
    assert set(made_up.suffixes) <= set(formats.suffixes_of("presentation"))
    assert "application/x-made-up" in formats.media_types_of("presentation")


@pytest.mark.parametrize("row", READ, ids=lambda row: row.name)
def test_every_reader_exists(row: Format) -> None:
    module, _, function = row.reader.partition(":")
    assert callable(getattr(import_module(f"drive_server.knowledge.readers.{module}"), function))


def test_names_and_suffixes_are_of_one_row_and_every_group_has_one() -> None:
    suffixes = [suffix for row in FORMATS for suffix in row.suffixes]
    assert len(suffixes) == len(set(suffixes))
    assert len({row.name for row in FORMATS}) == len(FORMATS)
    assert {row.group for row in FORMATS} == set(GROUPS)


def test_the_document_lists_the_formats_that_are_read_and_no_others() -> None:
    table = DOCUMENT.split("\n\n")[2]
    cells = [line.split("|")[2] for line in table.splitlines()[2:]]
    assert sorted(re.findall(r"[a-z0-9]+", " ".join(cells))) == sorted(s for row in READ for s in row.suffixes)


def test_the_groups_of_the_search_are_in_its_document() -> None:
    text = (Path(__file__).parents[3] / "docs" / "MCP.md").read_text()
    assert [group for group in GROUPS if f"`{group}`" not in text] == []
