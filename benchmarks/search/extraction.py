"""Extraction by type, in MB of files a second: ours, the bare parser, and markitdown, on the same files in one run.

    python -m benchmarks.search.extraction [--scale 1]

Ours goes the service's own way: to a reader's process with its limits, and back. The others run in this process, with
their libraries loaded. Then a mixed folder, see `benchmarks/search/mixed_folder.py`. markitdown comes with
the extra `bench`.
"""

import argparse
import io
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from benchmarks.fixtures.table import print_table
from benchmarks.fixtures.texts.bare_parsers import PARSERS, Read
from benchmarks.fixtures.texts.documents import MAKERS, document
from benchmarks.search import mixed_folder
from drive_server.knowledge.readers.pool import ReaderPool

LEAST_SECONDS = 0.5
MAX_READINGS = 20
WARM_SCALE = 0.04
HEADER = ("type", "MB", "ours", "bare", "markitdown", "ours/bare", "bare parser")


def markitdown_reader() -> Read | None:
    """Return markitdown's way to read a file, None where it is not installed."""
    try:
        module: Any = import_module("markitdown")
    except ImportError:
        return None
    converter: Any = module.MarkItDown()

    def read(path: Path) -> object:
        return converter.convert_stream(io.BytesIO(path.read_bytes()), file_extension=path.suffix)

    return read


def our_reader(portal: BlockingPortal, pool: ReaderPool) -> Read:
    """Return the service's way to read a file; it must yield text."""

    def read(path: Path) -> object:
        extraction = portal.call(pool.extract, path, path.name, "")
        assert extraction.state == "ready", f"{path.name}: {extraction.reason}"
        assert extraction.text, path.name
        return extraction

    return read


def megabytes_a_second(read: Read, warm: Path, path: Path) -> float | str:
    """Return the best of some readings after one of a small file; the error's name for a reader that fails."""
    try:
        read(warm)
        return path.stat().st_size / 1e6 / min(_seconds_of_readings(lambda: read(path)))
    except AssertionError:
        raise
    except Exception as error:  # noqa: BLE001 - others' errors are a result here
        return type(error).__name__


def _seconds_of_readings(read: Callable[[], object]) -> list[float]:
    taken: list[float] = []
    while sum(taken) < LEAST_SECONDS and len(taken) < MAX_READINGS:
        begin = time.perf_counter()
        read()
        taken.append(time.perf_counter() - begin)
    return taken


def rows_of(folder: Path, scale: float) -> Sequence[Sequence[str]]:
    """Measure a file of every type."""
    markitdown = markitdown_reader()
    with start_blocking_portal() as portal:
        pool = portal.call(_pool)
        rows = [_row(folder, suffix, scale, our_reader(portal, pool), markitdown) for suffix in MAKERS]
        portal.call(anyio.to_thread.run_sync, pool.close)
    return rows


def _row(folder: Path, suffix: str, scale: float, ours: Read, markitdown: Read | None) -> Sequence[str]:
    warm, path = folder / f"warm.{suffix}", folder / f"a.{suffix}"
    warm.write_bytes(document(suffix, WARM_SCALE))
    path.write_bytes(document(suffix, scale))
    name, bare = PARSERS.get(suffix, ("none", None))
    speeds = [megabytes_a_second(read, warm, path) if read else "-" for read in (ours, bare, markitdown)]
    first, second = speeds[:2]
    ratio = f"{first / second:.2f}" if isinstance(first, float) and isinstance(second, float) else "-"
    shown = [f"{speed:.3g}" if isinstance(speed, float) else str(speed) for speed in speeds]
    return [suffix, f"{path.stat().st_size / 1e6:.2f}", *shown, ratio, name]


async def _pool() -> ReaderPool:
    return ReaderPool()


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the files and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1, help="of the files (default: %(default)s)")
    scale: float = parser.parse_args(arguments).scale
    with TemporaryDirectory() as folder:
        print_table("Extraction, MB of file a second", HEADER, rows_of(Path(folder), scale))
    mixed_folder.main(["--scale", str(scale)])


if __name__ == "__main__":
    main()
