"""The rows of the index's table: the columns of a passage, and the filters over them."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import Any

import numpy as np
import orjson

from drive_server.knowledge.chunk import Chunk
from drive_server.knowledge.embedding.embedder import Vectors
from drive_server.knowledge.formats import format_of
from drive_server.knowledge.text.words import indexed_words

_ID = re.compile(r"[0-9a-f]{32}")
_CHUNK_FIELDS = ("ordinal", "text", "start", "end", "heading", "page", "place")
PASSAGE = "passage"
"""The shown part of a passage, as JSON in one column: each further column would cost a search as much as this one."""

FILE_COLUMNS = ("owner_id", "content", PASSAGE)
VECTOR = "vector"
MODEL = "model"
"""The name of the model of the row's vector, empty without one: vectors of two models are never compared."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as it comes back from the table."""

    file_id: str
    version: int
    chunk: Chunk

    @property
    def search_text(self) -> str:
        """The text under its headings, as it is searched."""
        return f"{self.chunk.heading}\n{self.chunk.text}"


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """The passages of one content of a file, by its key. `vectors` has one for each, None where there is none."""

    file_id: str
    owner_id: str
    version: int
    content: str
    chunks: Sequence[Chunk]
    vectors: Sequence[Vectors | None]


def schema(model: str, dimensions: int) -> Any:
    """Return the table's Arrow schema, which names the model; without vectors, no column for them."""
    import pyarrow as pa  # here, as lancedb is: it takes a second of CPU that starting the service must not

    fields = [
        pa.field(name, pa.string()) for name in ("file_id", "owner_id", "content", "digest", PASSAGE, "words", MODEL)
    ]
    if dimensions:
        fields.append(vector_field(dimensions))
    return pa.schema(fields, metadata={"model": model})


def vector_field(dimensions: int) -> Any:
    """Return the column of vectors."""
    import pyarrow as pa

    return pa.field(VECTOR, pa.list_(pa.float32(), dimensions))


def rows_to_arrow(files: Sequence[IndexedFile], dimensions: int, model_of: Callable[[str], str]) -> Any:
    """Return the rows of files as an Arrow table, without vectors of another length than `dimensions`.

    `model_of` names the model that embeds a text.
    """
    import pyarrow as pa

    pairs = [(file, chunk) for file in files for chunk in file.chunks]
    searched = [chunk.search_text for _, chunk in pairs]
    words = [chunk.words or indexed_words(text) for (_, chunk), text in zip(pairs, searched, strict=True)]
    columns: dict[str, Any] = {
        **{name: [getattr(file, name) for file, _ in pairs] for name in ("file_id", "owner_id", "content")},
        "digest": [text_digest(text) for text in searched],
        PASSAGE: [serialize(Passage(file.file_id, file.version, chunk)) for file, chunk in pairs],
        "words": words,
    }
    vectors = [
        vector if vector is not None and len(vector) == dimensions else None
        for file in files
        for vector in file.vectors
    ]
    columns[MODEL] = ["" if one is None else model_of(text) for one, text in zip(vectors, searched, strict=True)]
    if dimensions:
        columns[VECTOR] = vector_column(vectors, dimensions)
    return pa.table(columns, schema=schema("", dimensions))


def serialize(passage: Passage) -> str:
    """Return a passage as the table stores it."""
    chunk = {name: getattr(passage.chunk, name) for name in _CHUNK_FIELDS}
    return orjson.dumps({"file_id": passage.file_id, "version": passage.version, **chunk}).decode()


def deserialize(stored: str) -> Passage:
    """Return the passage that `serialize` wrote."""
    values: dict[str, Any] = orjson.loads(stored)
    return Passage(values.pop("file_id"), values.pop("version"), Chunk(**values))


def arrow_to_files(rows: Any, models: Collection[str]) -> dict[str, IndexedFile]:
    """Return the files whose rows, all of them, are in an Arrow table, by their ids; with the vectors of `models`."""
    passages = [deserialize(stored) for stored in rows[PASSAGE].to_pylist()]
    vectors: list[Vectors | None] = [None] * len(passages)
    if VECTOR in rows.column_names:
        pairs = zip(column_to_vectors(rows[VECTOR]), rows[MODEL].to_pylist(), strict=True)
        vectors = [vector if model in models else None for vector, model in pairs]
    records = zip(passages, vectors, rows["owner_id"].to_pylist(), rows["content"].to_pylist(), strict=True)
    ordered = sorted(records, key=lambda record: (record[0].file_id, record[0].chunk.ordinal))
    return {
        file_id: _rows_to_file(list(group)) for file_id, group in groupby(ordered, key=lambda record: record[0].file_id)
    }


def column_to_vectors(column: Any) -> list[Vectors | None]:
    """Return the vectors of a column: as lists of floats they would take ten times as long."""
    chunk = column.combine_chunks()
    chunk = chunk.chunk(0) if hasattr(chunk, "chunk") else chunk
    dimensions: int = chunk.type.list_size
    values = np.asarray(chunk.values, np.float32)[chunk.offset * dimensions :][: len(chunk) * dimensions]
    has_vector: list[bool] = chunk.is_valid().to_pylist()
    return [vector if valid else None for vector, valid in zip(values.reshape(-1, dimensions), has_vector, strict=True)]


def id_filter(column: str, ids: Iterable[str]) -> str:
    """Return the SQL condition that a column has one of the ids. Raises `ValueError` for a malformed id."""
    wanted = sorted(ids)
    for one in wanted:
        if not _ID.fullmatch(one):
            raise ValueError("not an id of this drive")
    return f"{column} IN ({', '.join(map(repr, wanted))})"


def model_filter(model: str) -> str:
    """Return the SQL condition that a row has a vector of this model, or none for an empty name."""
    return f"{MODEL} = {quoted(model)}"


def quoted(text: str) -> str:
    """Return a text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


def vectors_to_arrow(vectors: Mapping[str, Vectors], model: str) -> Any:
    """Return the digests of texts with their vectors by a model, one at least, as an Arrow table."""
    import pyarrow as pa

    found = list(vectors.values())
    columns = {"digest": list(vectors), MODEL: [model] * len(found), VECTOR: vector_column(found, len(found[0]))}
    return pa.table(columns)


def _rows_to_file(group: Sequence[tuple[Passage, Vectors | None, str, str]]) -> IndexedFile:
    first, _, owner_id, content = group[0]
    chunks = [passage.chunk for passage, *_ in group]
    vectors = [vector for _, vector, *_ in group]
    return IndexedFile(first.file_id, owner_id, first.version, content, chunks, vectors)


def vector_column(vectors: Sequence[Vectors | None], dimensions: int) -> Any:
    """Return the column of vectors of this length, some of which may be missing."""
    import pyarrow as pa

    missing = [vector is None for vector in vectors]
    filled = np.zeros((len(vectors), dimensions), np.float32)
    for row, vector in zip(filled, vectors, strict=True):
        if vector is not None:
            row[:] = vector
    return pa.FixedSizeListArray.from_arrays(
        pa.array(filled.ravel()), dimensions, mask=pa.array(missing, type=pa.bool_())
    )


READING = 5
"""Raise it when readers or the chunker give other passages: the drive then reads every file again at its next start."""

DIGEST_CHARACTERS = 32


def content_key(blob: str, name: str, media_type: str) -> str:
    """Return the key of a content: its bytes, the format they are read as, and the version of the readers."""
    return f"{blob}/{format_of(name, media_type).name}/{READING}"


def text_digest(text: str) -> str:
    """Return the digest of an embedded text: passages of the same digest have the same vector."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARACTERS]
