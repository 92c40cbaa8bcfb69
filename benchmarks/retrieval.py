"""How well search finds: nDCG@10 of words, of meaning and of both, on a collection with judgments.

    python -m benchmarks.retrieval DIR [--queries queries.sample.jsonl]

DIR holds `corpus.jsonl` ({"_id", "title", "text"} a line), `queries.jsonl` ({"_id", "text"}) and `qrels.tsv` (query,
document, grade). Each document is chunked, embedded and indexed as a file of the drive would be.
"""

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from benchmarks.table import milliseconds, print_table
from drive_server.knowledge.chunk import Chunk, chunk
from drive_server.knowledge.elements import Part, join
from drive_server.knowledge.embed import Embedder, Vectors, open_embedder
from drive_server.knowledge.index import KnowledgeIndex, Mode
from drive_server.knowledge.rows import IndexedFile, embedded_text

OWNER = "0" * 32
DEPTH = 10
PASSAGES = 50
BATCH = 256
MODES: tuple[Mode, ...] = ("text", "vector", "hybrid")
Judgments = dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class Score:
    """The mean nDCG@10 of a mode, and the time of each query in seconds."""

    ndcg: float
    seconds: list[float]


def read_lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def read_judgments(path: Path) -> Judgments:
    judgments: Judgments = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        query, document, grade = fields[0], fields[-2], fields[-1]
        if grade.replace(".", "").isdigit() and float(grade) > 0:
            judgments.setdefault(query, {})[document] = float(grade)
    return judgments


def ndcg(ranked: Sequence[str], grades: dict[str, float]) -> float:
    """Return nDCG@10 with linear gains, a document counting once, at its best place."""
    documents = list(dict.fromkeys(ranked))[:DEPTH]
    gain = sum(grades.get(document, 0) / math.log2(place + 2) for place, document in enumerate(documents))
    best = sorted(grades.values(), reverse=True)[:DEPTH]
    return gain / sum(grade / math.log2(place + 2) for place, grade in enumerate(best))


def passages_of(document: dict[str, Any]) -> list[Chunk]:
    title = document.get("title") or ""
    heading = [Part("title", title, level=1)] if title and not document["text"].startswith(title) else []
    return chunk(join([*heading, Part("text", document["text"])]))


async def vectors_of(embedder: Embedder, passages: Sequence[Chunk]) -> list[Vectors | None]:
    texts = [embedded_text("", passage) for passage in passages]
    readable = [number for number, text in enumerate(texts) if embedder.reads(text)]
    vectors: list[Vectors | None] = [None] * len(texts)
    found = await embedder.embed_documents([texts[number] for number in readable])
    for number, vector in zip(readable, found, strict=True):
        vectors[number] = vector
    return vectors


async def fill(index: KnowledgeIndex, embedder: Embedder, documents: Sequence[dict[str, Any]]) -> int:
    """Index the documents, the number of each as its file's id; return how many passages they have."""
    count = 0
    for start in range(0, len(documents), BATCH):
        files: list[IndexedFile] = []
        for number, document in enumerate(documents[start : start + BATCH], start=start):
            passages = passages_of(document)
            vectors = await vectors_of(embedder, passages)
            files.append(IndexedFile(f"{number:032x}", OWNER, 1, "", passages, vectors))
            count += len(passages)
        await index.replace(files)
    await index.tend(idle=True)
    return count


async def measure(
    index: KnowledgeIndex, mode: Mode, queries: Sequence[dict[str, Any]], judgments: Judgments, names: Sequence[str]
) -> Score:
    scores: list[float] = []
    times: list[float] = []
    for query in queries:
        begin = time.perf_counter()
        hits = await index.search(query["text"], owner_ids=[OWNER], mode=mode, limit=PASSAGES)
        times.append(time.perf_counter() - begin)
        scores.append(ndcg([names[int(hit.file_id, 16)] for hit in hits], judgments[query["_id"]]))
    return Score(statistics.mean(scores), times)


async def run(folder: Path, queries_file: str) -> None:
    documents = read_lines(folder / "corpus.jsonl")
    judgments = read_judgments(folder / "qrels.tsv")
    queries = [query for query in read_lines(folder / queries_file) if query["_id"] in judgments]
    embedder = open_embedder("local")
    with tempfile.TemporaryDirectory() as scratch:
        index = KnowledgeIndex(scratch, embedder)
        begin = time.perf_counter()
        passages = await fill(index, embedder, documents)
        rate = passages / (time.perf_counter() - begin)
        rows: list[list[str]] = []
        for mode in MODES:
            score = await measure(index, mode, queries, judgments, [document["_id"] for document in documents])
            rows.append([mode, f"{score.ndcg:.3f}", milliseconds(score.seconds)])
        index.close()
    found = f"{len(documents)} documents, {passages} passages at {rate:.0f}/s, {len(queries)} queries"
    print_table(f"{folder.name}: {found}", ["mode", "nDCG@10", "ms a query"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the collection")
    parser.add_argument("--queries", default="queries.jsonl", help="the file of queries in it")
    options = parser.parse_args()
    if not (options.folder / "corpus.jsonl").is_file():
        sys.exit(f"{options.folder} has no corpus.jsonl")
    anyio.run(run, options.folder, options.queries)


if __name__ == "__main__":
    main()
