"""The lines of text in a picture, by PP-OCR's models for Chinese and English, which lie in the package rapidocr.

One engine a process: it takes a second to load and up to 900 MB at its peak, so it runs in a reader's process only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy
from PIL import Image

from drive_server.knowledge.readers.pages.paragraphs import Line

_MIN_SCORE: Final = 0.5
_SURE: Final = 0.8
_ON_END: Final = 1.5
_THREADS: Final = 2
_SETTINGS: Final = {
    "Global.log_level": "critical",
    "Global.use_cls": False,
    "Global.text_score": _MIN_SCORE,
    "EngineConfig.onnxruntime.intra_op_num_threads": _THREADS,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
}


def recognize_lines(picture: Image.Image) -> tuple[Line, ...]:
    """Return the lines of text in a picture, in pixels with y growing upwards. Blocks, for seconds a page.

    A page that lies on its head or side is turned: the models themselves read some lines of upright pages upside down
    if they are asked to turn single lines.
    """
    reading = _read(picture)
    # Lines on end are read all the same, but their order is that of a page lying on its side.
    readings = [] if reading.is_on_end else [reading]
    readings += [_read(picture.transpose(turn)) for turn in _turns(reading)]
    return max(readings, key=lambda one: one.likelihood).lines


@dataclass(frozen=True, slots=True)
class _Reading:
    """The lines of a picture, how sure the models are of each (0 to 1), and how many stand on end."""

    lines: tuple[Line, ...] = ()
    scores: tuple[float, ...] = ()
    on_end: int = 0

    @property
    def is_on_end(self) -> bool:
        return self.on_end * 2 > len(self.lines)

    @property
    def likelihood(self) -> float:
        return sum(len(line.text) * score for line, score in zip(self.lines, self.scores, strict=True))

    @property
    def is_sure(self) -> bool:
        return not self.scores or sum(self.scores) / len(self.scores) >= _SURE


def _turns(reading: _Reading) -> Sequence[Image.Transpose]:
    if reading.is_on_end:
        return (Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_270)
    return () if reading.is_sure else (Image.Transpose.ROTATE_180,)


def _read(picture: Image.Image) -> _Reading:
    pixels = numpy.asarray(picture.convert("RGB"))[:, :, ::-1]
    found = _engine()(pixels)
    if found.boxes is None or not found.txts:
        return _Reading()
    rows = [row for row in zip(found.txts, found.boxes, found.scores, strict=True) if row[0].strip()]
    lines = tuple(_line(text, box, picture.height) for text, box, _ in rows)
    return _Reading(lines, tuple(float(score) for *_, score in rows), sum(_is_on_end(box) for _, box, _ in rows))


def _is_on_end(box: Any) -> bool:
    corners = numpy.asarray(box, dtype=float)
    width, height = numpy.ptp(corners[:, 0]), numpy.ptp(corners[:, 1])
    return bool(height > _ON_END * width)


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
