"""Pages of PDFs a second of CPU time, by kind of page: ours, and pdfium's plain text of the same files in one run.

    python -m benchmarks.search.pages [--pages 20] [--rounds 7] [FILE.pdf ...]

pdfium's text has neither paragraphs nor tables, in the order of drawing: it is the floor. Both ways take turns, in this
process, on one core; the figures are medians. Files that are named are measured too.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import pypdfium2

from benchmarks.fixtures.table import print_table
from benchmarks.fixtures.texts.pages import KINDS, pages_of_kind
from drive_server.knowledge.readers.pages.pdf.reader import pdf_extraction
from drive_server.knowledge.text.omissions import Omissions

HEADER = ("page", "ours", "pdfium", "time ratio")
LEAST_SECONDS = 0.03


def read_ours(path: Path) -> object:
    """Read a file as the drive does; it must yield text."""
    extraction = pdf_extraction(path, Omissions())
    assert extraction.text, path.name
    return extraction


def read_plain(path: Path) -> object:
    """Read the plain text of every page."""
    with pypdfium2.PdfDocument(path) as document:
        return [document[number].get_textpage().get_text_range() for number in range(len(document))]


def seconds_of(read: Callable[[Path], object], path: Path) -> float:
    """Return the CPU time of reading a file, in seconds: the mean of as many readings as the clock needs."""
    readings = 0
    begun = time.process_time()
    while (passed := time.process_time() - begun) < LEAST_SECONDS:
        read(path)
        readings += 1
    return passed / readings


def row(name: str, path: Path, rounds: int) -> list[str]:
    """Measure both ways in turn and return the row of their medians."""
    with pypdfium2.PdfDocument(path) as document:
        pages = len(document)
    read_ours(path)
    pairs = [(seconds_of(read_ours, path), seconds_of(read_plain, path)) for _ in range(rounds)]
    ours, plain = (median(pair[which] for pair in pairs) for which in (0, 1))
    return [name, f"{pages / ours:.0f}", f"{pages / plain:.0f}", f"{ours / plain:.2f}"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Make a file of each kind and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=20, help="of each kind (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=7, help="(default: %(default)s)")
    chosen = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        rows: list[list[str]] = []
        for kind in KINDS:
            path = Path(folder) / "pages.pdf"
            path.write_bytes(pages_of_kind(kind, chosen.pages))
            rows.append(row(kind, path, chosen.rounds))
        rows += [row(path.name, path, chosen.rounds) for path in chosen.files]
    print_table(f"Pages of PDFs a second of CPU time, medians of {chosen.rounds}", HEADER, rows)


if __name__ == "__main__":
    main()
