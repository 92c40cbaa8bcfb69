"""Preparation of files for the index: passages and vectors are reused where possible, else read and embedded."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import anyio.to_thread

from drive_server.kernel.sql.database import Database
from drive_server.knowledge.chunk import Chunk
from drive_server.knowledge.embedding.embedder import Embedder, Vectors
from drive_server.knowledge.embedding.vectors import EmbedderUnavailableError
from drive_server.knowledge.index.rows import IndexedFile, text_digest
from drive_server.knowledge.index_process.passage_index import PassageIndex
from drive_server.knowledge.ingest.pending import Job, Result
from drive_server.knowledge.ingest.readings import Reading, find_readings
from drive_server.knowledge.readers.extract import ChunkedText
from drive_server.knowledge.readers.text_source import TextSource

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """A file ready for the index, and its new state. `is_indexed`: the index has exactly this already."""

    result: Result
    file: IndexedFile
    is_indexed: bool = False


class FilePreparer:
    """Reads and embeds no content and no passage that the index has already, whoever owns the file."""

    def __init__(self, database: Database, texts: TextSource, embedder: Embedder, index: PassageIndex) -> None:
        self._database = database
        self._texts = texts
        self._embedder = embedder
        self._index = index

    async def reuse(self, jobs: Sequence[Job]) -> list[PreparedFile | None]:
        """Return the files that need no reading, with the vectors that the index has; None for each other job."""
        readings = await self._find_readings(jobs)
        stored = await self._stored(jobs, readings)
        return [_reused(job, readings, stored) for job in jobs]

    async def read(self, job: Job) -> ChunkedText:
        """Return the passages of a file's content."""
        return await self._texts.chunks(job.blob or "", job.name, job.media_type)

    async def embed(self, read: Sequence[PreparedFile]) -> list[PreparedFile]:
        """Return the files with the missing vectors. Files that can't be embedded now are postponed."""
        prepared = await self._with_known_vectors(read)
        try:
            return await self._with_new_vectors(prepared)
        except EmbedderUnavailableError as error:
            logger.warning("Indexing words only: %s", error)
            return [_postponed(one) if self._missing(one) else one for one in prepared]

    async def _find_readings(self, jobs: Sequence[Job]) -> dict[str, Reading]:
        contents = {job.content for job in jobs if job.content and not job.from_scratch}
        return await find_readings(self._database, contents) if contents else {}

    async def _stored(self, jobs: Sequence[Job], readings: Mapping[str, Reading]) -> dict[str, IndexedFile]:
        """Return these files, and others with the same contents, as the index has them."""
        wanted: set[str] = set()
        for job in jobs:
            reading = readings.get(job.content)
            if reading and reading.passages:
                wanted |= {job.file_id, *([reading.file_id] if reading.file_id else [])}
        return await self._index.stored(wanted) if wanted else {}

    async def _with_known_vectors(self, prepared: Sequence[PreparedFile]) -> list[PreparedFile]:
        """Return the files with the vectors that the index has of the same texts."""
        again = [one for one in prepared if not one.result.job.from_scratch]
        wanted = await anyio.to_thread.run_sync(_digests_without_vectors, again)
        vectors = await self._index.vectors(wanted) if wanted else {}
        return [one if one.result.job.from_scratch else _completed(one, vectors) for one in prepared]

    async def _with_new_vectors(self, prepared: Sequence[PreparedFile]) -> list[PreparedFile]:
        """Return the files with all vectors, each text embedded once."""
        missing = await anyio.to_thread.run_sync(self._all_missing, prepared)
        if not missing:
            return list(prepared)
        found = await self._embedder.embed_documents(list(missing.values()))
        vectors = dict(zip(missing, found, strict=True))
        return [_completed(one, vectors) for one in prepared]

    def _all_missing(self, prepared: Sequence[PreparedFile]) -> dict[str, str]:
        return {digest: text for one in prepared for digest, text in self._missing(one).items()}

    def _missing(self, one: PreparedFile) -> dict[str, str]:
        """Return the texts without a vector, by their digests."""
        pairs = zip(one.file.chunks, one.file.vectors, strict=True)
        texts = [chunk.search_text for chunk, vector in pairs if vector is None]
        return {text_digest(text): text for text in texts if self._embedder.supports(text)}


def _reused(job: Job, readings: Mapping[str, Reading], stored: Mapping[str, IndexedFile]) -> PreparedFile | None:
    """Return the file if it needs no reading; None if the index does not have its whole content."""
    reading = readings.get(job.content)
    had = _indexed_content(job, reading, stored) if reading and job.blob else None
    is_in_index = had is not None and not job.is_searchable
    if job.blob is None or (job.is_trashed and not is_in_index):
        return PreparedFile(Result(replace(job, blob=None), "ready"), _file(job, [], []))
    if reading is None or had is None:
        return None
    result = Result(
        job, reading.state, reading.reason, reading.passages, omissions=reading.omissions, properties=reading.properties
    )
    return PreparedFile(result, _file(job, had.chunks, had.vectors), is_indexed=_is_up_to_date(had, job))


def prepare(job: Job, passages: ChunkedText) -> PreparedFile:
    """Return a file for the index, without vectors."""
    result = Result(
        job,
        passages.state,
        passages.reason,
        len(passages.chunks),
        omissions=passages.omissions,
        properties=passages.properties,
    )
    return PreparedFile(result, _file(job, passages.chunks, [None] * len(passages.chunks)))


def _digests_without_vectors(prepared: Sequence[PreparedFile]) -> set[str]:
    pairs = (pair for one in prepared for pair in zip(one.file.chunks, one.file.vectors, strict=True))
    return {text_digest(chunk.search_text) for chunk, vector in pairs if vector is None}


def _file(job: Job, chunks: Sequence[Chunk], vectors: Sequence[Vectors | None]) -> IndexedFile:
    return IndexedFile(job.file_id, job.owner_id, job.version, job.content, chunks, vectors)


def _indexed_content(job: Job, reading: Reading, stored: Mapping[str, IndexedFile]) -> IndexedFile | None:
    """Return a file in the index with all passages of this content, else None."""
    if not reading.passages:
        return _file(job, [], [])
    for file_id in (job.file_id, reading.file_id):
        had = stored.get(file_id or "")
        if had and had.content == job.content and len(had.chunks) == reading.passages:
            return had
    return None


def _is_up_to_date(had: IndexedFile, job: Job) -> bool:
    same = (had.file_id, had.owner_id, had.version) == (job.file_id, job.owner_id, job.version)
    return same and bool(had.chunks) and not job.is_searchable


def _completed(one: PreparedFile, vectors: Mapping[str, Vectors]) -> PreparedFile:
    """Return the file with the vectors that it lacked."""
    if not vectors:
        return one
    pairs = zip(one.file.chunks, one.file.vectors, strict=True)
    filled = [vectors.get(text_digest(chunk.search_text)) if vector is None else vector for chunk, vector in pairs]
    gained = any(new is not None and old is None for new, old in zip(filled, one.file.vectors, strict=True))
    return replace(one, file=replace(one.file, vectors=filled), is_indexed=one.is_indexed and not gained)


def _postponed(one: PreparedFile) -> PreparedFile:
    return replace(one, result=replace(one.result, postponed=True))
