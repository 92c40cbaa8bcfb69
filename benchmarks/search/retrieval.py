"""How well search finds: nDCG@10, Recall@10 and MRR@10 of full text, of vectors and of ours, on judged collections.

    python -m benchmarks.search.retrieval --collection DIR [--collection DIR ...] [--queries FILE] [--run OUT]

DIR holds `corpus.jsonl` ({"_id", "title", "text"} a line), `queries.jsonl` ({"_id", "text"}) and `qrels.tsv` (query,
document, grade). Each document becomes a Markdown file in a fresh drive, its title a heading; the drive's own ingester
indexes it, and the queries go through the drive's search service. A collection without the named file of queries is
asked its `queries.jsonl`. `--run` writes what ours found as a TREC run, and needs no `qrels.tsv`.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import anyio

from benchmarks.fixtures.table import milliseconds, print_table
from benchmarks.fixtures.texts.collection import DEPTH, Collection, Document, Query, load_collection, measures_of
from drive_server.connect import ALL_SCOPES, Actor, Drive, DriveSettings, open_drive
from drive_server.services.search.service import MAX_QUERY_CHARACTERS

Mode = Literal["hybrid", "words", "vector"]
WAYS: dict[str, Mode] = {"full text": "words", "vector": "vector", "ours": "hybrid"}
OURS = "ours"
FIRST_PAGE = 50
MAX_HITS = 1000
HEADER = ("search", "nDCG@10", "Recall@10", "MRR@10", "ms a query")


@dataclass(slots=True)
class Answers:
    """What one way found: for each query the documents, best first; and how long each took, in seconds."""

    found: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    seconds: list[float] = field(default_factory=list[float])


@dataclass(frozen=True, slots=True)
class Library:
    """A drive that holds a collection; `documents` are the ids of its documents by those of their files."""

    drive: Drive
    actor: Actor
    documents: dict[str, str]

    async def ask(self, mode: Mode, queries: Sequence[Query]) -> Answers:
        """Ask all queries one way, one after the other."""
        answers = Answers()
        for query in queries:
            begun = time.perf_counter()
            answers.found[query.id] = await self._found(mode, query.text)
            answers.seconds.append(time.perf_counter() - begun)
        return answers

    async def _found(self, mode: Mode, text: str) -> list[str]:
        """Return ten documents: more passages are asked for as long as too many are of the same ones.

        Queries without text, which some collections have, find nothing; too long ones are asked by their beginning.
        """
        asked, limit = text[:MAX_QUERY_CHARACTERS], FIRST_PAGE
        while asked.strip():
            page = await self.drive.search.semantic(self.actor, asked, limit=limit, mode=mode)
            documents = list(dict.fromkeys(self.documents[hit.item.id] for hit in page.items))
            if len(documents) >= DEPTH or len(page.items) < limit or limit == MAX_HITS:
                return documents[:DEPTH]
            limit = min(4 * limit, MAX_HITS)
        return []


async def fill(drive: Drive, documents: Sequence[Document]) -> Library:
    """Put every document into the drive as a file, and wait until all are indexed."""
    user, _ = await drive.identity.ensure_local_user()
    actor = Actor(await drive.identity.principal_for(user.id, ALL_SCOPES))
    names: dict[str, str] = {}
    for number, document in enumerate(documents):
        name = f"d{number}.md"  # says nothing of what is in it
        names[(await drive.documents.create(actor, "root", name, document.as_markdown())).value.id] = document.id
    await drive.ingester.drain()
    return Library(drive, actor, names)


async def measure(collection: Collection, ways: dict[str, Mode]) -> dict[str, Answers]:
    """Return what each way finds, all in the same drive; say on standard error how long it takes to fill."""
    with tempfile.TemporaryDirectory() as root:
        async with open_drive(DriveSettings(data_dir=Path(root))) as drive:
            begun = time.perf_counter()
            library = await fill(drive, collection.documents)
            print(f"{collection.name}: indexed in {time.perf_counter() - begun:.0f} s", file=sys.stderr)
            return {name: await library.ask(mode, collection.queries) for name, mode in ways.items()}


def rows_of(collection: Collection, results: dict[str, Answers]) -> list[list[str]]:
    """Return the rows of one collection: each way, its means."""
    return [
        [
            f"{collection.name}: {way}",
            *(f"{value:.3f}" for value in measures_of(answers.found, collection.judgments)),
            milliseconds(answers.seconds),
        ]
        for way, answers in results.items()
    ]


def write_run(path: Path, answers: Answers) -> None:
    """Write a TREC run: query, Q0, document, rank, score, name."""
    with path.open("w", encoding="utf-8") as file:
        for query, documents in answers.found.items():
            for rank, document in enumerate(documents, start=1):
                print(query, "Q0", document, rank, 1 / rank, "drive-agent", file=file)


def parsed() -> argparse.Namespace:
    """Return the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collection", type=Path, action="append", required=True, help="a folder; may be repeated")
    parser.add_argument("--queries", default="queries.jsonl", help="the file of queries in it")
    parser.add_argument("--run", type=Path, help="where to write the run of the only collection")
    options = parser.parse_args()
    if options.run and len(options.collection) > 1:
        parser.error("a run is of one collection")
    if missing := next((folder for folder in options.collection if not (folder / "corpus.jsonl").is_file()), None):
        parser.error(f"{missing} has no corpus.jsonl")
    return options


def main() -> None:
    """Measure every collection, and print one table; or write a run."""
    options = parsed()
    rows: list[list[str]] = []
    for folder in options.collection:
        collection = load_collection(folder, options.queries, judged=not options.run)
        ways: dict[str, Mode] = {OURS: WAYS[OURS]} if options.run else WAYS
        results = anyio.run(measure, collection, ways)
        if options.run:
            write_run(options.run, results[OURS])
        rows += rows_of(collection, results) if collection.judgments else []
    if rows:
        print_table("Search: means over the judged queries", HEADER, rows)


if __name__ == "__main__":
    main()
