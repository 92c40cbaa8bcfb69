"""Every reader of documents counts what it meets and does not read, and all who show the file say so."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from drive_server.kernel.messages import TEXTS
from drive_server.knowledge.formats import FORMATS, Format
from drive_server.knowledge.readers.extract import extract
from drive_server.knowledge.text.omissions import OMISSION_KINDS, OmissionKind, Omissions, is_partial, omission_sentence
from tests.drive_server.knowledge.omitting import SAMPLES

DOCUMENT = (Path(__file__).parents[4] / "docs" / "FORMATS.md").read_text()
DOCUMENTS = [row for row in FORMATS if row.reader and not row.is_text]
CASES = [(row, kind) for row in DOCUMENTS for kind in row.omits]


@pytest.mark.parametrize("row", DOCUMENTS, ids=lambda row: row.name)
def test_every_reader_of_documents_has_the_counter_and_kinds_to_count(row: Format) -> None:
    module, _, function = row.reader.partition(":")
    reader = getattr(import_module(f"drive_server.knowledge.readers.{module}"), function)
    assert list(inspect.signature(reader).parameters) == ["path", "omissions"]
    assert row.omits


@pytest.mark.parametrize(("row", "kind"), CASES, ids=lambda value: getattr(value, "name", value))
def test_what_a_reader_leaves_out_is_counted_and_named(row: Format, kind: OmissionKind, tmp_path: Path) -> None:
    name, data = SAMPLES[row.name][kind]()
    (tmp_path / "blob").write_bytes(data)
    extraction = extract(tmp_path / "blob", name, "")
    assert extraction.state in ("ready", "needs_ocr"), extraction.reason
    assert extraction.omissions.get(kind)
    assert omission_sentence({kind: extraction.omissions[kind]}).split(": ")[1].rstrip(".") in extraction.reason


@pytest.mark.parametrize("row", DOCUMENTS, ids=lambda row: row.name)
def test_the_document_names_for_each_format_what_is_counted_and_not_read(row: Format) -> None:
    lines = [line for line in DOCUMENT.splitlines() if line.startswith("|")]
    (suffix, *_) = row.suffixes
    (line,) = (line for line in lines if re.search(rf"\| [^|]*\b{suffix}\b[^|]*\|", line.partition("|")[2]))
    documented = set(re.findall(r"`(\w+)`", line.split("|")[-2]))
    assert set(row.omits) <= documented <= set(OMISSION_KINDS)


def test_every_kind_has_a_sentence_in_both_languages() -> None:
    assert {code.partition(".")[2] for code in TEXTS.codes if code.startswith("omitted.")} == {
        *OMISSION_KINDS,
        "doubtful",
        "repeated",
        "unsearched_part",
    }
    counts = {"picture": 2, "attachment": 1, "margin": 3}
    expected = (
        "Not read: 2 pictures without text, 1 attachment. Told once only: 3 lines of repeated page heads and feet."
    )
    assert omission_sentence(counts) == expected
    assert omission_sentence(counts, "zh") == "未读取：2 张没有文字的图片，1 个附件。仅保留一次：3 行重复的页眉和页脚。"
    assert omission_sentence({}) == ""


def test_limits_and_damage_are_told_in_both_languages() -> None:
    counts = {"damage": 1, "length": 20_000_000, "unsearched": 2_000_000}
    assert omission_sentence(counts) == (
        "Not read: the text after the first 20,000,000 characters. "
        "Not searched: the text after the first 2,000,000 characters. "
        "Not certain: whether the damaged file is complete."
    )
    assert omission_sentence(counts, "zh") == (
        "未读取：前 20,000,000 个字符之后的文字。未纳入搜索：前 2,000,000 个字符之后的文字。"
        "不确定：文件已损坏，内容是否完整。"
    )
    omissions = Omissions()
    omissions.add_all({"length": 5, "picture": 1})
    omissions.add_all({"length": 5, "picture": 1})
    assert omissions.counts == {"length": 5, "picture": 2}


def test_a_long_text_counts_where_its_search_ends(tmp_path: Path) -> None:
    (tmp_path / "blob").write_text("word " * 400_001)
    extraction = extract(tmp_path / "blob", "long.txt", "")
    assert extraction.omissions == {"unsearched": 2_000_000}
    assert extraction.reason == "Not searched: the text after the first 2,000,000 characters."


def test_every_kind_is_counted_by_a_reader() -> None:
    counted = {kind for row in FORMATS for kind in row.omits} | {"encoding", "damage", "length", "unsearched"}
    assert counted == set(OMISSION_KINDS)


def test_a_file_of_which_only_repetitions_were_left_out_is_whole() -> None:
    assert not is_partial("", {})
    assert not is_partial(omission_sentence({"margin": 3}), {"margin": 3})
    assert is_partial(omission_sentence({"picture": 1}), {"picture": 1})
    assert is_partial("Only the first 100 characters were read.", {})


def test_omissions_of_a_file_within_a_file_are_added() -> None:
    omissions = Omissions()
    omissions.add("picture")
    omissions.add("sheet", 0)
    omissions.add_all({"picture": 2, "chart": 1})
    assert omissions.counts == {"chart": 1, "picture": 3}
