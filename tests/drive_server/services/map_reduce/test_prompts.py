"""The prompts for models and their replies: parts, quotations, tags."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_server.services.map_reduce.findings import Finding, coverage_of, failed
from drive_server.services.map_reduce.prompts import (
    PART_CHARACTERS,
    Part,
    Task,
    attribute,
    escaped,
    file_section,
    find_quote,
    parts_of,
    reply_of,
)


@given(st.integers(0, 3 * PART_CHARACTERS), st.integers(0, 9_000))
def test_parts_are_the_whole_text_in_order(length: int, line: int) -> None:
    text = ("字" * line + "\n") * (length // (line + 1)) + "字" * (length % (line + 1))
    parts = parts_of(text)
    assert all(text[part.start : part.start + len(part.text)] == part.text for part in parts)
    assert "".join(part.text for part in parts).strip() == text.strip()
    assert all(len(part.text) <= PART_CHARACTERS for part in parts)


def test_blank_parts_are_left_out_and_long_lines_are_cut() -> None:
    assert parts_of(" \n" * 40_000) == []
    assert [len(part.text) for part in parts_of("x" * (PART_CHARACTERS + 1))] == [PART_CHARACTERS, 1]


@pytest.mark.parametrize(
    ("said", "answer", "quote"),
    [
        ("It is 9.\nQUOTE: It is 9 euros.", "It is 9.", "It is 9 euros."),
        ("It is 9.\n**QUOTE:** “It is 9 euros.”", "It is 9.", "It is 9 euros."),
        ("九元。\nQUOTE：「租金九元」", "九元。", "租金九元"),
        ("It is 9.", "It is 9.", ""),
        ("QUOTE: It is 9 euros.", "It is 9 euros.", "It is 9 euros."),
        ("NOTHING", "", ""),
        (" nothing. ", "", ""),
        ("NOTHING\nQUOTE: none", "", ""),
        ("Nothing was paid.", "Nothing was paid.", ""),
        ("He said QUOTE: x", "He said QUOTE: x", ""),
        ("", "", ""),
    ],
)
def test_a_reply_is_its_answer_and_its_quotation(said: str, answer: str, quote: str) -> None:
    reply = reply_of(said)
    assert (reply.answer, reply.quote if reply.answer else "") == (answer, quote)


@pytest.mark.parametrize(
    ("quote", "place"),
    [
        ("rent is 9", (104, 113)),
        ("rent  is\n9", (104, 113)),
        ("rent is 10", None),
        ("", None),
        ("x" * 501, None),
        ("a.c", None),
        ("<b>(1)", (114, 120)),
        ("&lt;b>(1)", (114, 120)),
    ],
)
def test_a_quotation_stands_where_it_stands(quote: str, place: tuple[int, int] | None) -> None:
    assert find_quote(quote, Part(100, "The rent is 9 <b>(1) abc")) == place


@given(st.text(alphabet='<>/ \n"fileansworthktcu&;=五', max_size=80))
def test_no_content_ends_its_section(content: str) -> None:
    section = file_section(f"/{content}.md", content, 1, 2)
    assert section.count("</file>") == 1
    assert section.endswith("\n</file>")
    assert escaped(content).lower().count("<file") == 0
    assert "\n" not in attribute(content)
    assert '"' not in attribute(content)


@pytest.mark.parametrize(
    ("task", "chinese"),
    [
        (Task("Summarise it."), False),
        (Task("总结它。"), True),
        (Task("总结它。", language="en"), False),
        (Task("Summarise it.", language="zh-CN"), True),
        (Task("Summarise it.", language="中文"), True),
        (Task("Summarise it.", language="Chinese"), True),
    ],
)
def test_what_is_said_besides_answers_is_in_the_language_that_is_wanted(task: Task, *, chinese: bool) -> None:
    assert (task.texts == "zh") is chinese


def read(path: str, characters: int = 5) -> Finding:
    return Finding(path=path, status="answered", answer="x", read_characters=5, characters=characters)


def test_coverage_names_what_was_not_read_and_why_and_how_many_were_left_out() -> None:
    findings = [
        read("/a"),
        read("/b", 9),
        failed("/c\u202e.md", "needs_ocr", "It needs  OCR."),
        failed("/d", "x", "y" * 500),
    ]
    assert coverage_of(findings, 4, "en") == (
        f"2 of 4 read; 2 failed: /c\\u{{202e}}.md (It needs OCR), /d ({'y' * 100}…); 1 only in part: /b."
    )
    assert coverage_of(findings[:1], 1_001, "en") == (
        "1 of 1 read; 1,000 more fit and were left out, because max_files is 1."
    )
    assert coverage_of(findings[:1], None, "zh") == (
        "共 1 个文件，已读 1 个；还有一些符合的文件未处理，因为 max_files 为 1。"
    )


def test_coverage_stays_a_line_however_many_failed() -> None:
    line = coverage_of([failed(f"/{'n' * 5_000}{number}", "x", "r" * 900) for number in range(500)], 500, "en")
    assert line.startswith("0 of 500 read; 500 failed: ")
    assert line.endswith("and 490 more.")
    assert len(line) < 5_000
