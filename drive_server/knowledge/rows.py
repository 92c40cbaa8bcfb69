"""The rows of the index's table: what is stored of a passage, and the filters over it."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from drive_server.knowledge.chunk import Chunk
from drive_server.knowledge.embed import Vectors
from drive_server.knowledge.words import indexed_words

_ID = re.compile(r"[0-9a-f]{32}")
_SEPARATORS = re.compile(r"[\W_]+")
STORED = ("file_id", "version", "ordinal", "text", "start", "end", "heading", "page")


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """The passages of one content of a file. `vectors` has one for each passage, None where the model can't read it."""

    file_id: str
    owner_id: str
    version: int
    name: str
    chunks: Sequence[Chunk]
    vectors: Sequence[Vectors | None]


def schema(dimensions: int) -> Any:
    """Return the table's Arrow schema; without vectors, no column for them."""
    import pyarrow as pa  # here, as lancedb is: it takes a second of CPU that starting the service must not

    integers = {"version", "ordinal", "start", "end", "page"}
    names = ("file_id", "owner_id", *STORED[1:], "words")
    fields = [pa.field(name, pa.int32() if name in integers else pa.string()) for name in names]
    if dimensions:
        fields.append(pa.field("vector", pa.list_(pa.float32(), dimensions)))
    return pa.schema(fields)


def table_of(files: Sequence[IndexedFile], dimensions: int) -> Any:
    """Return the rows of some files as an Arrow table."""
    import pyarrow as pa

    pairs = [(file, chunk) for file in files for chunk in file.chunks]
    columns: dict[str, Any] = {
        "file_id": [file.file_id for file, _ in pairs],
        "owner_id": [file.owner_id for file, _ in pairs],
        "version": [file.version for file, _ in pairs],
        **{name: [getattr(chunk, name) for _, chunk in pairs] for name in STORED[2:]},
        "words": [indexed_words(f"{spoken_name(file.name)}\n{chunk.searched}") for file, chunk in pairs],
    }
    if dimensions:
        columns["vector"] = _vector_column([vector for file in files for vector in file.vectors], dimensions)
    return pa.table(columns, schema=schema(dimensions))


def spoken_name(name: str) -> str:
    """Return a file's name as words: without its suffix and its separators."""
    return _SEPARATORS.sub(" ", PurePath(name).stem).strip()


def embedded_text(name: str, chunk: Chunk) -> str:
    """Return what the embedding model reads of a passage: under its headings or, if it has none, the file's name."""
    return chunk.searched if chunk.heading else f"{spoken_name(name)}\n{chunk.text}"


def id_filter(column: str, ids: Collection[str]) -> str:
    """Return the SQL condition that a column has one of the ids. Raises `ValueError` for what is no id of ours."""
    for one in ids:
        if not _ID.fullmatch(one):
            raise ValueError("not an id of this drive")
    return f"{column} IN ({', '.join(repr(one) for one in sorted(ids))})"


def _vector_column(vectors: Sequence[Vectors | None], dimensions: int) -> Any:
    import pyarrow as pa

    missing = [vector is None for vector in vectors]
    filled = np.zeros((len(vectors), dimensions), np.float32)
    for row, vector in zip(filled, vectors, strict=True):
        if vector is not None:
            row[:] = vector
    return pa.FixedSizeListArray.from_arrays(
        pa.array(filled.ravel()), dimensions, mask=pa.array(missing, type=pa.bool_())
    )
