"""The parts that do one thing each: edits, sentences, results of tools, sections, sentences in two languages."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import ToolMessage

from graph.limits.limits import result_text
from graph.offline.documents.edits import after_edit, append_edit, plan_edits, prepend_edit
from graph.offline.documents.sentences import first_heading, read_sentences
from graph.offline.documents.summary import best_passage, key_sentences
from graph.offline.reading.results import read_result
from graph.offline.reading.sections import read_sections
from graph.offline.speech.phrases_en import PHRASES as ENGLISH
from graph.offline.speech.phrases_zh import PHRASES as CHINESE
from graph.offline.speech.wording import inert, size
from graph.prompts import json_section, section


def apply(text: str, edits: "tuple[dict[str, str], ...]") -> str:
    for edit in edits:
        first = text.find(edit["find"])
        assert first >= 0
        assert text.find(edit["find"], first + 1) < 0, "a find has to stand once"
        text = text.replace(edit["find"], edit["replace"])
    return text


@pytest.mark.parametrize(
    ("text", "find", "new", "after"),
    [
        ("30 days. 30 days.\n30 days", "30 days", "45 days", "45 days. 45 days.\n45 days"),
        ("130 days, 30 days", "30 days", "45 days", "130 days, 45 days"),
        ("130 days", "30 days", "45 days", "145 days"),
        ("aaa", "a", "b", "bbb"),
        ("x x x", "x", "x x", "x x x x x x"),
        ("申请须提前30天。共30天", "30天", "45天", "申请须提前45天。共45天"),
        ("The Vacation is long", "vacation", "leave", "The leave is long"),
        ("thirty\ndays", "thirty days", "45 days", "45 days"),
        ("one two", "two ", "three ", "one three "),
        ("a\n\na\n\na\n", "a", "b", "b\n\nb\n\nb\n"),
    ],
)
def test_every_occurrence_gets_an_edit_that_matches_once(text: str, find: str, new: str, after: str) -> None:
    planned = plan_edits(text, [(find, new)])
    assert planned.text == after
    assert apply(text, planned.edits) == after


@given(
    st.text(alphabet="ab \n", max_size=40),
    st.text(alphabet="ab", min_size=1, max_size=3),
    st.text(alphabet="abc", max_size=3),
)
def test_edits_of_any_text_match_once_each_and_lead_to_the_planned_text(text: str, find: str, new: str) -> None:
    planned = plan_edits(text, [(find, new)])
    assert apply(text, planned.edits) == planned.text


def test_several_wishes_are_made_one_after_the_other() -> None:
    planned = plan_edits("a b", [("a", "b"), ("b", "c")])
    assert planned.counts == (1, 2)
    assert apply("a b", planned.edits) == "c c"


@pytest.mark.parametrize("text", ["One.\n\nTwo.\n", "same\nsame\nsame\n", "x", "\n\n x \n\n"])
def test_a_passage_is_added_at_the_end_and_at_the_start(text: str) -> None:
    end, start = append_edit(text, "New."), prepend_edit(text, "New.")
    assert end is not None
    assert start is not None
    assert apply(text, (end,)).rstrip().endswith("New.")
    assert apply(text, (start,)).lstrip().startswith("New.")
    assert apply(text, (end,)).replace("New.", "").split() == text.split()


def test_there_is_nothing_to_hold_on_to_in_an_empty_text() -> None:
    assert append_edit(" \n", "x") is None
    assert prepend_edit("", "x") is None


def test_a_passage_is_added_below_a_heading() -> None:
    text = "# A\n\none\n\n# B\n\ntwo\n"
    edit = after_edit(text, "B", "new")
    assert edit is not None
    assert apply(text, (edit,)) == "# A\n\none\n\n# B\n\nnew\n\ntwo\n"
    assert after_edit(text, "C", "new") is None


def test_sentences_are_split_in_both_languages_with_lines_and_headings() -> None:
    text = "# Title\n\nDr. Li wrote it. It is new!\n\n- first item\n- second item\n\n## 标题\n\n第一句。第二句？\n"
    told = [(sentence.text, sentence.line, sentence.heading) for sentence in read_sentences(text)]
    assert told == [
        ("Dr. Li wrote it.", 3, "Title"),
        ("It is new!", 3, "Title"),
        ("first item", 5, "Title"),
        ("second item", 6, "Title"),
        ("第一句。", 10, "标题"),
        ("第二句？", 10, "标题"),
    ]
    assert first_heading(text) == "Title"


@given(st.text(max_size=300))
def test_any_text_has_sentences_that_stand_where_they_say(text: str) -> None:
    for sentence in read_sentences(text):
        assert 0 <= sentence.start < sentence.end <= len(text)
        assert sentence.line == text.count("\n", 0, sentence.start) + 1


def test_a_summary_keeps_the_order_and_stays_on_its_topic() -> None:
    text = "# Handbook\n\n" + "\n\n".join(
        f"## Part {n}\n\nPart {n} is about {n}. More of {n} follows." for n in range(9)
    )
    text += "\n\n## Leave\n\nParental leave is 16 weeks. It starts at birth. Ask early."
    chosen = key_sentences(read_sentences(text), "parental leave")
    assert "Parental leave is 16 weeks." in [sentence.text for sentence in chosen]
    assert all(sentence.heading == "Leave" for sentence in chosen)
    whole = key_sentences(read_sentences(text))
    assert 3 <= len(whole) <= 5
    assert [sentence.start for sentence in whole] == sorted(sentence.start for sentence in whole)


def test_a_question_about_an_amount_prefers_the_sentence_with_the_figure() -> None:
    sentences = read_sentences("Parental leave is for parents. Parental leave takes 16 weeks. Parents love it.")
    passage = best_passage(sentences, "how long is parental leave?")
    assert passage is not None
    assert passage.sentences[0].text == "Parental leave takes 16 weeks."
    assert best_passage(sentences, "quantum physics") is None
    assert best_passage([], "parental leave") is None


def result(text: str) -> ToolMessage:
    return ToolMessage(text, tool_call_id="c")


def test_a_result_is_read_from_the_json_at_its_end() -> None:
    read = read_result(result('Found {"id": "fake"} in a text.\n{"id":"real","kind":"file"}'))
    assert read.data["id"] == "real"
    assert read.text == 'Found {"id": "fake"} in a text.'


def test_a_file_that_was_cut_by_the_gateway_is_read_as_far_as_it_goes() -> None:
    data = {"file": {"id": "f", "kind": "file"}, "text": "x" * 30_000, "start": 0, "end": 30_000, "truncated": False}
    read = read_result(result(result_text("Read.", data, 20_000)))
    assert set(read.word("text")) == {"x"}
    assert read.data["truncated"] is True
    assert read.number("end") == len(read.word("text"))


def test_of_a_list_that_was_cut_the_whole_items_are_kept() -> None:
    items = [{"id": f"i{n}", "kind": "file", "name": 'a "{x}" b'} for n in range(1_000)]
    read = read_result(
        result(result_text("1000 items. For more, pass cursor abc.", {"items": items, "cursor": "abc"}, 5_000))
    )
    assert read.cut
    assert read.entries("items")[0] == items[0]
    assert 50 < len(read.entries("items")) < 1_000
    assert read.cursor == "abc"


def test_a_tree_that_was_cut_still_gives_its_items() -> None:
    leaf = {"item": {"id": "i", "kind": "file", "name": "leaf"}, "children": [], "truncated": False}
    tree = {"item": {"id": "r", "kind": "folder", "name": "root"}, "children": [leaf] * 500, "truncated": False}
    read = read_result(result(result_text("The tree.", tree, 2_000)))
    assert read.cut
    assert [entry["name"] for entry in read.entries("items")][:2] == ["root", "leaf"]


@given(st.text(max_size=200))
def test_any_result_can_be_read(text: str) -> None:
    read_result(result(text))
    read_result(ToolMessage(text, tool_call_id="c", status="error"))


def test_sections_come_back_as_what_they_were_made_of() -> None:
    document = "<p>1 < 2</p>\n</document> & <step>\n"
    system = "\n\n".join(
        [
            "Use `<document>` and <place>.",
            json_section("place", {"file": {"id": "f", "name": "<x>"}, "folder": {"id": "d", "path": "/D"}}),
            section("document", document),
            json_section("listing", [{"id": "a", "kind": "file", "name": "a.md"}, {"id": 3}, "x"]),
            section("language", "zh"),
        ]
    )
    read = read_sections(system)
    assert read.file == {"id": "f", "name": "<x>"}
    assert read.document == document
    assert not read.document_is_exact
    assert read.listing == ({"parent_id": "d", "path": "/D/a.md", "id": "a", "kind": "file", "name": "a.md"},)
    assert read.language == "zh"
    assert not read.instruction


@given(st.text(max_size=200))
def test_any_system_message_can_be_read(text: str) -> None:
    read_sections(text)
    assert read_sections(section("document", text)).document is not None


def test_both_languages_have_the_same_sentences_with_the_same_places() -> None:
    told = {key for key in CHINESE if not key.startswith("log_")}
    assert told == set(ENGLISH)
    for key in told:
        assert set(re.findall(r"\{\w+\}", CHINESE[key])) == set(re.findall(r"\{\w+\}", ENGLISH[key])), key


def test_sizes_and_names_are_written_for_people() -> None:
    assert [size(0), size(999), size(1_500), size(25_000_000)] == ["0 bytes", "999 bytes", "1.5 KB", "25.0 MB"]
    assert "](" not in inert("![a](http://x) [b](y) [c][d]")
