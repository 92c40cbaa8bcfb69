from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
import numpy as np
import pytest

from drive_server.kernel.errors import StorageFailureError
from drive_server.knowledge.chunk import chunk
from drive_server.knowledge.embedding.embedder import LocalEmbedder, NoEmbedder
from drive_server.knowledge.embedding.selection import Embedders
from drive_server.knowledge.index import lance, maintenance
from drive_server.knowledge.index import table as passage_table
from drive_server.knowledge.index import tables as tables_module
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.index.rows import IndexedFile, text_digest
from drive_server.knowledge.text.elements import Part, join
from tests.drive_server.knowledge.corpus import ANA, BEN, PORTS, SOUP, Corpus, file_id
from tests.drive_server.knowledge.samples import LEAVE, LEAVE_ZH, TRAVEL_ZH

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=["local", "none"])
def corpus(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Corpus]:
    embedder = Embedders().open(request.param)
    index = KnowledgeIndex(str(tmp_path / "index"), embedder)
    yield Corpus(index, embedder)
    index.close()


@pytest.fixture
def english(tmp_path: Path) -> Iterator[Corpus]:
    embedder = LocalEmbedder()
    index = KnowledgeIndex(str(tmp_path / "index"), embedder)
    yield Corpus(index, embedder)
    index.close()


async def test_an_index_that_was_never_written_finds_nothing_and_stays_unwritten(
    corpus: Corpus, tmp_path: Path
) -> None:
    assert await corpus.found("leave") == []
    assert await corpus.index.table_names() == set()
    await corpus.index.maintain(idle=True)
    assert not (tmp_path / "index").exists()  # nor was LanceDB loaded, which makes the folder


async def test_a_paraphrase_finds_the_right_passage(english: Corpus) -> None:
    await english.put(1, LEAVE)
    await english.put(2, PORTS)
    await english.put(3, SOUP)
    question = "How much time off does a new mother or father get?"
    assert await english.found(question, mode="text") == []
    for mode in ("hybrid", "vector"):
        hit = (await english.index.search(question, owner_ids=[ANA], mode=mode))[0]
        assert (hit.file_id, hit.text, hit.start, hit.end) == (file_id(1), LEAVE, 0, len(LEAVE))


async def test_chinese_questions_find_chinese_passages(corpus: Corpus) -> None:
    await corpus.put(1, LEAVE_ZH)
    await corpus.put(2, TRAVEL_ZH)
    await corpus.put(3, LEAVE)
    for mode in ("hybrid", "text"):
        assert (await corpus.found("育儿假有多少天", mode=mode))[0] == 1
        assert (await corpus.found("出差费用怎么报销", mode=mode))[0] == 2
        assert await corpus.found("薪", mode=mode) == [1]


async def test_words_are_found_in_any_form_and_all_of_them_are_wanted(corpus: Corpus) -> None:
    await corpus.put(1, "The policies on leaving.")
    await corpus.put(2, "Leave the door open.")
    assert await corpus.found("leave policy", mode="text") == [1]
    assert sorted(await corpus.found("leave window", mode="text")) == [1, 2]
    assert sorted(await corpus.found("leave policy")) == [1, 2]


async def test_a_passage_is_found_by_its_headings(corpus: Corpus) -> None:
    await corpus.put(1, SOUP, title="员工手册")
    await corpus.put(2, PORTS, title="Deployment")
    assert await corpus.found("手册", mode="text") == [1]
    assert await corpus.found("deployment", mode="text") == [2]


async def test_only_files_of_the_owners_or_named_files_are_found(corpus: Corpus) -> None:
    await corpus.put(1, LEAVE, owner=ANA)
    await corpus.put(2, LEAVE, owner=BEN)
    await corpus.put(3, LEAVE, owner=BEN)
    for mode in ("hybrid", "text"):
        assert await corpus.found("leave parents born", mode=mode) == [1]
        assert sorted(await corpus.found("parents", mode=mode, file_ids=[file_id(3)])) == [1, 3]
        assert await corpus.found("parents", mode=mode, owner_ids=[], file_ids=[file_id(2)]) == [2]
        assert await corpus.found("parents", mode=mode, owner_ids=[], file_ids=[]) == []


@pytest.mark.parametrize("bad", ["", "x' OR '1'='1", "A" * 32, "a" * 31, "a" * 33, "é" * 32])
async def test_an_id_that_is_none_is_refused(corpus: Corpus, bad: str) -> None:
    await corpus.put(1, LEAVE)
    with pytest.raises(ValueError, match="not an id"):
        await corpus.index.search("leave", owner_ids=[bad])
    with pytest.raises(ValueError, match="not an id"):
        await corpus.index.remove([bad])


@pytest.mark.parametrize(
    "query", ["", "   ", "the", "'; DROP TABLE passages; --", '"unclosed AND (x', "😀", "\u202eעברית", "*", "a" * 1000]
)
async def test_strange_queries_are_only_words(corpus: Corpus, query: str) -> None:
    await corpus.put(1, LEAVE)
    for mode in ("hybrid", "text"):
        assert await corpus.found(query, mode=mode) == []


async def test_a_file_that_is_put_again_is_there_once_in_its_new_content(corpus: Corpus) -> None:
    await corpus.put(1, LEAVE)
    await corpus.put(1, PORTS, version=2)
    assert await corpus.found("parents", mode="text") == []
    (hit,) = await corpus.index.search("port 8000", owner_ids=[ANA], mode="text")
    assert hit.version == 2


async def test_a_removed_file_is_gone(corpus: Corpus) -> None:
    await corpus.put(1, LEAVE)
    await corpus.put(2, PORTS)
    await corpus.index.remove([file_id(1)])
    assert await corpus.found("parents", mode="text") == []
    assert await corpus.found("port", mode="text") == [2]


async def test_a_file_without_passages_only_takes_the_place_of_the_old_ones(corpus: Corpus) -> None:
    await corpus.put(1, LEAVE)
    await corpus.put(1)
    assert await corpus.index.table_names() == set()


async def test_heading_page_and_place_come_back(corpus: Corpus) -> None:
    chunks = chunk(
        join(
            [Part("title", "Leave", 1, 1), Part("text", LEAVE, 1), Part("title", "港口", 2, 1), Part("text", PORTS, 2)]
        )
    )
    await corpus.index.replace([IndexedFile(file_id(1), ANA, 7, "content", chunks, [None] * len(chunks))])
    (hit,) = await corpus.index.search("port 8000", owner_ids=[ANA], mode="text")
    assert (hit.version, hit.heading, hit.page) == (7, "港口", 2)
    assert (hit.start, hit.end) == (chunks[1].start, chunks[1].end)


async def test_the_limit_holds_and_the_best_come_first(corpus: Corpus) -> None:
    for number in range(1, 8):
        await corpus.put(number, "leave " * number + "word " * (8 - number))
    hits = await corpus.index.search("leave", owner_ids=[ANA], mode="text", limit=3)
    assert len(hits) == 3
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].score == 1


async def test_maintenance_keeps_everything_findable(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "COMMITS", 3)
    monkeypatch.setattr(maintenance, "ROWS_FOR_VECTOR_INDEX", 4)
    for number in range(1, 9):
        await corpus.put(number, f"{LEAVE} Number {number} is unlike the others.")
        await corpus.index.maintain()
    await corpus.put(9, LEAVE_ZH)
    await corpus.index.maintain(idle=True)
    assert sorted(await corpus.found("parents born")) == list(range(1, 9))
    assert await corpus.found("育儿假") == [9]


async def test_small_changes_wait_until_tending_is_worth_it(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    table = corpus.index._tables.current  # pyright: ignore[reportPrivateUsage] - LanceDB's own figures are asked for

    async def unindexed() -> int:
        await corpus.index.maintain(idle=True)
        return (await (await table.writable(0)).index_stats("words_idx")).num_unindexed_rows

    await corpus.put(1, LEAVE)
    assert await unindexed() == 0
    await corpus.put(2, LEAVE)
    assert await unindexed() == 1
    await corpus.put(3, *("x " * 400 for _ in range(maintenance.IDLE_ROWS)))
    assert await unindexed() == 0
    await corpus.put(4, LEAVE)
    monkeypatch.setattr(maintenance, "IDLE_SECONDS", 0)
    assert await unindexed() == 0


async def test_another_process_sees_what_was_written(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance, "SEEN_AFTER", lance.SEEN_AFTER * 0)
    reader = Corpus(KnowledgeIndex(str(tmp_path / "index"), corpus.embedder), corpus.embedder)
    assert await reader.found("leave") == []
    await corpus.put(1, LEAVE)
    assert await reader.found("parents") == [1]
    await corpus.put(2, PORTS)
    assert await reader.found("port") == [2]
    reader.index.close()


def tables(folder: Path) -> list[str]:
    return sorted(path.stem for path in (folder / "index").glob("*.lance"))


async def test_the_table_of_the_model_before_serves_until_the_new_one_is_settled(tmp_path: Path) -> None:
    url = str(tmp_path / "index")
    none, local = NoEmbedder(), LocalEmbedder()
    before = Corpus(KnowledgeIndex(url, local), local)
    for number, text in enumerate((LEAVE, SOUP, PORTS), start=1):
        await before.put(number, text)
    question = "How much time off does a new mother or father get?"
    after = Corpus(KnowledgeIndex(url, none, {local.name: local}.get), none)
    assert await after.index.table_names() == {before.index.table_name}
    assert (await after.found(question))[0] == 1
    await after.put(2, "Noodles only.", version=2)
    assert await after.found("noodles", mode="text") == [2]
    assert await after.found("Mondays", mode="text") == []
    assert (await after.found(question))[0] == 1
    await after.index.remove([file_id(3)])
    assert await after.found("port", mode="text") == []
    await after.index.promote()
    assert tables(tmp_path) == [after.index.table_name]
    assert await after.found("parents", mode="text") == []
    assert await after.found("noodles", mode="text") == [2]
    before.index.close()
    after.index.close()


async def test_a_process_whose_table_was_settled_elsewhere_goes_on_with_the_new_one(tmp_path: Path) -> None:
    url = str(tmp_path / "index")
    none, local = NoEmbedder(), LocalEmbedder()
    before = Corpus(KnowledgeIndex(url, local), local)
    await before.put(1, LEAVE)
    reader, writer = (Corpus(KnowledgeIndex(url, none), none) for _ in range(2))
    assert await reader.found("parents") == [1]
    await writer.put(1, LEAVE)
    await writer.index.promote()
    assert await reader.found("parents") == [1]
    for corpus in (before, reader, writer):
        corpus.index.close()


async def test_the_way_back_to_a_model_before_it_was_left_wholly_is_none(tmp_path: Path) -> None:
    url = str(tmp_path / "index")
    none, local = NoEmbedder(), LocalEmbedder()
    one, other = Corpus(KnowledgeIndex(url, local), local), Corpus(KnowledgeIndex(url, none), none)
    await one.put(1, LEAVE)
    await one.put(2, PORTS)
    await other.put(1, LEAVE)
    again = KnowledgeIndex(url, local)
    hits = await again.search("port", owner_ids=[ANA])
    assert [hit.file_id for hit in hits] == [file_id(2)]
    await again.promote()
    assert tables(tmp_path) == [again.table_name]
    for index in (one.index, other.index, again):
        index.close()


async def test_a_table_in_another_format_is_dropped(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await corpus.put(1, LEAVE)
    monkeypatch.setattr(tables_module, "FORMAT", tables_module.FORMAT + 1)
    newer = KnowledgeIndex(str(tmp_path / "index"), corpus.embedder)
    assert await newer.table_names() == set()
    assert await newer.search("parents", owner_ids=[ANA]) == []
    await newer.drop_unusable()
    assert tables(tmp_path) == []
    newer.close()


async def test_what_is_stored_of_files_comes_back_whole(corpus: Corpus) -> None:
    await corpus.put(1, LEAVE, LEAVE_ZH, version=3, title="Handbook")
    await corpus.put(2, PORTS)
    stored = await corpus.index.stored([file_id(1), file_id(3)])
    (file,) = stored.values()
    assert (file.file_id, file.owner_id, file.version, file.content) == (file_id(1), ANA, 3, "content 1")
    assert list(file.chunks) == chunk(
        join([Part("title", "Handbook", level=1), Part("text", LEAVE), Part("text", LEAVE_ZH)])
    )
    for passage, vector in zip(file.chunks, file.vectors, strict=True):
        assert (vector is not None) == corpus.embedder.supports(passage.search_text)


async def test_vectors_are_found_by_the_digests_of_their_texts(english: Corpus) -> None:
    await english.put(1, LEAVE)
    await english.put(2, LEAVE)
    await english.put(3, LEAVE_ZH)
    digests = [text_digest(text) for text in (LEAVE, LEAVE_ZH, "unknown")]
    vectors = await english.index.vectors(digests)
    assert list(vectors) == digests[:1]
    assert np.allclose(vectors[digests[0]], await english.embedder.embed_query(LEAVE), atol=1e-5)
    assert await english.index.vectors([]) == {}


async def test_vectors_can_come_after_words(tmp_path: Path) -> None:
    late = LocalEmbedder()
    late.dimensions = 0  # as of a service that has not answered yet
    corpus = Corpus(KnowledgeIndex(str(tmp_path / "index"), late), late)
    chunks = chunk(join([Part("text", LEAVE)]))
    await corpus.index.replace([IndexedFile(file_id(1), ANA, 1, "content", chunks, [None])])
    assert await corpus.found("parents") == [1]
    assert await corpus.index.vectors([text_digest(LEAVE)]) == {}
    await corpus.put(2, PORTS)
    assert await corpus.found("Which socket does the program use?", mode="vector") == [2]
    assert await corpus.found("parents") == [1]
    corpus.index.close()


async def test_a_broken_index_is_an_error_without_paths_and_can_be_cleared(corpus: Corpus, tmp_path: Path) -> None:
    await corpus.put(1, LEAVE)
    corpus.index.close()
    for path in (tmp_path / "index").rglob("*.manifest"):
        path.write_bytes(b"garbage")
    with pytest.raises(StorageFailureError) as caught:
        await corpus.index.search("leave", owner_ids=[ANA])
    assert str(tmp_path) not in f"{caught.value.message} {caught.value.hint} {caught.value.details}"
    await corpus.index.clear()
    await corpus.put(1, LEAVE)
    assert await corpus.found("parents", mode="text") == [1]


async def test_a_table_that_was_remade_elsewhere_is_opened_again(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance, "SEEN_AFTER", lance.SEEN_AFTER * 0)
    other = Corpus(KnowledgeIndex(str(tmp_path / "index"), corpus.embedder), corpus.embedder)
    await corpus.put(1, LEAVE)
    assert await other.found("parents", mode="text") == [1]
    await corpus.index.clear()
    await corpus.put(2, LEAVE)
    with suppress(StorageFailureError):
        await other.found("parents", mode="text")
    assert await other.found("parents", mode="text") == [2]
    other.index.close()


async def test_while_many_files_come_in_tending_waits_for_many_rows(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passage_table, "BUSY_ROWS", 10)
    monkeypatch.setattr(passage_table, "UNINDEXED_ROWS", 4)
    monkeypatch.setattr(maintenance, "COMMITS", 100)
    table = corpus.index._tables.current  # pyright: ignore[reportPrivateUsage] - LanceDB's own figures are asked for

    async def unindexed_after(file: int, rows: int, *, busy: bool) -> int:
        await corpus.put(file, *("x " * 400 for _ in range(rows)))
        await corpus.index.maintain(busy=busy)
        return (await (await table.writable(0)).index_stats("words_idx")).num_unindexed_rows

    assert await unindexed_after(1, 9, busy=True) == 9
    assert await unindexed_after(2, 1, busy=True) == 0
    assert await unindexed_after(3, 9, busy=True) == 9
    assert await unindexed_after(4, 1, busy=False) == 0


async def test_a_search_that_opens_the_index_while_it_is_inspected_finds_what_is_there(
    english: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await english.put(1, LEAVE)
    opening, go_on, count = anyio.Event(), anyio.Event(), passage_table._unindexed_rows  # pyright: ignore[reportPrivateUsage] - a pause while it opens

    async def slow(table: Any) -> int:
        opening.set()
        await go_on.wait()
        return await count(table)

    monkeypatch.setattr(passage_table, "_unindexed_rows", slow)
    started = Corpus(KnowledgeIndex(str(tmp_path / "index"), english.embedder), english.embedder)
    found: list[list[int]] = []

    async def search() -> None:
        found.append(await started.found("parental leave"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(search)
        await opening.wait()
        tasks.start_soon(started.index.inspect)
        await anyio.wait_all_tasks_blocked()
        go_on.set()
    started.index.close()
    assert found == [[1]]
