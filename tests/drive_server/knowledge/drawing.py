"""PDFs drawn for tests: lines at their places, page by page."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from reportlab.pdfgen import canvas

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Text = tuple[float, float, str]
"""Left, baseline, text; in points from the lower left corner of a page of 612 by 792."""


def drawn(*pages: Sequence[Text] | Callable[[canvas.Canvas], None], size: float = 12) -> bytes:
    """Return a PDF with these lines, or with whatever a function draws, on each page."""
    file = io.BytesIO()
    drawing = canvas.Canvas(file, pagesize=(612, 792), invariant=1)
    for page in pages:
        drawing.setFont("Helvetica", size)
        if callable(page):
            page(drawing)
        else:
            for left, baseline, text in page:
                drawing.drawString(left, baseline, text)
        drawing.showPage()
    drawing.save()
    return file.getvalue()


def column(left: float, top: float, *texts: str, pitch: float = 14) -> list[Text]:
    """Return lines below each other."""
    return [(left, top - pitch * number, text) for number, text in enumerate(texts)]
