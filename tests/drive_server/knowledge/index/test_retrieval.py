from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.knowledge.embedding.embedder import LocalEmbedder, NoEmbedder
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.index.retrieval import ModelQuery, Retrieval
from tests.drive_server.knowledge.corpus import BEN, PORTS, SOUP, Corpus
from tests.drive_server.knowledge.samples import LEAVE, LEAVE_ZH

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from drive_server.knowledge.embedding.embedder import Vectors

INVOICES = [
    f"Invoice INV-2024-{number:04} of 2024 over {number}00 euros, paid in {number} days." for number in range(9)
]


@pytest.fixture(params=[LocalEmbedder, NoEmbedder], ids=["local", "none"])
def corpus(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Corpus]:
    embedder = request.param()
    index = KnowledgeIndex(str(tmp_path / "index"), embedder)
    yield Corpus(index, embedder)
    index.close()


@pytest.mark.parametrize(
    "query", ["INV-2024-0003", "inv-2024-0003", "ＩＮＶ－２０２４－０００３", "how much was invoice INV-2024-0003?"]
)
async def test_an_identifier_finds_its_passage_first(corpus: Corpus, query: str) -> None:
    for number, text in enumerate(INVOICES):
        await corpus.put(number, text)
    for mode in ("hybrid", "words", "text"):
        assert (await corpus.found(query, mode=mode))[0] == 3


async def test_all_of_an_identifier_is_wanted(corpus: Corpus) -> None:
    await corpus.put(1, "see foo_bar.baz and v1.2.3")
    await corpus.put(2, "foo and bar, not baz; v 1, 2 or 3")
    await corpus.put(3, "mail ann.lee@example.com about it")
    await corpus.put(4, "ann and lee have an example, com")
    assert await corpus.found("foo_bar.baz", mode="text") == [1]
    assert await corpus.found("v1.2.3", mode="text") == [1]
    assert await corpus.found("ann.lee@example.com", mode="text") == [3]


async def test_traditional_and_simplified_chinese_find_each_other(corpus: Corpus) -> None:
    await corpus.put(1, "員工請假規則與薪資說明，國際業務部適用。")
    await corpus.put(2, LEAVE_ZH)
    await corpus.put(3, SOUP)
    for mode in ("hybrid", "text"):
        assert (await corpus.found("员工请假规则", mode=mode))[0] == 1
        assert (await corpus.found("育兒假有多少天", mode=mode))[0] == 2
    (hit,) = await corpus.index.search("国际业务部", owner_ids=["a" * 32], mode="text")
    assert "國際業務部" in hit.text


@pytest.mark.parametrize("query", ["canteen noddles", "cantene noodles", "canteeen", "kanteen OR cantten"])
async def test_a_slip_of_the_pen_is_forgiven_where_the_exact_word_is_nowhere(corpus: Corpus, query: str) -> None:
    await corpus.put(1, SOUP)
    await corpus.put(2, PORTS)
    assert (await corpus.found(query, mode="text")) == ([] if "OR" in query else [1])
    if "OR" not in query:
        assert (await corpus.found(query))[0] == 1


async def test_a_word_that_is_there_is_not_taken_for_another(corpus: Corpus) -> None:
    await corpus.put(1, "The lease of the flat.")
    await corpus.put(2, "The leash of the dog.")
    assert await corpus.found("lease", mode="text") == [1]
    assert await corpus.found("lease", mode="words") == [1]


async def test_whether_a_word_is_there_is_not_told_by_what_others_have(corpus: Corpus) -> None:
    await corpus.put(1, SOUP)
    await corpus.put(2, "cantene", owner=BEN)
    await corpus.put(3, "soup")
    assert await corpus.found("cantene soup", mode="text") == [1]


async def test_numbers_and_short_words_are_never_guessed(corpus: Corpus) -> None:
    await corpus.put(1, "Room 8000, a cat.")
    for query in ("8001", "bat", "INV-2024-0001"):
        assert await corpus.found(query, mode="text") == []


async def test_a_phrase_is_found_as_it_stands_only(corpus: Corpus) -> None:
    await corpus.put(1, "Annual leave is long.")
    await corpus.put(2, "The annual report is on leave.")
    await corpus.put(3, "帶薪年假十天")
    await corpus.put(4, "带薪的年假")
    for mode in ("hybrid", "words", "text"):
        assert await corpus.found('"annual leave"', mode=mode) == [1]
        assert await corpus.found('"leave is" annual', mode=mode) == [1]
        assert await corpus.found("「带薪年假」", mode=mode) == [3]


async def test_a_phrase_that_stands_nowhere_is_only_words_to_who_asks_for_meaning(corpus: Corpus) -> None:
    await corpus.put(1, "Annual leave is long.")
    await corpus.put(2, "Annual leave, a draft.")
    assert await corpus.found('"leave annual"', mode="text") == []
    assert await corpus.found('"leave annual" -draft', mode="hybrid") == [1]


async def test_what_is_excluded_is_left_out_on_either_side(corpus: Corpus) -> None:
    await corpus.put(1, LEAVE)
    await corpus.put(2, f"{LEAVE} Draft.")
    for mode in ("hybrid", "text"):
        assert sorted(await corpus.found("parents", mode=mode)) == [1, 2]
        assert await corpus.found("parents -draft", mode=mode) == [1]


async def test_either_word_will_do_beside_all_others(corpus: Corpus) -> None:
    await corpus.put(1, "soup on Mondays")
    await corpus.put(2, "noodles on Mondays")
    await corpus.put(3, "soup on Fridays")
    assert sorted(await corpus.found("soup OR noodles Mondays", mode="text")) == [1, 2]


async def test_a_phrase_of_function_words_only_narrows_what_the_others_find(corpus: Corpus) -> None:
    await corpus.put(1, "How to be early.")
    await corpus.put(2, "Early birds.")
    assert await corpus.found('"to be" early', mode="text") == [1]
    assert await corpus.found('"the"', mode="text") == []


@pytest.mark.parametrize("corpus", [LocalEmbedder], indirect=True)
async def test_a_search_whose_passages_are_replaced_meanwhile_is_made_again(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 5):
        await corpus.put(number, f"{SOUP} {number}")
    asked: list[int] = []
    find_similar = Retrieval._find_similar  # pyright: ignore[reportPrivateUsage] - the moment between two queries

    async def find_later(self: Retrieval, model: ModelQuery, vector: Vectors | None, size: int) -> None:
        while not self.candidates.words:
            await anyio.lowlevel.checkpoint()
        asked.append(size)
        if len(asked) == 1:
            await corpus.put(1, f"{SOUP} 1", version=2)
        await find_similar(self, model, vector, size)

    monkeypatch.setattr(Retrieval, "_find_similar", find_later)
    assert sorted(await corpus.found("soup")) == [1, 2, 3, 4]
    assert len(asked) == 2


async def test_a_search_beside_writes_and_maintenance_never_fails_nor_finds_anything_twice(corpus: Corpus) -> None:
    for number in range(1, 5):
        await corpus.put(number, f"{SOUP} {number}")
    table = await corpus.index._tables.current.writable(0)  # pyright: ignore[reportPrivateUsage] - maintained at any moment
    answers: list[list[int]] = []

    async def write() -> None:
        for number in range(1, 5):
            await corpus.put(number, f"{SOUP} {number}, as of today", version=2)
            await table.optimize()

    async with anyio.create_task_group() as group:
        group.start_soon(write)
        answers += [await corpus.found("soup noodles", limit=20) for _ in range(8)]
    assert all(len(answer) == len(set(answer)) and len(answer) >= 3 for answer in answers)
    assert sorted(await corpus.found("today", limit=20)) == list(range(1, 5))


@pytest.mark.parametrize("query", ["invoce", "invoise", "bugets", "policis"])
async def test_a_slip_is_forgiven_where_the_index_has_stems(corpus: Corpus, query: str) -> None:
    for number, text in enumerate(("the invoice", "three budgets", "both policies")):
        await corpus.put(number, text)
    await corpus.index.maintain(idle=True)
    assert len(await corpus.found(query, mode="text")) == 1


async def test_a_word_of_which_a_question_consists_is_no_slip_of_another_word(corpus: Corpus) -> None:
    await corpus.put(1, "The wheat is sown in autumn.")
    await corpus.put(2, "Soup is served on Mondays.")
    await corpus.index.maintain(idle=True)
    assert await corpus.found("what soup", mode="words") == [2]
    assert sorted(await corpus.found("whaet soup", mode="words")) == [1, 2]
