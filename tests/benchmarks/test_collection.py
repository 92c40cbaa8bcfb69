from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from benchmarks.collection import Document, load_collection, measures_of, ndcg, read_judgments
from benchmarks.retrieval import OURS, WAYS, Answers, measure, write_run

if TYPE_CHECKING:
    from pathlib import Path

CORPUS = """{"_id": "a", "title": "Leave", "text": "Parents may take sixteen weeks."}

{"_id": "b", "title": "", "text": "食堂星期一有汤。"}
{"_id": "c", "text": "The canteen serves noodles."}
"""
QUERIES = """{"_id": "1", "text": "weeks for parents"}
{"_id": "2", "text": "食堂的湯"}
{"_id": "3", "text": ""}
{"_id": "4", "text": "not judged"}
"""
QRELS = "query-id\tcorpus-id\tscore\n1\ta\t2\n1\tc\t0\n2\tb\t1\n3\tc\t1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("corpus.jsonl", CORPUS), ("queries.jsonl", QUERIES), ("qrels.tsv", QRELS)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_grades_are_discounted_by_their_places() -> None:
    grades = {"a": 2.0, "b": 1.0}
    assert ndcg(["a", "b"], grades) == 1
    assert ndcg(["b", "x", "a"], grades) == pytest.approx((1 + 2 / 2) / (2 + 1 / math.log2(3)))
    assert ndcg([], grades) == 0


def test_means_are_over_what_was_asked_and_is_judged() -> None:
    found = {"1": ["x", "a"], "2": [], "unjudged": ["a"]}
    judgments = {"1": {"a": 1.0, "b": 1.0}, "2": {"b": 1.0}, "never asked": {"a": 1.0}}
    _, recall, reciprocal = measures_of(found, judgments)
    assert (recall, reciprocal) == (0.25, 0.25)


def test_judgments_may_have_a_header_or_four_columns(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("q d s\n1 0 a 2\n1 0 b 0\n2\tc\t1.0\n")
    assert read_judgments(path) == {"1": {"a": 2.0}, "2": {"c": 1.0}}


def test_a_title_becomes_a_heading_once() -> None:
    assert Document("1", "On\nleave", "Text.").as_markdown() == "# On leave\n\nText.\n"
    assert Document("1", "Leave", "Leave is long.").as_markdown() == "Leave is long.\n"


async def test_a_collection_goes_through_a_drive_of_its_own(folder: Path, tmp_path: Path) -> None:
    collection = load_collection(folder, "no-such-queries.jsonl", judged=True)
    assert [query.id for query in collection.queries] == ["1", "2", "3"]
    results = await measure(collection, WAYS)
    assert not any(answers.found["3"] for answers in results.values())
    assert results[OURS].found["1"][0] == results["full text"].found["1"][0] == "a"
    assert results[OURS].found["2"] == ["b"]
    write_run(tmp_path / "run", results[OURS])
    assert (tmp_path / "run").read_text().startswith("1 Q0 a 1 1.0 ")


def test_a_run_is_of_queries_without_judgments_too(folder: Path) -> None:
    (folder / "qrels.tsv").unlink()
    assert len(load_collection(folder, "queries.jsonl", judged=False).queries) == 4


def test_a_run_has_a_line_for_each_document(tmp_path: Path) -> None:
    write_run(tmp_path / "run", Answers(found={"q": ["a", "b"]}))
    assert (tmp_path / "run").read_text() == "q Q0 a 1 1.0 drive-agent\nq Q0 b 2 0.5 drive-agent\n"
