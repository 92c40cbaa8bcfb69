"""With the packaged models: what is not there is not found, and languages are crossed both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.knowledge.embedding.embedder import CjkEmbedder, LocalEmbedder
from drive_server.knowledge.index.index import KnowledgeIndex
from tests.drive_server.knowledge.corpus import ANA, PORTS, SOUP, Corpus

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

LEAVE = "Employees have 28 days of annual vacation. Unused days move to the next year until 31 March."
RENT = "月租金人民币5800元，押一付三。不得饲养宠物。"
BEAN = "The résumé of José O’Brien names a Straße in Łódź."


@pytest.fixture
async def corpus(tmp_path: Path) -> AsyncIterator[Corpus]:
    late = CjkEmbedder()
    index = KnowledgeIndex(str(tmp_path / "index"), LocalEmbedder(), late=late)
    corpus = Corpus(index, LocalEmbedder())
    for number, text in enumerate((LEAVE, RENT, PORTS, SOUP, BEAN)):
        await corpus.put(number, text)
    waiting = await index.late_passages(10)
    vectors = await late.embed_documents(list(waiting.values()))
    await index.add_vectors(dict(zip(waiting, vectors, strict=True)), late.name)
    yield corpus
    index.close()


async def best(corpus: Corpus, query: str) -> str:
    hits = await corpus.index.search(query, owner_ids=[ANA], answers_only=True)
    return hits[0].text if hits else ""


async def test_questions_about_what_is_not_there_find_nothing(corpus: Corpus) -> None:
    absent = (
        *("zzzzqqq", "How tall is Mount Everest?", "when is my dentist appointment", "the"),
        *("的", "鲸鱼怎么交流", "梵高的向日葵画于哪一年", "家长会什么时候开", "宠物的疫苗在哪里打", "搬家公司的电话"),
    )
    assert {query: found for query in absent if (found := await best(corpus, query))} == {}


async def test_questions_find_their_passage_in_either_language(corpus: Corpus) -> None:
    answers = {
        "员工有多少天休假": LEAVE,
        "how long is the holiday of staff": LEAVE,
        "可以养宠物吗": RENT,
        "monthly rent of the flat, are pets allowed": RENT,
        "port 8000": PORTS,
        "noodles": SOUP,
    }
    assert {query: await best(corpus, query) for query in answers} == answers


async def test_one_word_a_number_and_a_slip_of_the_pen_are_never_refused(corpus: Corpus) -> None:
    asked = {"vacation": LEAVE, "vacaton days": LEAVE, "31 March": LEAVE, "宠物": RENT, "5800": RENT, "押一付三": RENT}
    assert {query: await best(corpus, query) for query in asked} == asked


async def test_a_chinese_question_about_what_is_in_no_file_of_another_language_finds_nothing(corpus: Corpus) -> None:
    asked = ("怎么缝扣子", "蒙娜丽莎是谁画的", "燃气表读数", "贝加尔湖有多深", "吉他和弦谱", "鑫淼焱垚")
    assert {query: found for query in asked if (found := await best(corpus, query))} == {}


async def test_words_are_found_with_other_accents_and_apostrophes(corpus: Corpus) -> None:
    asked = ["resume", "résumé", "RESUME", "resumes", "jose", "O'Brien", "O’Brien", "obrien", "strasse", "lodz"]
    for mode in ("text", "words", "hybrid"):
        found = {query: await corpus.found(query, mode=mode, answers_only=True) for query in asked}
        assert {query: hits[:1] for query, hits in found.items()} == {query: [4] for query in asked}, mode


async def test_a_phrase_keeps_its_accents(corpus: Corpus) -> None:
    assert await corpus.found('"résumé"', mode="text") == [4]
    assert await corpus.found('"resume"', mode="text") == []


async def test_a_chinese_name_an_id_and_one_word_are_found_by_their_text(corpus: Corpus) -> None:
    await corpus.put(5, "端木清欢借走了相机，单号 QX-20931。")
    for query in ("端木清欢", "QX-20931", "谁借走了相机", "相机"):
        assert (await corpus.found(query, answers_only=True))[:1] == [5], query


async def test_meaning_orders_what_has_hardly_a_word_of_the_question(
    corpus: Corpus,
) -> None:
    await corpus.put(10, "Staff may take a dog to the office if it stays on its leash.")
    await corpus.put(11, "The team bakes muffins on Friday for whoever likes them.")
    hits = await corpus.index.search("puppies at the workplace on friday", owner_ids=[ANA])
    assert hits[0].text.startswith("Staff")
