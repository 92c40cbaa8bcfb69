"""The rows of the index's table: what is stored of a passage, and the filters over it."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from drive_server.knowledge.chunk import Chunk
from drive_server.knowledge.content import digest_of
from drive_server.knowledge.embed import Vectors
from drive_server.knowledge.words import indexed_words

_ID = re.compile(r"[0-9a-f]{32}")
_OF_CHUNK = ("ordinal", "text", "start", "end", "heading", "page", "place")
STORED = ("file_id", "version", *_OF_CHUNK)
FILE_COLUMNS = ("file_id", "owner_id", "version", "content", *_OF_CHUNK)
_INTEGERS = {"version", "ordinal", "start", "end", "page"}
VECTOR = "vector"


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """The passages of one content of a file. `vectors` has one for each passage, None where there is none (yet).

    `content` is the content's key, empty if it is not to be found again.
    """

    file_id: str
    owner_id: str
    version: int
    content: str
    chunks: Sequence[Chunk]
    vectors: Sequence[Vectors | None]


def schema(model: str, dimensions: int) -> Any:
    """Return the table's Arrow schema, which names the model; without vectors, no column for them."""
    import pyarrow as pa  # here, as lancedb is: it takes a second of CPU that starting the service must not

    names = ("file_id", "owner_id", "version", "content", "digest", *_OF_CHUNK, "words")
    fields = [pa.field(name, pa.int32() if name in _INTEGERS else pa.string()) for name in names]
    if dimensions:
        fields.append(vector_field(dimensions))
    return pa.schema(fields, metadata={"model": model})


def vector_field(dimensions: int) -> Any:
    """Return the column of vectors."""
    import pyarrow as pa

    return pa.field(VECTOR, pa.list_(pa.float32(), dimensions))


def table_of(files: Sequence[IndexedFile], dimensions: int) -> Any:
    """Return the rows of some files as an Arrow table. Vectors of another length than `dimensions` are left out."""
    import pyarrow as pa

    pairs = [(file, chunk) for file in files for chunk in file.chunks]
    searched = [chunk.searched for _, chunk in pairs]
    columns: dict[str, Any] = {
        **{name: [getattr(file, name) for file, _ in pairs] for name in ("file_id", "owner_id", "version", "content")},
        "digest": [digest_of(text) for text in searched],
        **{name: [getattr(chunk, name) for _, chunk in pairs] for name in _OF_CHUNK},
        "words": [indexed_words(text) for text in searched],
    }
    if dimensions:
        columns[VECTOR] = _vector_column([vector for file in files for vector in file.vectors], dimensions)
    return pa.table(columns, schema=schema("", dimensions))


def files_of(rows: Any) -> dict[str, IndexedFile]:
    """Return the files whose rows, all of them, are in an Arrow table, by their ids."""
    names = [name for name in rows.column_names if name != VECTOR]
    records: list[dict[str, Any]] = rows.select(names).to_pylist()
    vectors = vectors_of(rows.column(VECTOR)) if VECTOR in rows.column_names else [None] * len(records)
    ordered = sorted(zip(records, vectors, strict=True), key=lambda pair: (pair[0]["file_id"], pair[0]["ordinal"]))
    return {
        file_id: _file_of(list(group)) for file_id, group in groupby(ordered, key=lambda pair: str(pair[0]["file_id"]))
    }


def vectors_of(column: Any) -> list[Vectors | None]:
    """Return the vectors of a column: as lists of floats they would take ten times as long."""
    chunk = column.combine_chunks()
    chunk = chunk.chunk(0) if hasattr(chunk, "chunk") else chunk
    dimensions: int = chunk.type.list_size
    values = np.asarray(chunk.values, np.float32)[chunk.offset * dimensions :][: len(chunk) * dimensions]
    known: list[bool] = chunk.is_valid().to_pylist()
    return [vector if valid else None for vector, valid in zip(values.reshape(-1, dimensions), known, strict=True)]


def id_filter(column: str, ids: Iterable[str]) -> str:
    """Return the SQL condition that a column has one of the ids. Raises `ValueError` for what is no id of ours."""
    wanted = sorted(ids)
    for one in wanted:
        if not _ID.fullmatch(one):
            raise ValueError("not an id of this drive")
    return f"{column} IN ({', '.join(map(repr, wanted))})"


def _file_of(group: Collection[tuple[dict[str, Any], Vectors | None]]) -> IndexedFile:
    first = next(iter(group))[0]
    chunks = [Chunk(**{name: record[name] for name in _OF_CHUNK}) for record, _ in group]
    vectors = [vector for _, vector in group]
    return IndexedFile(first["file_id"], first["owner_id"], first["version"], first["content"], chunks, vectors)


def _vector_column(vectors: Sequence[Vectors | None], dimensions: int) -> Any:
    import pyarrow as pa

    missing = [vector is None or len(vector) != dimensions for vector in vectors]
    filled = np.zeros((len(vectors), dimensions), np.float32)
    for row, vector, left_out in zip(filled, vectors, missing, strict=True):
        if vector is not None and not left_out:
            row[:] = vector
    return pa.FixedSizeListArray.from_arrays(
        pa.array(filled.ravel()), dimensions, mask=pa.array(missing, type=pa.bool_())
    )
