"""PDFs whose end is missing, as after a broken download, made readable with the objects that are left.

pdfium finds the objects of such a file itself, but not the one that is the root. pypdf, asked not to be strict, raises
"Cannot find Root object in pdf" for all of `tests/drive_server/knowledge/readers/pages/test_repair.py`.
"""

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pypdfium2

_OBJECT: Final = re.compile(rb"(?<!\d)(\d{1,10})\s+(\d{1,5})\s+obj\b")
_CATALOG: Final = re.compile(rb"/Type\s*/Catalog\b")
_PAGE: Final = re.compile(rb"/Type\s*/Page\b")
_OBJECT_STREAM: Final = re.compile(rb"/Type\s*/ObjStm\b")
_NUMBERS: Final = {name: re.compile(rb"/" + name + rb"\s+(\d+)") for name in (b"N", b"First")}
_STREAM: Final = re.compile(rb"stream\r?\n")
_MAX_BYTES: Final = 200_000_000
_MAX_UNPACKED: Final = 100_000_000
_HEAD_BYTES: Final = 4096  # of an object: as much as its kind is looked for in


def repaired(path: Path) -> pypdfium2.PdfDocument | None:
    """Return a document made of the objects that are left of a file, None if that is no document."""
    if path.stat().st_size > _MAX_BYTES:
        return None
    data = path.read_bytes()
    data += b"\nendobj\n" + b"".join(_unpacked(data))
    tail = _tail(data)
    if tail is None:
        return None
    try:
        document = pypdfium2.PdfDocument(data + tail)
    except pypdfium2.PdfiumError:
        return None
    if len(document):
        return document
    document.close()
    return None


def _heads(data: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield the number, the generation and the beginning of each object."""
    found = list(_OBJECT.finditer(data))
    ends = [*(match.start() for match in found[1:]), len(data)]
    for match, end in zip(found, ends, strict=True):
        yield match[1], match[2], data[match.end() : min(end, match.end() + _HEAD_BYTES)]


def _tail(data: bytes) -> bytes | None:
    """Return a trailer that names the root, with a list of the pages if there is no root any more."""
    heads = list(_heads(data))
    roots = [(number, generation) for number, generation, head in heads if _CATALOG.search(head)]
    if roots:
        return _trailer(*roots[-1])
    pages = [b"%s %s R" % (number, generation) for number, generation, head in heads if _PAGE.search(head)]
    if not pages:
        return None
    free = max(int(number) for number, _, _ in heads) + 1
    listed = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(pages), b" ".join(pages))
    root = b"%d 0 obj\n<< /Type /Catalog /Pages %d 0 R >>\nendobj\n" % (free, free + 1)
    return root + b"%d 0 obj\n%s\nendobj\n" % (free + 1, listed) + _trailer(b"%d" % free, b"0")


def _trailer(number: bytes, generation: bytes) -> bytes:
    return b"trailer\n<< /Root %s %s R >>\nstartxref\n0\n%%%%EOF\n" % (number, generation)


def _unpacked(data: bytes) -> Iterator[bytes]:
    """Yield the objects within streams of objects (ISO 32000-2, section 7.5.7) as objects of their own."""
    left = _MAX_UNPACKED
    for match in _OBJECT_STREAM.finditer(data):
        start = _STREAM.search(data, match.end())
        head = data[max(0, match.start() - _HEAD_BYTES) : start.end() if start else match.end()]
        head = head[head.rfind(b" obj") :]
        counts = [found[1] for found in (_NUMBERS[name].search(head) for name in (b"N", b"First")) if found]
        if start is None or len(counts) < len(_NUMBERS):
            continue
        stream = _inflated(data[start.end() :], left)
        left -= len(stream)
        yield from _objects(stream, int(counts[0]), int(counts[1]))


def _inflated(data: bytes, most: int) -> bytes:
    try:
        return zlib.decompressobj().decompress(data, max(most, 1))
    except zlib.error:
        return b""


def _objects(stream: bytes, count: int, first: int) -> Iterator[bytes]:
    numbers = [int(one) for one in stream[:first].split()[: 2 * count] if one.isdigit()]
    pairs = list(zip(numbers[::2], numbers[1::2], strict=False))
    ends = [*(offset for _, offset in pairs[1:]), len(stream) - first]
    for (number, offset), end in zip(pairs, ends, strict=True):
        yield b"%d 0 obj\n%s\nendobj\n" % (number, stream[first + offset : first + end])
