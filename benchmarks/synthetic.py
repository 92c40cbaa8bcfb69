"""A drive with as many passages as wanted, made without reading or embedding any: its tables are written directly.

Words are drawn as in natural text, by Zipf's law; vectors are random, around a thousand topics. There are 100 folders
with as many files each: Ana owns 99 of them and shares the first with Cleo, who has nothing else; Ben owns the last.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

import anyio.to_thread
import numpy as np
from sqlalchemy import insert

from drive_server.connect import ALL_SCOPES, Actor, Drive, DriveSettings, open_drive
from drive_server.knowledge.chunk import Chunk
from drive_server.knowledge.embedding.embedder import DIMENSIONS, LocalEmbedder, Vectors
from drive_server.knowledge.index.maintenance import maintain
from drive_server.knowledge.index.rows import PASSAGE, VECTOR, Passage, content_key, schema, serialize
from drive_server.knowledge.index.tables import PassageTables
from drive_server.storage.tables import IndexEntryRow, NodeRow

CHUNKS_OF_A_FILE = 10
WORDS_OF_A_CHUNK = 120
WORDS_OF_A_QUERY = 4
VOCABULARY = 50_000
COMMONEST = 10
"""The rank in Zipf's law of the commonest word: those before it are function words, which no index has."""

TOPICS = 1000
FOLDERS = 100
ROWS_AT_ONCE = 10_000
BEN, CLEO = "ben@example.com", "cleo@example.com"
SHARED = "000"
"""The name of the folder that is shared with Cleo."""


class Synthetic:
    """Text by Zipf's law and random vectors, the same ones at every run."""

    def __init__(self, seed: int = 7) -> None:
        self._numbers = np.random.default_rng(seed)
        letters = np.random.default_rng(7).integers(97, 123, (VOCABULARY, 7), np.uint8)
        self._words = [row.tobytes().decode() for row in letters]
        shares = 1 / np.arange(COMMONEST, VOCABULARY + COMMONEST)
        self._weights = np.cumsum(shares / shares.sum())
        self._topics = np.random.default_rng(7).standard_normal((TOPICS, DIMENSIONS), dtype=np.float32)

    def texts(self, count: int, words: int = WORDS_OF_A_CHUNK) -> list[str]:
        """Return so many texts of so many words."""
        drawn = np.searchsorted(self._weights, self._numbers.random((count, words))).clip(max=VOCABULARY - 1)
        return [" ".join([self._words[number] for number in row]) for row in drawn.tolist()]

    def vectors(self, count: int) -> Vectors:
        """Return so many vectors of length 1, each near one of the topics."""
        vectors = self._numbers.standard_normal((count, DIMENSIONS), dtype=np.float32)
        vectors += self._topics[self._numbers.integers(0, TOPICS, count)]
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@dataclass(frozen=True, slots=True)
class File:
    """A file and where it stands; its id is random, but the same at every run."""

    number: int
    owner_id: str
    folder_id: str

    @property
    def id(self) -> str:
        return blake2b(str(self.number).encode(), digest_size=16).hexdigest()

    @property
    def content(self) -> str:
        return content_key(f"{self.number:064x}", "a.txt", "text/plain")


@dataclass(frozen=True, slots=True)
class People:
    """Whose searches are measured: of 99 % of the files, of the own 1 %, of 1 % that somebody shares."""

    ana: Actor
    ben: Actor
    cleo: Actor


async def people_of(drive: Drive) -> People:
    """Return the people of a drive; whoever is missing is made."""
    _, token = await drive.identity.ensure_local_user()
    ana = Actor(await drive.identity.authenticate(token), tool="benchmark")
    known = {user.email: user.id for user in await drive.identity.list_users(ana)}
    others: list[Actor] = []
    for email in (BEN, CLEO):
        user_id = known.get(email) or (await drive.identity.create_user(ana, email))[0].id
        others.append(Actor(await drive.identity.principal_for(user_id, ALL_SCOPES), tool="benchmark"))
    return People(ana, *others)


async def build(settings: DriveSettings, size: int) -> float:
    """Fill an empty drive with so many passages; return how many a second the index took, its indices included."""
    tables = PassageTables(settings.resolved_index_url, LocalEmbedder.name)
    async with open_drive(settings) as drive:
        files = await _fill_database(drive, size // CHUNKS_OF_A_FILE, tables.current.name)
    begun = time.perf_counter()
    table = await tables.current.writable(DIMENSIONS)
    await table.add(await anyio.to_thread.run_sync(_reader, files))
    await maintain(table)
    tables.close()
    return size / (time.perf_counter() - begun)


async def _fill_database(drive: Drive, count: int, table: str) -> list[File]:
    people = await people_of(drive)
    owners = [people.ana] * (FOLDERS - 1) + [people.ben]
    folders = [
        (await drive.files.create_folder(owner, "/", f"{number:03}")).value.id for number, owner in enumerate(owners)
    ]
    await drive.sharing.share(people.ana, f"/{SHARED}", CLEO, "viewer")
    places = [number * FOLDERS // count for number in range(count)]
    files = [File(number, owners[place].user_id, folders[place]) for number, place in enumerate(places)]
    now = datetime.now(UTC)
    for start in range(0, count, ROWS_AT_ONCE):
        some = files[start : start + ROWS_AT_ONCE]
        async with drive.database.write() as session:
            await session.execute(insert(NodeRow), [_node(file, now) for file in some])
            await session.execute(insert(IndexEntryRow), [_entry(file, now, table) for file in some])
    return files


def _node(file: File, now: datetime) -> dict[str, Any]:
    place = {"id": file.id, "owner_id": file.owner_id, "parent_id": file.folder_id, "name": f"{file.number}.txt"}
    times = {"created_at": now, "updated_at": now}
    return {**place, **times, "kind": "file", "version": 1, "size": 10_000, "media_type": "text/plain"}


def _entry(file: File, now: datetime, table: str) -> dict[str, Any]:
    state = {"version": 1, "state": "ready", "content": file.content, "index_table": table}
    return {"file_id": file.id, "owner_id": file.owner_id, "updated_at": now, **state}


def _reader(files: list[File]) -> Any:
    import pyarrow as pa  # here, as the drive does it

    source = Synthetic()
    files_at_once = ROWS_AT_ONCE // CHUNKS_OF_A_FILE
    batches = (_batch(source, files[start : start + files_at_once]) for start in range(0, len(files), files_at_once))
    return pa.RecordBatchReader.from_batches(schema("", DIMENSIONS), batches)


def _batch(source: Synthetic, files: list[File]) -> Any:
    """Return the passages of some files: their words are the text, which has nothing to fold."""
    import pyarrow as pa

    count = len(files) * CHUNKS_OF_A_FILE
    texts = source.texts(count)
    ordinals = list(range(CHUNKS_OF_A_FILE)) * len(files)
    repeated = [file for file in files for _ in range(CHUNKS_OF_A_FILE)]
    chunks = [Chunk(place, text, 0, len(text), "", None) for place, text in zip(ordinals, texts, strict=True)]
    columns: dict[str, Any] = {
        "file_id": [file.id for file in repeated],
        "owner_id": [file.owner_id for file in repeated],
        "content": [file.content for file in repeated],
        "digest": [f"{file.number:024}{place:08}" for file, place in zip(repeated, ordinals, strict=True)],
        PASSAGE: [serialize(Passage(file.id, 1, chunk)) for file, chunk in zip(repeated, chunks, strict=True)],
        "words": texts,
        VECTOR: pa.FixedSizeListArray.from_arrays(pa.array(source.vectors(count).ravel()), DIMENSIONS),
    }
    return pa.record_batch(columns, schema=schema("", DIMENSIONS))
