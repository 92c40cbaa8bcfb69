"""How far to trust vectors: nDCG@10 of each side, of equal weights, of ours, and of a trust that was chosen elsewhere.

    python -m benchmarks.search.fusion [COLLECTION ...] [--package NAME ...] [--queries queries.sample.jsonl]

COLLECTION is a folder as for `benchmarks.search.retrieval`; all are of the model of Western scripts, or with `--cjk` of
that of Chinese, Japanese and Korean. `--package` makes one of the docstrings of an installed package
(`benchmarks/fixtures/texts/docstrings.py`). Each is indexed by a drive, and the product's own retrieval finds the
candidates, once a query. "ours" has each half of the queries too. In the column "held out" the trust in a collection's
vectors is the one of `CHOICES` with the best mean over all other collections.
"""

import argparse
import itertools
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import anyio

from benchmarks.fixtures.table import print_table
from benchmarks.fixtures.texts.collection import Collection, load_collection, ndcg
from benchmarks.fixtures.texts.docstrings import of_package
from benchmarks.search.retrieval import Library, fill
from drive_server.connect import DriveSettings, open_drive
from drive_server.knowledge.embedding.embedder import CjkEmbedder, LocalEmbedder, Vectors
from drive_server.knowledge.index.fusion import Side, Trust, fuse, spread_of
from drive_server.knowledge.index.lance import Lance
from drive_server.knowledge.index.queries import parse
from drive_server.knowledge.index.retrieval import ROW, ModelQuery, Retrieval, SearchRequest
from drive_server.knowledge.index.rows import model_filter
from drive_server.knowledge.index.tables import table_name

STEPS = 20
CANDIDATES = 204
"""As many as `benchmarks.search.retrieval` has the index asked for."""

HEADER = ("collection", "queries", "full text", "vectors", "equal", "ours", "halves", "held out", "chosen elsewhere")


@dataclass(frozen=True, slots=True)
class Choice:
    """A trust and a model's weight: the share of its similarities in the scores."""

    trust: Trust
    weight: float

    def share(self, spread: float) -> float:
        """Return the share for a query."""
        return self.weight * self.trust.of(spread)

    def __str__(self) -> str:
        shares = f"{self.weight * self.trust.least:.2f} to {self.weight:.2f}"
        return f"{shares}, spreads {self.trust.low} to {self.trust.high}"


CHOICES = [
    Choice(Trust(least / most, low, high), most)
    for least, most, low, high in itertools.product(
        (0.4, 0.5, 0.6, 0.7, 0.75, 0.8), (0.6, 0.7, 0.75, 0.8, 0.85, 0.9), (0.1, 0.2, 0.3), (0.4, 0.5, 0.65, 0.8)
    )
    if least <= most
]


@dataclass(frozen=True, slots=True)
class Asked:
    """A query: the spread of its similarities, and nDCG@10 at each share of them, from 0 to 1 in `STEPS`.

    `ours` is the share that the product gives them.
    """

    spread: float
    ndcg: Sequence[float]
    ours: float

    def at(self, share: float) -> float:
        """Return nDCG@10 at a share."""
        place = min(int(share * STEPS), STEPS - 1)
        part = share * STEPS - place
        return (1 - part) * self.ndcg[place] + part * self.ndcg[place + 1]


def mean(asked: Sequence[Asked], choice: Choice) -> float:
    """Return the mean nDCG@10 of a collection."""
    return fmean(one.at(choice.share(one.spread)) for one in asked)


def mean_of_ours(asked: Sequence[Asked]) -> float:
    """Return the mean nDCG@10 of a collection as the product searches it."""
    return fmean(one.at(one.ours) for one in asked)


def choose(others: Sequence[Sequence[Asked]]) -> Choice:
    """Return the choice with the best mean over collections, each of the same weight."""
    return max(CHOICES, key=lambda choice: fmean(mean(asked, choice) for asked in others))


async def ask(collection: Collection, embedder: LocalEmbedder | CjkEmbedder) -> list[Asked]:
    """Index a collection, and ask its queries that a model supports."""
    with tempfile.TemporaryDirectory() as root:
        settings = DriveSettings(data_dir=Path(root))
        async with open_drive(settings) as drive:
            library = await fill(drive, collection.documents)
        lance = Lance(settings.resolved_index_url)  # after the drive has ended: no maintenance moves rows
        table = await lance.open(table_name(LocalEmbedder.name))
        queries = [query for query in collection.queries if embedder.supports(query.text) and query.text.strip()]
        asked = [
            await _ask_one(table, library, embedder, query.text, collection.judgments[query.id]) for query in queries
        ]
        lance.close()
    print(f"{collection.name}: {len(asked)} queries", file=sys.stderr)
    return asked


async def _ask_one(
    table: Any, library: Library, embedder: LocalEmbedder | CjkEmbedder, text: str, grades: Mapping[str, float]
) -> Asked:
    async def vector() -> Vectors:
        return await embedder.embed_query(text)

    model = ModelQuery(embedder, vector, model_filter(embedder.name))
    request = SearchRequest(parse(text), (model,), "true", "hybrid", CANDIDATES)
    retrieval = Retrieval(table, request)
    await retrieval.run()
    found = retrieval.candidates
    similarities = found.similarities.get(embedder.name, {})
    answer = await table.take_row_ids(sorted(found.rows)).with_row_id().select(["file_id"]).to_arrow()
    pairs = zip(answer[ROW].to_pylist(), answer["file_id"].to_pylist(), strict=True)
    documents = {row: library.documents[file_id] for row, file_id in pairs}

    def at(share: float) -> float:
        scores = fuse(found.words, [Side(similarities, share)])
        best = sorted(scores, key=lambda row: (-scores[row], row))
        return ndcg(list(dict.fromkeys(documents[row] for row in best)), grades)

    ours = retrieval.side(embedder).weight
    return Asked(spread_of(similarities.values()), [at(step / STEPS) for step in range(STEPS + 1)], ours)


def rows_of(measured: Mapping[str, Sequence[Asked]]) -> list[list[str]]:
    """Return a row a collection, and one of their means."""
    rows: list[list[str]] = []
    values: list[tuple[float, ...]] = []
    for name, asked in measured.items():
        chosen = choose([other for key, other in measured.items() if key != name] or [asked])
        sides = [fmean(one.at(share) for one in asked) for share in (0.0, 1.0, 0.5)]
        values.append((*sides, mean_of_ours(asked), mean(asked, chosen)))
        halves = " ".join(f"{mean_of_ours(asked[part::2] or asked):.3f}" for part in (0, 1))
        *shown, held_out = (f"{value:.3f}" for value in values[-1])
        rows.append([name, str(len(asked)), *shown, halves, held_out, str(chosen)])
    *means, held_out = (f"{fmean(column):.3f}" for column in zip(*values, strict=True))
    return [*rows, ["mean", "", *means, "", held_out, ""]]


async def measure(collections: Sequence[Collection], embedder: LocalEmbedder | CjkEmbedder) -> list[list[str]]:
    """Return the rows of all collections."""
    return rows_of({collection.name: await ask(collection, embedder) for collection in collections})


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", type=Path, nargs="*", metavar="COLLECTION")
    parser.add_argument("--package", action="append", default=[], help="an installed package; may be repeated")
    parser.add_argument("--cjk", action="store_true", help="measure the model of Chinese, Japanese and Korean")
    parser.add_argument("--queries", default="queries.jsonl", help="the file of queries in each folder")
    options = parser.parse_args()
    collections = [load_collection(folder, options.queries, judged=True) for folder in options.collections]
    collections += [of_package(name) for name in options.package]
    if len(collections) < 2:
        parser.error("name two collections or more: one is held out")
    embedder = CjkEmbedder() if options.cjk else LocalEmbedder()
    print_table("Fusion: nDCG@10", HEADER, anyio.run(measure, collections, embedder))


if __name__ == "__main__":
    main()
