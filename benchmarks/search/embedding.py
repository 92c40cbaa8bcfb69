"""The cost of embedding the passages of a folder with the packaged models: CPU a text and a token, on one thread.

    python -m benchmarks.search.embedding --folder DIR [--every 1] [--other FILE]

Reads and cuts the files as the drive does, and embeds each passage once, by the model of its script, in this process;
`--every 6` takes every sixth. The CPU of all threads is counted, which hardly depends on who else uses the machine.
`--other` is another file of one of the models (its name begins as the packaged one's does, its tokenizer is the same):
a row more, with the cosines between its vectors and those of the packaged file.
"""

import argparse
import mimetypes
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.fixtures.table import print_table
from drive_server.knowledge.embedding.embedder import CjkEmbedder, LocalEmbedder
from drive_server.knowledge.embedding.onnx_model import TOKENIZER_FILE, OnnxModel
from drive_server.knowledge.embedding.vectors import Vectors
from drive_server.knowledge.readers.extract import read_chunks

HEADER = ("model", "texts", "tokens", "CPU s", "ms a text", "µs a token", "cosine with the packaged one: mean, least")
ANY = "application/octet-stream"


def passages_of(folder: Path) -> list[str]:
    """Return the distinct passages of all files below a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    read = (read_chunks(path, path.name, mimetypes.guess_type(path.name)[0] or ANY) for path in files)
    return list(dict.fromkeys(chunk.search_text for one in read for chunk in one.chunks))


def count_tokens(folder: Path, texts: Sequence[str]) -> int:
    """Return how many tokens the model in a folder reads of texts."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
    return sum(len(tokenizer.encode(text).ids) for text in texts)


def embedded(path: Path, texts: list[str]) -> tuple[Vectors, float]:
    """Return the vectors of texts by the model in a file, and the seconds of CPU without loading it."""
    model = OnnxModel(path)
    model.embed(texts[:1])
    begun = time.process_time()
    return model.embed(texts), time.process_time() - begun


def row(path: Path, texts: Sequence[str], tokens: int, seconds: float, compared: str) -> list[str]:
    """Return the row of a model's file."""
    each = (f"{seconds:.1f}", f"{1000 * seconds / len(texts):.1f}", f"{1_000_000 * seconds / tokens:.0f}")
    return [path.name, str(len(texts)), f"{tokens:,}", *each, compared]


def rows_of(embedder: LocalEmbedder | CjkEmbedder, passages: Sequence[str], other: Path | None) -> list[list[str]]:
    """Return the row of a model, and that of another file of it; none if no passage is in its language."""
    texts = [embedder.passage_prefix + text for text in passages if embedder.supports(text)]
    if not texts:
        return []
    tokens = count_tokens(embedder.path.parent, texts)
    vectors, seconds = embedded(embedder.path, texts)
    rows = [row(embedder.path, texts, tokens, seconds, "")]
    if other is not None and other.name.split(".")[0] == embedder.path.name.split(".")[0]:
        with tempfile.TemporaryDirectory() as scratch:
            model = Path(scratch, other.name)
            model.symlink_to(other.resolve())
            model.with_name(TOKENIZER_FILE).symlink_to(embedder.path.with_name(TOKENIZER_FILE))
            others, seconds = embedded(model, texts)
        cosines = (vectors * others).sum(axis=1)
        rows.append(row(other, texts, tokens, seconds, f"{cosines.mean():.4f}, {cosines.min():.4f}"))
    return rows


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="whose files are read")
    parser.add_argument("--every", type=int, default=1, help="take every so many-th passage (default: %(default)s)")
    parser.add_argument("--other", type=Path, help="another file of one of the models")
    options = parser.parse_args()
    passages = passages_of(options.folder)[:: options.every]
    rows = [one for model in (LocalEmbedder(), CjkEmbedder()) for one in rows_of(model, passages, options.other)]
    print_table("Embedding the passages of a folder", HEADER, rows)


if __name__ == "__main__":
    main()
