"""What the index is to have of files: taken from what it has already, else read, cut and embedded."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import anyio.to_thread

from drive_server.knowledge.chunk import Chunk
from drive_server.knowledge.embedding.embedder import Embedder, EmbedderUnavailableError, Vectors
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.index.rows import IndexedFile, digest_of
from drive_server.knowledge.ingest.pending import Job, Result
from drive_server.knowledge.ingest.readings import Reading, known_readings
from drive_server.knowledge.readers.extract import Passages
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.storage.database import Database

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Gathered:
    """The file as it is to be in the index, and its new state. `is_there`: the index has it just so."""

    result: Result
    file: IndexedFile
    is_there: bool = False


class Gatherer:
    """Reads and embeds as little as it can.

    A content that some file in the index has is neither read nor embedded again, whoever's file it is; of other
    contents those passages are embedded whose text no passage in the index has.
    """

    def __init__(self, database: Database, texts: TextSource, embedder: Embedder, index: KnowledgeIndex) -> None:
        self._database = database
        self._texts = texts
        self._embedder = embedder
        self._index = index

    async def known(self, jobs: Sequence[Job]) -> list[Gathered | None]:
        """Return the files for which nothing has to be read, with the vectors that the index has; None for others."""
        readings = await self._known(jobs)
        stored = await self._stored(jobs, readings)
        return [_known_already(job, readings, stored) for job in jobs]

    async def read(self, job: Job) -> Passages:
        """Return the passages of a file's content."""
        return await self._texts.passages(job.blob or "", job.name, job.media_type)

    async def embed(self, read: Sequence[Gathered]) -> list[Gathered]:
        """Return the same with the vectors that are missing. What can't be embedded now is postponed."""
        gathered = await self._with_known_vectors(read)
        try:
            return await self._with_new_vectors(gathered)
        except EmbedderUnavailableError as error:
            logger.warning("Indexing words only: %s", error)
            return [_postponed(one) if self._missing(one) else one for one in gathered]

    async def _known(self, jobs: Sequence[Job]) -> dict[str, Reading]:
        contents = {job.content for job in jobs if job.content and not job.anew}
        return await known_readings(self._database, contents) if contents else {}

    async def _stored(self, jobs: Sequence[Job], readings: Mapping[str, Reading]) -> dict[str, IndexedFile]:
        """Return what the index has of these files, and of others with the same contents."""
        wanted: set[str] = set()
        for job in jobs:
            reading = readings.get(job.content)
            if reading and reading.passages:
                wanted |= {job.file_id, *([reading.file_id] if reading.file_id else [])}
        return await self._index.stored(wanted) if wanted else {}

    async def _with_known_vectors(self, gathered: Sequence[Gathered]) -> list[Gathered]:
        """Return the same with the vectors that the index has of the same texts."""
        again = [one for one in gathered if not one.result.job.anew]
        wanted = (await anyio.to_thread.run_sync(self._all_missing, again)).keys()
        vectors = await self._index.vectors(wanted) if wanted else {}
        return [one if one.result.job.anew else _completed(one, vectors) for one in gathered]

    async def _with_new_vectors(self, gathered: Sequence[Gathered]) -> list[Gathered]:
        """Return the same with all vectors, each text embedded once."""
        missing = await anyio.to_thread.run_sync(self._all_missing, gathered)
        if not missing:
            return list(gathered)
        found = await self._embedder.embed_documents(list(missing.values()))
        vectors = dict(zip(missing, found, strict=True))
        return [_completed(one, vectors) for one in gathered]

    def _all_missing(self, gathered: Sequence[Gathered]) -> dict[str, str]:
        return {digest: text for one in gathered for digest, text in self._missing(one).items()}

    def _missing(self, one: Gathered) -> dict[str, str]:
        """Return the texts that are to be embedded, by their digests."""
        pairs = zip(one.file.chunks, one.file.vectors, strict=True)
        texts = [chunk.searched for chunk, vector in pairs if vector is None]
        return {digest_of(text): text for text in texts if self._embedder.reads(text)}


def _known_already(job: Job, readings: Mapping[str, Reading], stored: Mapping[str, IndexedFile]) -> Gathered | None:
    """Return the file if nothing has to be read for it; None if its content is not known, or not all of it there."""
    reading = readings.get(job.content)
    had = _whole(job, reading, stored) if reading and job.blob else None
    is_kept = had is not None and not job.is_found_already
    if job.blob is None or (job.is_trashed and not is_kept):
        return Gathered(Result(replace(job, blob=None), "ready"), _file(job, [], []))
    if reading is None or had is None:
        return None
    result = Result(job, reading.state, reading.reason, reading.passages)
    return Gathered(result, _file(job, had.chunks, had.vectors), is_there=_is_as_wanted(had, job))


def of_passages(job: Job, passages: Passages) -> Gathered:
    """Return a file as it is to be in the index, without vectors."""
    result = Result(job, passages.state, passages.reason, len(passages.chunks))
    return Gathered(result, _file(job, passages.chunks, [None] * len(passages.chunks)))


def _file(job: Job, chunks: Sequence[Chunk], vectors: Sequence[Vectors | None]) -> IndexedFile:
    return IndexedFile(job.file_id, job.owner_id, job.version, job.content, chunks, vectors)


def _whole(job: Job, reading: Reading, stored: Mapping[str, IndexedFile]) -> IndexedFile | None:
    """Return the content as a file has it in the index: all its passages; else None."""
    if not reading.passages:
        return _file(job, [], [])
    for file_id in (job.file_id, reading.file_id):
        had = stored.get(file_id or "")
        if had and had.content == job.content and len(had.chunks) == reading.passages:
            return had
    return None


def _is_as_wanted(had: IndexedFile, job: Job) -> bool:
    same = (had.file_id, had.owner_id, had.version) == (job.file_id, job.owner_id, job.version)
    return same and bool(had.chunks) and not job.is_found_already


def _completed(one: Gathered, vectors: Mapping[str, Vectors]) -> Gathered:
    """Return the same with those of the vectors that it lacks."""
    if not vectors:
        return one
    pairs = zip(one.file.chunks, one.file.vectors, strict=True)
    filled = [vectors.get(digest_of(chunk.searched)) if vector is None else vector for chunk, vector in pairs]
    gained = any(new is not None and old is None for new, old in zip(filled, one.file.vectors, strict=True))
    return replace(one, file=replace(one.file, vectors=filled), is_there=one.is_there and not gained)


def _postponed(one: Gathered) -> Gathered:
    return replace(one, result=replace(one.result, postponed=True))
