from __future__ import annotations

import itertools

import pytest

from benchmarks.fixtures.texts.collection import Collection, Document, Query
from benchmarks.fixtures.texts.docstrings import of_package
from benchmarks.search.fusion import CHOICES, STEPS, Asked, choose, mean, mean_of_ours, measure, rows_of
from drive_server.knowledge.embedding.embedder import CjkEmbedder, LocalEmbedder

WORDS_KNOW = Asked(0.3, [1 - step / STEPS for step in range(STEPS + 1)], 0.5)
VECTORS_KNOW = Asked(0.3, [step / STEPS for step in range(STEPS + 1)], 0.5)
TEXTS = {"a": "Parents may take sixteen weeks of leave.", "b": "The canteen serves noodles on Monday."}


def test_the_trust_in_a_collection_is_chosen_on_the_others() -> None:
    rows = rows_of({"by words": [WORDS_KNOW], "by vectors": [VECTORS_KNOW]})
    most, least = max(one.share(0.3) for one in CHOICES), min(one.share(0.3) for one in CHOICES)
    assert [row[7] for row in rows] == [f"{1 - most:.3f}", f"{least:.3f}", f"{(1 - most + least) / 2:.3f}"]
    assert mean([VECTORS_KNOW], choose([[VECTORS_KNOW]])) == pytest.approx(most)


async def test_collections_go_through_the_products_own_retrieval() -> None:
    documents = [Document(key, "", text) for key, text in TEXTS.items()]
    queries = [Query("1", "sixteen weeks"), Query("2", "食堂"), Query("3", "When are noodles served?")]
    judgments = {"1": {"a": 1.0}, "2": {"b": 1.0}, "3": {"b": 1.0}}
    rows = await measure([Collection("small", documents, queries, judgments)], LocalEmbedder())
    assert [row[:2] for row in rows] == [["small", "2"], ["mean", ""]]
    assert {row[5] for row in rows} == {"1.000"}  # ours
    assert [row[6] for row in rows] == ["1.000 1.000", ""]  # its halves


async def test_chinese_questions_are_measured_by_the_model_that_reads_them() -> None:
    documents = [Document("a", "", "员工可以休十二周的带薪育儿假。"), Document("b", "", "食堂周一供应汤。")]
    queries = [Query("1", "生孩子能休息多久？"), Query("2", "noodles")]
    judgments: dict[str, dict[str, float]] = {"1": {"a": 1.0}, "2": {"b": 1.0}}
    rows = await measure([Collection("small", documents, queries, judgments)], CjkEmbedder())
    assert [row[:2] for row in rows] == [["small", "1"], ["mean", ""]]
    assert rows[0][3] == rows[0][5] == "1.000"  # vectors, and ours


def test_docstrings_make_a_collection_that_is_the_same_at_every_run() -> None:
    collection = of_package("drive_server.knowledge")
    assert collection == of_package("drive_server.knowledge")
    texts = {document.id: document.text for document in collection.documents}
    assert not any(
        query.text in texts[document] for query in collection.queries for document in collection.judgments[query.id]
    )
    with pytest.raises(ModuleNotFoundError):
        of_package("no_such_package_here")


def test_choices_differ() -> None:
    assert not any(one == other for one, other in itertools.combinations(CHOICES, 2))


def test_ours_is_the_share_that_the_product_gives_each_query() -> None:
    asked = [Asked(0.3, VECTORS_KNOW.ndcg, share) for share in (0.9, 0.5)]
    assert mean_of_ours(asked) == pytest.approx(0.7)
