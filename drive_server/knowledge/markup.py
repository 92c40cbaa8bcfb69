"""HTML and Word documents, read by unstructured. Import this where a second of CPU and 150 MB do no harm."""

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from drive_server.knowledge import tokenize
from drive_server.knowledge.decode import decode_file
from drive_server.knowledge.elements import ElementKind, Extraction, Part, join

tokenize.install()

from lxml import html as lxml_html  # noqa: E402 - after tokenize.install(), as what follows
from unstructured.documents.elements import Element as Found  # noqa: E402
from unstructured.partition.docx import partition_docx  # noqa: E402
from unstructured.partition.html import partition_html  # noqa: E402

MAX_HTML_CHARACTERS = 10_000_000
MAX_UNPACKED_BYTES = 300_000_000
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_NO_DETECTION = [""]  # unstructured guesses the language of every document unless it is given one
_KINDS: dict[str, ElementKind] = {"Title": "title", "ListItem": "list_item", "Table": "table", "CodeSnippet": "code"}


def html_extraction(path: Path) -> Extraction:
    """Return the text of a web page: what a reader sees of it. Blocks."""
    decoded = decode_file(path)
    if decoded is None:
        return Extraction("unsupported", "The file is not text in an encoding that is known here.")
    text = decoded.text[:MAX_HTML_CHARACTERS]
    reason = "" if text == decoded.text else f"Only the first {MAX_HTML_CHARACTERS:,} characters of HTML were read."
    found = partition_html(text=text, languages=_NO_DETECTION) if text.strip() else []
    return join(_parts(found, titles_need_depth=True), reason)


def docx_extraction(path: Path) -> Extraction:
    """Return the text of a Word document. Blocks. Raises what python-docx raises for a file that it can't read."""
    with path.open("rb") as file:
        head = file.read(1 << 16)
    if head.startswith(_COMPOUND_FILE):
        return _compound_extraction(path)
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist() if entry.filename.endswith(".xml"))
    if unpacked > MAX_UNPACKED_BYTES:
        return Extraction("failed", f"The document unpacks to more than {MAX_UNPACKED_BYTES:,} bytes.")
    return join(_parts(partition_docx(str(path), languages=_NO_DETECTION)))


def _compound_extraction(path: Path) -> Extraction:
    """Tell a Word document under a password, which is wrapped in a compound file, from one of before 2007."""
    if _ENCRYPTED_PACKAGE in path.read_bytes():
        return Extraction("needs_password", "The file is protected by a password.")
    return Extraction("unsupported", "This is a Word document of the old kind (.doc); save it as .docx.")


def _parts(found: Iterable[Found], *, titles_need_depth: bool = False) -> Iterator[Part]:
    """Translate unstructured's elements. In HTML a title without a depth is only a guess by the look of its words."""
    for element in found:
        kind = _KINDS.get(type(element).__name__, "text")
        depth = element.metadata.category_depth
        if kind == "title" and titles_need_depth and depth is None:
            kind = "text"
        text = _table_text(element) if kind == "table" else element.text
        level = min(6, (depth or 0) + 1) if kind == "title" else 0
        yield Part(kind, text.strip(), element.metadata.page_number, level)


def _table_text(element: Found) -> str:
    """Return a table row by row, its cells between bars; unstructured's own text runs them together."""
    markup = element.metadata.text_as_html
    if not markup:
        return element.text
    rows: list[Any] = lxml_html.fragment_fromstring(markup).xpath(".//tr")
    lines = (" | ".join(" ".join(cell.text_content().split()) for cell in row.xpath("./td|./th")) for row in rows)
    return "\n".join(line for line in lines if line.strip(" |"))
