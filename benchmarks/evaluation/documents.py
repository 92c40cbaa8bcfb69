"""Documents of the drives, made of their sources in Markdown; each heading begins a slide."""

import io
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from pptx import Presentation
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.platypus import Paragraph, SimpleDocTemplate

from drive_server.knowledge.media_types import media_type_of
from drive_server.knowledge.writers.render import can_render, render_document

FONT = "STSong-Light"
"""A font with Chinese that every PDF reader has (Adobe-GB1)."""


@cache
def content_of(name: str, text: str) -> bytes:
    """Return the bytes of a file: a document made of the text, or the text itself."""
    suffix = name.rpartition(".")[2]
    if suffix in _MAKERS:
        return _MAKERS[suffix](text)
    media_type = media_type_of(name)
    return render_document(media_type, text) if can_render(media_type) else text.encode()


def _pdf(text: str) -> bytes:
    pdfmetrics.registerFont(UnicodeCIDFont(FONT))
    body = ParagraphStyle("body", fontName=FONT, fontSize=11, leading=16, spaceAfter=8)
    heading = ParagraphStyle("heading", parent=body, fontSize=16, leading=22)
    story: list[Any] = [
        Paragraph(line.lstrip("# "), heading if line.startswith("#") else body) for line in text.splitlines() if line
    ]
    file = io.BytesIO()
    SimpleDocTemplate(file, invariant=1).build(story)
    return file.getvalue()


def _pptx(text: str) -> bytes:
    deck: Any = Presentation()
    for title, lines in _slides(text):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(lines)
    file = io.BytesIO()
    deck.save(file)
    return file.getvalue()


def _slides(text: str) -> Iterator[tuple[str, list[str]]]:
    for part in text.removeprefix("# ").split("\n# "):
        title, *lines = part.splitlines()
        yield title, [line.removeprefix("- ") for line in lines if line]


_MAKERS: Mapping[str, Callable[[str], bytes]] = {"pdf": _pdf, "pptx": _pptx}
