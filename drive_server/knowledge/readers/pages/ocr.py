"""The lines of text in a picture, by PP-OCR's models for Chinese and English, which lie in the package rapidocr.

One engine a process: it takes a second to load and up to 900 MB at its peak, so it runs in a reader's process only.
"""

from functools import cache
from typing import Any, Final

import numpy
from PIL import Image

from drive_server.knowledge.readers.pages.paragraphs import Line

_MIN_SCORE: Final = 0.5
_THREADS: Final = 2
_SETTINGS: Final = {
    "Global.log_level": "critical",
    "Global.text_score": _MIN_SCORE,
    "EngineConfig.onnxruntime.intra_op_num_threads": _THREADS,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
}


def recognize_lines(picture: Image.Image) -> tuple[Line, ...]:
    """Return the lines of text in a picture, in pixels with y growing upwards. Blocks, for seconds a page."""
    pixels = numpy.asarray(picture.convert("RGB"))[:, :, ::-1]
    found = _engine()(pixels)
    if found.boxes is None or not found.txts:
        return ()
    return tuple(_line(text, box, picture.height) for text, box in zip(found.txts, found.boxes, strict=True) if text)


def _line(text: str, box: Any, page_height: int) -> Line:
    """Return a line by the corners of its box, from the upper left one clockwise."""
    corners = numpy.asarray(box, dtype=float)
    height = float(numpy.linalg.norm(corners[3] - corners[0]))
    left, right = float(corners[:, 0].min()), float(corners[:, 0].max())
    return Line(text.strip(), left, right, page_height - float(corners[2:, 1].mean()), height)


@cache
def _engine() -> Any:
    from rapidocr import RapidOCR  # only in a reader's process: it loads OpenCV and the models

    return RapidOCR(params=dict(_SETTINGS))
