"""How fast files become searchable, and how fast searches are beside that, at several sizes of the index.

    python -m benchmarks.indexing [--large] [--sizes 10000 100000] [--seconds 30]

Passages are words drawn as in natural text, with random vectors: what is measured is the index, not the model.
Searches go through `KnowledgeIndex`, and beside them, on the same table, through LanceDB's own hybrid query: alone, and
while ten files a minute are written and tended as the drive does it. "1 %" is a search by an owner of 1 % of the
passages. The update is a file that is written into a drive over that index, until a search of that drive finds it. With
`--large` also at a million passages, which takes 10 GB of disk and 4 GB of memory.
"""

import argparse
import random
import statistics
import string
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import numpy as np

from benchmarks.table import print_table
from drive_server.access import ALL_SCOPES, Actor
from drive_server.connect import Drive, DriveSettings, open_drive
from drive_server.knowledge.chunk import Chunk
from drive_server.knowledge.embed import DIMENSIONS, LocalEmbedder, Vectors
from drive_server.knowledge.index import KnowledgeIndex
from drive_server.knowledge.retrieval import PROBES
from drive_server.knowledge.rows import IndexedFile, id_filter

SIZES = (10_000, 100_000)
LARGE = 1_000_000
FEW, MANY = "1" * 32, "2" * 32
CHUNKS_OF_A_FILE = 10
WORDS_OF_A_CHUNK = 120
WORDS_OF_A_QUERY = 4
VOCABULARY = 50_000
FILES_AT_ONCE = 500
QUERIES = 100
PAUSE_BETWEEN_WRITES = 6.0
FILES_READ = 30
MEBIBYTE = 1 << 20
Search = Callable[[str, Vectors, Sequence[str]], Awaitable[object]]


class Synthetic:
    """Text by Zipf's law and random vectors, the same ones at every run."""

    def __init__(self) -> None:
        self._random = random.Random(7)  # noqa: S311 - the same text at every run
        self._numbers = np.random.default_rng(7)
        self._words = ["".join(self._random.choices(string.ascii_lowercase, k=7)) for _ in range(VOCABULARY)]
        self._weights = list(np.cumsum(1 / np.arange(10, VOCABULARY + 10)))

    def text(self, words: int = WORDS_OF_A_CHUNK) -> str:
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=words))

    def query(self) -> tuple[str, Vectors]:
        return self.text(WORDS_OF_A_QUERY), self._vectors(1)[0]

    def file(self, number: int) -> IndexedFile:
        texts = [self.text() for _ in range(CHUNKS_OF_A_FILE)]
        chunks = [Chunk(place, text, 0, len(text), "", None) for place, text in enumerate(texts)]
        owner = FEW if number % 100 == 0 else MANY
        return IndexedFile(f"{number:032x}", owner, 1, f"content {number}", chunks, list(self._vectors(len(chunks))))

    def _vectors(self, count: int) -> Vectors:
        vectors = self._numbers.standard_normal((count, DIMENSIONS), dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class KnownQueries(LocalEmbedder):
    """The local model, which knows the vectors of some queries by heart: what it takes for them is not the index's."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, Vectors] = {}

    async def embed_query(self, text: str) -> Vectors:
        known = self.known.get(text)
        return known if known is not None else await super().embed_query(text)


async def fill(index: KnowledgeIndex, source: Synthetic, size: int) -> float:
    """Fill the index; return the passages per second that it took, upkeep included."""
    files = size // CHUNKS_OF_A_FILE
    taken = 0.0
    for start in range(0, files, FILES_AT_ONCE):
        batch = [source.file(number) for number in range(start, min(start + FILES_AT_ONCE, files))]
        begin = time.perf_counter()
        await index.replace(batch)
        taken += time.perf_counter() - begin
    begin = time.perf_counter()
    await index.tend(idle=True)
    return size / (taken + time.perf_counter() - begin)


def ours(index: KnowledgeIndex) -> Search:
    async def search(query: str, vector: Vectors, owners: Sequence[str]) -> object:
        del vector
        return await index.search(query, owner_ids=owners)

    return search


async def bare(folder: str, name: str) -> Search:
    import lancedb
    from lancedb.rerankers import RRFReranker

    table: Any = await (await lancedb.connect_async(folder)).open_table(name)
    reranker = RRFReranker()

    async def search(query: str, vector: Vectors, owners: Sequence[str]) -> object:
        await table.checkout_latest()
        near = table.query().nearest_to(vector).column("vector").distance_type("dot").nprobes(PROBES)
        both = near.nearest_to_text(query, columns=["words"]).where(id_filter("owner_id", owners))
        return await both.select(["file_id", "text"]).limit(10).rerank(reranker).to_list()

    return search


async def measure(search: Search, queries: Sequence[tuple[str, Vectors]], owners: Sequence[str]) -> list[float]:
    times: list[float] = []
    for query, vector in queries:
        begin = time.perf_counter()
        await search(query, vector, owners)
        times.append(time.perf_counter() - begin)
    return times


@asynccontextmanager
async def being_written(index: KnowledgeIndex, source: Synthetic, first: int) -> AsyncGenerator[None]:
    """Write ten files a minute, and tend the index when there is a pause, as the drive's job does."""

    async def write() -> None:
        number = first
        while True:
            await index.replace([source.file(number)])
            await index.tend()
            await anyio.sleep(PAUSE_BETWEEN_WRITES / 2)
            await index.tend(idle=True)
            await anyio.sleep(PAUSE_BETWEEN_WRITES / 2)
            number += 1

    async with anyio.create_task_group() as group:
        group.start_soon(write)
        yield
        group.cancel_scope.cancel()


async def measure_for(search: Search, queries: Sequence[tuple[str, Vectors]], seconds: float) -> list[float]:
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        times += await measure(search, queries[:10], [FEW, MANY])
        await anyio.sleep(0.1)
    return times


async def update(folder: Path, index_url: str) -> tuple[float, float]:
    """Return how long it takes until a new file is found in a drive over the index, and until a change of it is."""
    async with open_drive(DriveSettings(data_dir=folder, index_url=index_url)) as drive:
        user, _ = await drive.identity.ensure_local_user()
        actor = Actor(await drive.identity.principal_for(user.id, ALL_SCOPES), tool="benchmark")
        await drive.documents.create(actor, "/", "warm.txt", "Nothing but noodles.")
        await drive.ingester.drain()
        begin = time.perf_counter()
        item = (await drive.documents.create(actor, "/", "new.txt", "A word that nobody wrote: zanzibarine.")).value
        await until_found(drive, actor, "zanzibarine")
        created = time.perf_counter() - begin
        begin = time.perf_counter()
        await drive.documents.write_text(actor, item.id, "Another word that nobody wrote: quizzacious.")
        await until_found(drive, actor, "quizzacious")
        return created, time.perf_counter() - begin


async def until_found(drive: Drive, actor: Actor, word: str) -> None:
    while True:
        if (await drive.search.find(actor, word)).items:
            return
        await anyio.sleep(0.01)


async def run_size(size: int, seconds: float) -> list[list[str]]:
    source = Synthetic()
    embedder = KnownQueries()
    with tempfile.TemporaryDirectory() as scratch:
        url = str(Path(scratch) / "index")
        index = KnowledgeIndex(url, embedder)
        filled = await fill(index, source, size)
        queries = [source.query() for _ in range(QUERIES)]
        embedder.known = dict(queries)
        ways = {"ours": ours(index), "LanceDB": await bare(url, index.table_name)}
        rows: list[list[str]] = []
        for name, search in ways.items():
            await measure(search, queries[:10], [FEW, MANY])
            for share, owners in (("100 %", [FEW, MANY]), ("1 %", [FEW])):
                rows.append([f"{size:,}: {name}, {share}", *_quantiles(await measure(search, queries, owners))])
        for number, (name, search) in enumerate(ways.items(), start=1):
            async with being_written(index, source, number * 10 * LARGE):
                times = await measure_for(search, queries, seconds)
            rows.append([f"{size:,}: {name}, 100 %, written to", *_quantiles(times)])
        index.close()
        created, changed = await update(Path(scratch) / "drive", url)
    rows.append([f"{size:,}: a new file, a change found after", f"{created * 1000:.0f}", f"{changed * 1000:.0f}"])
    rows.append([f"{size:,}: passages/s stored; MB of memory", f"{filled:.0f}", f"{_resident_mebibytes():.0f}"])
    return rows


async def run_indexing(model: str) -> list[str]:
    """Write files into a drive; return how many passages a second it reads, cuts, embeds and stores."""
    source = Synthetic()
    with tempfile.TemporaryDirectory() as scratch:
        async with open_drive(DriveSettings(data_dir=Path(scratch), embedding_model=model)) as drive:
            user, _ = await drive.identity.ensure_local_user()
            actor = Actor(await drive.identity.principal_for(user.id, ALL_SCOPES), tool="benchmark")
            await drive.documents.create(actor, "/", "warm.txt", "Nothing but noodles.")
            await drive.ingester.drain()
            wall, processor = time.perf_counter(), time.process_time()
            for number in range(FILES_READ):
                paragraphs = (source.text() for _ in range(CHUNKS_OF_A_FILE))
                await drive.documents.create(actor, "/", f"{number}.txt", ".\n\n".join(paragraphs))
            await drive.ingester.drain()
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
    count = FILES_READ * CHUNKS_OF_A_FILE
    return [f"model {model}", f"{count / wall:.0f}", f"{1000 * processor / count:.1f}"]


def _quantiles(times: Sequence[float]) -> list[str]:
    cuts = statistics.quantiles(times, n=20, method="inclusive")
    return [f"{1000 * statistics.median(times):.1f}", f"{1000 * cuts[-1]:.1f}"]


def _resident_mebibytes() -> float:
    resident = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(resident.split()[1]) * 1024 / MEBIBYTE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="passages (default: %(default)s)")
    parser.add_argument("--large", action="store_true", help=f"also {LARGE:,}")
    parser.add_argument("--seconds", type=float, default=30, help="of searching beside writes (default: %(default)s)")
    options = parser.parse_args()
    rows = [anyio.run(run_indexing, model) for model in ("none", "local")]
    print_table("Indexing files of ten passages", ["", "passages/s", "CPU ms each"], rows)
    for size in [*options.sizes, *([LARGE] if options.large else [])]:
        print_table(f"{size:,} passages", ["search", "p50 ms", "p95 ms"], anyio.run(run_size, size, options.seconds))


if __name__ == "__main__":
    main()
