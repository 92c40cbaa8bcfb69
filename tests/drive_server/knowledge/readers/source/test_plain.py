from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_server.knowledge.readers.source.markdown import markdown_elements
from drive_server.knowledge.readers.source.plain import csv_elements, text_elements
from drive_server.knowledge.readers.source.sections import code_elements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from drive_server.knowledge.text.elements import Element

ALL = 10**9


def kinds(elements: Iterator[Element]) -> list[tuple[str, str]]:
    return [(element.kind, element.text) for element in elements]


def test_paragraphs_titles_and_list_items_are_told_apart() -> None:
    text = "Leave policy\n\nParents may\nstay at home.\n\n- one\n- two\n  goes on\n1. three\n\nThe end."
    assert kinds(text_elements(text, ALL)) == [
        ("title", "Leave policy"),
        ("text", "Parents may\nstay at home."),
        ("list_item", "- one"),
        ("list_item", "- two\n  goes on"),
        ("list_item", "1. three"),
        ("text", "The end."),
    ]


def test_chinese_paragraphs_stay_whole_with_or_without_blank_lines() -> None:
    text = "第一章 总则\n\n　　员工可以休假，\n但需要申请。\n　　第二段在这里。\n没有缩进的第三段。\n最后一段"
    assert kinds(text_elements(text, ALL)) == [
        ("title", "第一章 总则"),
        ("text", "员工可以休假，\n但需要申请。"),
        ("text", "第二段在这里。"),
        ("text", "没有缩进的第三段。"),
        ("text", "最后一段"),
    ]


def test_the_rows_of_a_table_follow_its_heading_and_quotes_hold_line_breaks() -> None:
    text = 'name,note\r\nann,"two\r\nlines"\r\nbob,x\r\n\r\n"open,3\r\n'
    assert kinds(csv_elements(text, ALL)) == [
        ("title", "name,note"),
        ("table", 'ann,"two\r\nlines"'),
        ("table", "bob,x"),
        ("table", '"open,3'),
    ]


def test_code_is_cut_at_blank_lines_and_keeps_its_indent() -> None:
    text = "def f():\n    a = 1\n\n    return a\n"
    assert kinds(code_elements(text, ALL)) == [("code", "def f():\n    a = 1"), ("code", "    return a")]


def test_markdown_blocks_have_their_kind_and_their_place() -> None:
    text = (
        "---\ntitle: x\n---\n# Leave **policy** [a](b)\r\nPara\r\nmore\r\n\r\n- item\n- two\n\n"
        "| a | b |\n|--|--|\n| 1 | 2 |\n"
        "\n```py\ncode\n\nx\n```\n\n> quote\n\n第二章\n---\n文本。\n"
    )
    found = [
        (element.kind, element.level, text[element.start : element.end]) for element in markdown_elements(text, ALL)
    ]
    assert found == [
        ("text", 0, "---\ntitle: x\n---"),
        ("title", 1, "# Leave **policy** [a](b)"),
        ("text", 0, "Para\r\nmore"),
        ("list_item", 0, "- item"),
        ("list_item", 0, "- two"),
        ("table", 0, "| a | b |\n|--|--|\n| 1 | 2 |"),
        ("code", 0, "```py\ncode\n\nx\n```"),
        ("text", 0, "> quote"),
        ("title", 2, "第二章\n---"),
        ("text", 0, "文本。"),
    ]


def test_a_markdown_heading_is_read_without_its_markup() -> None:
    (title,) = markdown_elements("## Leave **policy** and [form](https://x.example) `v2`", ALL)
    assert title.text == "Leave policy and form v2"


@pytest.mark.parametrize("text", ["> " * 3000 + "deep", "- " * 3000, "-\n" * 50])
def test_markdown_that_the_parser_gives_up_on_is_still_text(text: str) -> None:
    assert list(markdown_elements(text, ALL))


READERS: list[Callable[[str, int], Iterator[Element]]] = [
    text_elements,
    code_elements,
    csv_elements,
    markdown_elements,
]


@pytest.mark.parametrize("reader", READERS)
@given(text=st.text(st.sampled_from("ab。.-#>|`\"',:=1 \t\r\n　一章")))
def test_elements_are_in_order_and_inside_of_the_text(
    reader: Callable[[str, int], Iterator[Element]], text: str
) -> None:
    elements = list(reader(text, ALL))
    assert all(0 <= element.start < element.end <= len(text) for element in elements)
    assert all(before.end <= after.start for before, after in itertools.pairwise(elements))


@pytest.mark.parametrize("reader", READERS[:3])
@given(text=st.text(st.sampled_from("ab。.-#\"',:=1 \t\r\n　一章")))
def test_plain_elements_lose_nothing_but_white_space(
    reader: Callable[[str, int], Iterator[Element]], text: str
) -> None:
    elements = list(reader(text, ALL))
    assert "".join("".join(element.text.split()) for element in elements) == "".join(text.split())
    assert all(text[element.start : element.end] == element.text for element in elements)


@pytest.mark.parametrize("reader", READERS)
def test_only_the_beginning_of_a_huge_text_becomes_elements(reader: Callable[[str, int], Iterator[Element]]) -> None:
    text = "word, word\n\n" * 1000
    assert max(element.end for element in reader(text, 600)) <= 600
