from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from drive_server.knowledge.chunk import ENOUGH, MAX_SIZE, chunk
from drive_server.knowledge.readers.source.markdown import markdown_elements
from drive_server.knowledge.readers.source.plain import csv_elements
from drive_server.knowledge.text.elements import Element, Extraction, Part, join
from drive_server.knowledge.text.place import SourceRange
from tests.drive_server.knowledge.samples import LEAVE, LEAVE_ZH


def markdown(text: str) -> Extraction:
    return Extraction("ready", elements=tuple(markdown_elements(text, len(text))), text=text, exact=True)


def test_a_passage_is_the_text_between_its_offsets() -> None:
    extraction = markdown(f"# Leave\n\n{LEAVE}\n\n## 育儿假\n\n{LEAVE_ZH}\n")
    passages = chunk(extraction)
    assert [extraction.text[passage.start : passage.end] for passage in passages] == [one.text for one in passages]
    assert [passage.ordinal for passage in passages] == [0, 1]


def test_headings_break_and_are_carried_along() -> None:
    passages = chunk(markdown(f"# Leave\n\n{LEAVE}\n\n## 育儿假\n\n{LEAVE_ZH}\n\n# Other\n\nText.\n"))
    assert [passage.heading for passage in passages] == ["Leave", "Leave › 育儿假", "Other"]
    assert passages[1].search_text == f"Leave › 育儿假\n## 育儿假\n\n{LEAVE_ZH}"


def test_headings_with_nothing_between_them_stay_together() -> None:
    passages = chunk(markdown("# Leave\n\n## Parents\n\nThey may.\n"))
    assert [(passage.heading, passage.text) for passage in passages] == [
        ("Leave › Parents", "# Leave\n\n## Parents\n\nThey may.")
    ]


def test_sentences_stay_whole_and_fill_a_passage() -> None:
    sentence = "This is a sentence of a paragraph that is far too long for a single passage. "
    passages = chunk(join([Part("text", (sentence * 40).strip())]))
    assert all(passage.text.startswith("This") and passage.text.endswith("passage.") for passage in passages)
    assert all(800 <= len(passage.text) <= MAX_SIZE for passage in passages[:-1])


def test_a_chinese_passage_has_about_four_hundred_characters() -> None:
    passages = chunk(join([Part("text", LEAVE_ZH * 30)]))
    assert all(350 <= len(passage.text) <= 450 for passage in passages[:-1])
    assert all(passage.text.endswith("。") for passage in passages)


def test_a_paragraph_of_some_size_ends_a_passage_and_short_ones_are_gathered() -> None:
    paragraph = "word " * (ENOUGH // 5 + 1)
    passages = chunk(join([Part("text", paragraph.strip()), Part("text", "short."), Part("text", "shorter.")]))
    assert [passage.text for passage in passages] == [paragraph.strip(), "short.\n\nshorter."]


def test_the_items_of_a_list_are_packed_together() -> None:
    passages = chunk(join([Part("list_item", f"item {number} of a list") for number in range(60)]))
    assert len(passages) == 2


def test_the_rows_of_a_table_carry_its_heading() -> None:
    text = "name,amount\n" + "".join(f"person {number},{number}\n" for number in range(200))
    extraction = Extraction("ready", elements=tuple(csv_elements(text, len(text))), text=text)
    passages = chunk(extraction)
    assert len(passages) > 1
    assert {passage.heading for passage in passages} == {"name,amount"}


def test_the_page_is_the_one_on_which_the_passage_begins() -> None:
    parts = [Part("title", "One", 1, 1), Part("text", LEAVE, 1), Part("title", "Two", 2, 1), Part("text", LEAVE, 2)]
    assert [passage.page for passage in chunk(join(parts))] == [1, 2]


def test_the_place_of_a_passage_is_its_lines_or_what_its_elements_say() -> None:
    assert [one.place for one in chunk(markdown(f"# A\n\n{LEAVE}\n\n# B\n\none\ntwo\n"))] == ["line=1-3", "line=5-8"]
    slides = [Part("text", "short", place=SourceRange("slide", number, number)) for number in (2, 3)]
    assert [one.place for one in chunk(join(slides))] == ["slide=2-3"]
    assert [one.place for one in chunk(join([Part("text", "a", 4), Part("text", "b", 5)]))] == ["page=4-5"]
    assert [one.place for one in chunk(join([Part("text", "a")]))] == [""]


def test_the_passages_of_a_table_that_is_cut_carry_its_first_row() -> None:
    rows = "\n".join(f"person {number} | {number}" for number in range(100))
    passages = chunk(join([Part("title", "Pay", level=1), Part("table", f"name | pay\n{rows}")]))
    assert [passage.heading for passage in passages] == ["Pay", "Pay › name | pay"]


def test_no_text_has_no_passages() -> None:
    assert chunk(Extraction("ready")) == []


@given(st.text(st.sampled_from("ab育。. \n"), min_size=1, max_size=6), st.integers(1, 1500))
def test_nothing_is_lost_and_nothing_is_too_large(piece: str, times: int) -> None:
    text = piece * times
    extraction = Extraction("ready", elements=(Element("text", text, 0, len(text)),), text=text)
    passages = chunk(extraction)
    assert "".join("".join(passage.text.split()) for passage in passages) == "".join(text.split())
    assert all(len(passage.text) <= MAX_SIZE for passage in passages)
