"""Mails of Outlook, read by unstructured. Import this where a second of CPU and 150 MB do no harm."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from drive_server.knowledge.readers import tokenize
from drive_server.knowledge.text.elements import KIND_OF_UNSTRUCTURED, Part

tokenize.install()

from lxml import html as lxml_html  # noqa: E402 - after tokenize.install(), as what follows
from unstructured.documents.elements import Element as Found  # noqa: E402
from unstructured.partition.msg import partition_msg  # noqa: E402

_NO_DETECTION = [""]  # unstructured guesses the language of every document unless it is given one


def outlook_body(path: Path) -> Iterator[Part]:
    """Yield the parts of a mail's body. Blocks. Raises what unstructured raises for a file that it can't read.

    A title without a depth is only unstructured's guess by the look of its words.
    """
    for element in partition_msg(str(path), process_attachments=False, languages=_NO_DETECTION):
        kind = KIND_OF_UNSTRUCTURED.get(type(element).__name__, "text")
        depth = element.metadata.category_depth
        if kind == "title" and depth is None:
            kind = "text"
        text = _table_text(element) if kind == "table" else element.text
        yield Part(kind, text.strip(), level=min(6, (depth or 0) + 1) if kind == "title" else 0)


def _table_text(element: Found) -> str:
    """Return a table row by row, its cells between bars; unstructured's own text runs them together."""
    markup = element.metadata.text_as_html
    if not markup:
        return element.text
    rows: list[Any] = lxml_html.fragment_fromstring(markup).xpath(".//tr")
    lines = (" | ".join(" ".join(cell.text_content().split()) for cell in row.xpath("./td|./th")) for row in rows)
    return "\n".join(line for line in lines if line.strip(" |"))
