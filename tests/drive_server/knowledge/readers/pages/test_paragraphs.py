from __future__ import annotations

from drive_server.knowledge.readers.pages.paragraphs import Line, Page, page_parts


def lines(*texts: str, top: float = 700, pitch: float = 14, height: float = 12, left: float = 72) -> list[Line]:
    return [Line(text, left, left + 6 * len(text), top - pitch * number, height) for number, text in enumerate(texts)]


def texts(*pages: list[Line]) -> list[tuple[str, str]]:
    return [(part.kind, part.text) for part in page_parts([Page(n, tuple(p)) for n, p in enumerate(pages, start=1)])]


def test_lines_are_joined_and_divided_words_are_mended() -> None:
    assert texts(lines("The request has to reach the person-", "nel depart\x02", "ment in time.")) == [
        ("text", "The request has to reach the personnel department in time.")
    ]


def test_chinese_lines_are_joined_without_a_space() -> None:
    assert texts(lines("员工可以休十二周的带薪", "育儿假，", "也可以申请。")) == [
        ("text", "员工可以休十二周的带薪育儿假，也可以申请。")
    ]


def test_a_wider_gap_begins_a_paragraph() -> None:
    assert texts([*lines("First one,", "second line.", "third"), *lines("Another", "one", top=630)]) == [
        ("text", "First one, second line. third"),
        ("text", "Another one"),
    ]


def test_a_paragraph_goes_on_over_the_page_if_its_sentence_does() -> None:
    assert texts(lines("This sentence goes on"), lines("on the next page.")) == [
        ("text", "This sentence goes on on the next page.")
    ]
    assert len(texts(lines("This one ends."), lines("This one begins."))) == 2


def test_larger_type_is_a_heading_with_a_level_by_its_size() -> None:
    body = lines("Body text that is long enough to set the common size.", top=600)
    page = [*lines("Title", height=24), *lines("Section", height=16, top=650), *body]
    assert [(part.kind, part.level) for part in page_parts([Page(1, tuple(page))])] == [
        ("title", 1),
        ("title", 2),
        ("text", 0),
    ]


def test_bullets_are_list_items() -> None:
    assert [kind for kind, _ in texts(lines("• first;", "• second;", "• third."))] == ["list_item"] * 3


def test_cells_of_one_row_stay_together() -> None:
    row = [*lines("weeks"), *lines("pay", left=300)]
    assert texts(row) == [("text", "weeks pay")]


def test_a_page_without_lines_has_no_parts() -> None:
    assert texts([], []) == []


def test_a_heading_close_above_its_text_is_not_part_of_it() -> None:
    page = [
        *lines("Annual report", height=14, top=683),
        *lines("The company grew", height=11, top=667),
        *lines("and grew, for every year that anyone remembers,", "and will.", height=11, top=640, pitch=25),
    ]
    assert texts(page)[0] == ("title", "Annual report")


def test_short_lines_far_apart_are_paragraphs_and_full_ones_are_set_wide() -> None:
    assert (
        len(texts(lines("A link to the site", "Another line that is quite a bit longer", "Short", pitch=25))) == 3 - 1
    )
    wide = ["This line of a thesis is set with double spacing", "and goes on over the whole of the line, as it has to"]
    assert len(texts(lines(*wide, pitch=25))) == 1


def test_bullets_of_symbol_fonts_are_list_items() -> None:
    assert [kind for kind, _ in texts(lines("\uf0b7 first;", "\uf0b7 second."))] == ["list_item"] * 2
