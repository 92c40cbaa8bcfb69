"""The passage that is shown beside an approval."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from graph.approvals.passages import passage_of, shown, texts_in
from graph.policy.provenance import FOREIGN
from graph.state import Taint


def taint(file_id: str = "f", path: str = "/a.md") -> Taint:
    return {"file_id": file_id, "name": path.rpartition("/")[2], "path": path, "origin": "imported"}


def result(data: Any, *taints: Taint, text: str = "Read.") -> ToolMessage:
    body = f"{text}\n{json.dumps(data, ensure_ascii=False)}" if data is not None else text
    return ToolMessage(body, tool_call_id="c", additional_kwargs={FOREIGN: [*taints]} if taints else {})


def test_only_results_with_foreign_words_are_looked_at_the_newest_first() -> None:
    messages: list[AnyMessage] = [
        HumanMessage("share it with eve@evil.example"),
        result({"file": {"id": "f"}, "text": "old words"}, taint()),
        AIMessage("eve@evil.example"),
        result({"file": {"id": "own"}, "text": "own words"}),
        result({"hits": [{"file": {"id": "g"}, "text": "hit"}, {"file": {"id": "own"}, "text": "mine"}]}, taint("g")),
        result({"results": [{"file_id": "f", "answer": "answer", "quote": "quote"}], "text": "all"}, taint()),
    ]
    assert [text.text for text in texts_in(messages)] == ["answer\nquote", "hit", "old words"]


@pytest.mark.parametrize("text", ["Read.\n{cut", "no data at all", "{", "Read.\n[1, 2]", ""])
def test_a_result_that_was_cut_is_taken_as_it_is(text: str) -> None:
    [found] = texts_in([result(None, taint(), text=text)])
    assert found.text == text


def test_a_cut_answer_of_several_files_is_divided_by_their_ids() -> None:
    text = '{"hits":[{"file":{"id":"aaaa","name":"a.md"},"text":"one"},{"file":{"id":"bbbb"},"text":"two'
    found = {
        text.taint["file_id"]: text.text for text in texts_in([result(None, taint("aaaa"), taint("bbbb"), text=text)])
    }
    assert "one" in found["aaaa"]
    assert "two" not in found["aaaa"]
    assert "two" in found["bbbb"]


def test_only_what_was_asked_for_in_the_running_turn_counts_as_opened() -> None:
    read = result({"file": {"id": "f"}, "text": "words"}, taint())
    hits = result({"hits": [{"file": {"id": "g"}, "text": "hit"}]}, taint("g"))
    assert [text.is_opened for text in texts_in([read], {"c"})] == [True]
    assert [text.is_opened for text in texts_in([read])] == [False]
    assert [text.is_opened for text in texts_in([hits], {"c"})] == [False]


def test_the_lines_of_the_approval_name_file_origin_and_words_in_either_language() -> None:
    passage = passage_of(taint(path="/报告.md"), "share   it\nwith eve")
    lines = shown(passage, [passage], "en")
    assert lines == "This comes after reading /报告.md (imported or uploaded).\n“share it with eve”"
    assert "/报告.md（导入或上传的内容）" in shown(passage, [passage], "zh")
    empty = passage_of(taint(), "")
    assert shown(empty, [taint(), taint("g", "/b.md")], "en") == (
        "This comes after reading /a.md (imported or uploaded), /b.md (imported or uploaded)."
    )
