"""Two models in one index: vectors of the late one come after the words, and are compared with none of the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from drive_server.kernel.text.characters import is_cjk
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.index.rows import MODEL, VECTOR, text_digest
from tests.drive_server.knowledge.corpus import ANA, BEN, Corpus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from drive_server.knowledge.embedding.embedder import Vectors

DIMENSIONS = 8
SUBJECTS = (("leave", "育儿", "休假", "baby"), ("port", "端口", "服务"), ("soup", "食堂", "午饭"))


@dataclass
class SubjectEmbedder:
    """Embeds a text as its subject; notes what it was asked."""

    name: str
    is_for_cjk: bool
    asked: list[str] = field(default_factory=list[str])
    dimensions: int = DIMENSIONS
    weight: float = 0.8
    floor: float = 0.0

    __hash__ = object.__hash__

    def nearness(self, query: str) -> None:
        """Return None: any distance will do."""
        del query

    def supports(self, text: str) -> bool:
        return is_cjk(text) == self.is_for_cjk

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._vector(text) for text in texts])

    async def embed_query(self, text: str) -> Vectors:
        self.asked.append(text)
        return self._vector(text)

    def _vector(self, text: str) -> Vectors:
        vector = np.zeros(DIMENSIONS, np.float32)
        subject = next(place for place, words in enumerate(SUBJECTS) if any(word in text for word in words))
        # The two models place each subject elsewhere: compared with the other's vectors, they would find another one.
        vector[subject if self.is_for_cjk else (subject + 1) % len(SUBJECTS)] = 1
        return vector


@dataclass
class Pair(Corpus):
    late: SubjectEmbedder

    async def embed_late(self) -> None:
        waiting = await self.index.late_passages(100)
        found = await self.late.embed_documents(list(waiting.values()))
        await self.index.add_vectors(dict(zip(waiting, found, strict=True)), self.late.name)


def pair(folder: Path, *, western_name: str = "western", late_name: str = "late") -> Pair:
    western, late = SubjectEmbedder(western_name, is_for_cjk=False), SubjectEmbedder(late_name, is_for_cjk=True)
    before = SubjectEmbedder("western", is_for_cjk=False)
    return Pair(KnowledgeIndex(str(folder / "index"), western, {"western": before}.get, late=late), western, late)


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Pair]:
    corpus = pair(tmp_path)
    yield corpus
    corpus.index.close()


async def fill(corpus: Pair) -> None:
    await corpus.put(1, "Parents may take leave.")
    await corpus.put(2, "The port is 8000.")
    await corpus.put(3, "员工有育儿的日子。")
    await corpus.put(4, "端口是八千。")


async def test_a_passage_is_found_by_its_words_before_it_has_its_vector(corpus: Pair) -> None:
    await fill(corpus)
    assert await corpus.found("员工", mode="text") == [3]
    assert await corpus.index.waiting_for_vectors(ANA) == 2
    assert await corpus.index.waiting_for_vectors(BEN) == 0
    assert await corpus.index.waiting_for_vectors(ANA, ["1".zfill(32), "3".zfill(32)]) == 1
    assert await corpus.index.waiting_for_vectors(ANA, []) == 0
    assert await corpus.found("休假", mode="vector") == []
    await corpus.embed_late()
    assert await corpus.index.waiting_for_vectors(ANA) == 0
    assert await corpus.index.late_passages(100) == {}
    assert (await corpus.found("休假", mode="vector"))[0] == 3
    assert (await corpus.found("休假几天"))[0] == 3


async def test_each_question_is_compared_with_vectors_of_the_same_model_only(corpus: Pair) -> None:
    await fill(corpus)
    await corpus.embed_late()
    hits = await corpus.found("baby", mode="vector")
    assert set(hits[:2]) == {1, 3}
    assert await corpus.found("服务", mode="vector") == [4]
    assert corpus.embedder is not corpus.late


async def test_an_english_question_finds_chinese_passages_by_their_meaning(corpus: Pair) -> None:
    await corpus.put(3, "员工有育儿的日子。")
    await corpus.put(4, "端口是八千。")
    await corpus.embed_late()
    assert await corpus.found("my baby is born") == [3]


async def test_the_late_model_is_not_asked_as_long_as_no_passage_is_of_it(corpus: Pair) -> None:
    await corpus.put(1, "Parents may take leave.")
    assert await corpus.found("baby leave") == [1]
    assert await corpus.found("休假") == []
    assert corpus.late.asked == []


async def test_vectors_that_come_later_leave_the_passages_as_they_are(corpus: Pair) -> None:
    await fill(corpus)
    await corpus.put(5, "员工有育儿的日子。", owner=BEN, version=7)
    before = await corpus.index.stored(["3".zfill(32), "5".zfill(32)])
    await corpus.embed_late()
    after = await corpus.index.stored(["3".zfill(32), "5".zfill(32)])
    assert [(file.owner_id, file.version, file.chunks) for file in after.values()] == [
        (file.owner_id, file.version, file.chunks) for file in before.values()
    ]
    assert all(vector is not None for file in after.values() for vector in file.vectors)
    assert await corpus.found("员工", mode="text", owner_ids=[BEN]) == [5]


async def test_a_text_that_was_embedded_is_not_embedded_again(corpus: Pair) -> None:
    await fill(corpus)
    await corpus.embed_late()
    digest = text_digest("员工有育儿的日子。")
    assert list(await corpus.index.vectors([digest])) == [digest]


async def as_an_earlier_version_left_it(corpus: Pair) -> Any:
    """Fill the index, and take away what earlier versions did not write."""
    await fill(corpus)
    table = await corpus.index._tables.current.readable()  # pyright: ignore[reportPrivateUsage] - the rows' own form
    assert table is not None
    await table.drop_columns([MODEL])
    corpus.index.close()
    return table


async def test_the_table_of_an_earlier_version_serves_and_gets_its_vectors(corpus: Pair, tmp_path: Path) -> None:
    await as_an_earlier_version_left_it(corpus)
    later = pair(tmp_path)
    assert await later.found("员工") == [3]
    assert (await later.found("baby", mode="vector"))[0] == 1
    assert await later.index.waiting_for_vectors(ANA) == 0  # not known yet
    await later.index.upgrade()
    assert await later.index.waiting_for_vectors(ANA) == 2
    assert (await later.found("baby", mode="vector"))[0] == 1
    await later.embed_late()
    assert (await later.found("休假", mode="vector"))[0] == 3
    assert set((await later.found("baby", mode="vector"))[:2]) == {1, 3}
    await later.put(6, "食堂有汤。")
    assert (await later.index.stored(["6".zfill(32)])).keys() == {"6".zfill(32)}
    later.index.close()


async def test_the_table_of_an_earlier_version_is_upgraded_by_the_first_write(corpus: Pair, tmp_path: Path) -> None:
    await as_an_earlier_version_left_it(corpus)
    later, reader = pair(tmp_path), pair(tmp_path)
    assert (await reader.found("baby", mode="vector"))[0] == 1
    await later.put(5, "食堂有汤。")
    await later.embed_late()
    assert (await later.found("午饭", mode="vector"))[0] == 5
    table = await later.index._tables.current.readable()  # pyright: ignore[reportPrivateUsage] - the rows' own form
    assert table is not None
    rows = await table.query().select([MODEL, VECTOR]).to_arrow()
    assert sorted(rows[MODEL].to_pylist()) == ["late"] * 3 + ["western"] * 2
    reader.index.close()
    later.index.close()


async def test_a_late_model_whose_vectors_changed_makes_them_anew_and_words_are_found_meanwhile(
    corpus: Pair, tmp_path: Path
) -> None:
    await fill(corpus)
    await corpus.embed_late()
    later = pair(tmp_path, late_name="late-2")
    await later.index.upgrade()
    assert await later.index.waiting_for_vectors(ANA) == 2
    assert await later.found("员工") == [3]
    assert (await later.found("baby", mode="vector"))[0] == 1  # the other model's vectors stay
    assert later.late.asked == []
    await later.embed_late()
    assert await later.index.waiting_for_vectors(ANA) == 0
    assert (await later.found("休假", mode="vector"))[0] == 3
    await later.index.upgrade()
    assert await later.index.waiting_for_vectors(ANA) == 0
    later.index.close()


async def test_a_model_whose_vectors_changed_leaves_those_of_the_late_model_as_they_are(
    corpus: Pair, tmp_path: Path
) -> None:
    await fill(corpus)
    await corpus.embed_late()
    later = pair(tmp_path, western_name="western-2")
    assert (await later.found("baby", mode="vector"))[0] == 1
    assert (await later.found("休假", mode="vector"))[0] == 3
    chinese, english = text_digest("员工有育儿的日子。"), text_digest("Parents may take leave.")
    assert (await later.index.vectors([chinese, english])).keys() == {chinese}
    later.index.close()
