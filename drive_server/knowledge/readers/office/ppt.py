"""The text of presentations of before 2007 (.ppt; MS-PPT): the text of each slide, in the order of the file."""

import struct
from collections.abc import Iterator
from pathlib import Path

import olefile

from drive_server.knowledge.readers.compound import read_stream
from drive_server.knowledge.text.elements import Extraction, Part, join
from drive_server.knowledge.text.omissions import Omissions
from drive_server.knowledge.text.place import SourceRange

_STREAM = "PowerPoint Document"
_HEADER = struct.Struct("<HHI")
_CONTAINER = 0xF
_SLIDE, _NOTES, _MASTER, _LIST, _NEXT_IN_LIST = 0x03EE, 0x03F1, 0x03F8, 0x0FF0, 0x03F3
_TEXT_KIND, _WIDE_TEXT, _TEXT = 0x0F9F, 0x0FA0, 0x0FA8
_SHAPE, _PICTURE_FRAME, _OBJECT_REFERENCE = 0xF00A, 75, 0x0BC1
_TITLES = (0, 6)
_NOT_OF_A_SLIDE = -1
_FIELD = "*"  # stands for a number or a date


def ppt_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a presentation. Raises `UnreadableError` and `OSError`."""
    with olefile.OleFileIO(str(path)) as file:
        return join(_parts(file, omissions))


def _parts(file: "olefile.OleFileIO[str]", omissions: Omissions) -> Iterator[Part]:
    """Yield the titles and texts of the slides."""
    slides: dict[int, dict[str, bool]] = {}
    for slide, text, is_title in _texts(read_stream(file, _STREAM), omissions):
        for line in text.replace("\x0b", "\n").split("\r"):
            if (words := line.strip()) and words != _FIELD:
                slides.setdefault(slide, {}).setdefault(words, is_title)
    for slide, texts in sorted(slides.items()):
        place = SourceRange("slide", slide, slide)
        for words, is_title in sorted(texts.items(), key=lambda item: not item[1]):
            yield Part("title" if is_title else "text", words, level=int(is_title), place=place)


def _texts(data: bytes, omissions: Omissions) -> Iterator[tuple[int, str, bool]]:
    """Yield each text with the number of its slide and whether it is a title; masters are skipped."""
    slide, kind = _NOT_OF_A_SLIDE, -1
    numbers: dict[int, int] = {}
    frames = objects = shown = 0
    for position, version, record, length in _records(data):
        if record == _NEXT_IN_LIST:
            slide = numbers.setdefault(_integer(data, position + 12), len(numbers) + 1)
        elif record == _SLIDE:
            slide = shown = shown + 1
        elif record == _NOTES:
            slide = numbers.get(_integer(data, position), _NOT_OF_A_SLIDE)
        elif record == _TEXT_KIND:
            kind = _integer(data, position)
        elif record in (_WIDE_TEXT, _TEXT) and slide != _NOT_OF_A_SLIDE:
            encoding = "utf-16-le" if record == _WIDE_TEXT else "cp1252"
            yield slide, data[position : position + length].decode(encoding, errors="replace"), kind in _TITLES
        frames += record == _SHAPE and version >> 4 == _PICTURE_FRAME
        objects += record == _OBJECT_REFERENCE
    omissions.add("embedded", objects)
    omissions.add("picture", max(0, frames - objects))


def _records(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield the place, version, type and length of each record that is in no master."""
    position, skip_until = 0, 0
    while position + _HEADER.size <= len(data):
        version, record, length = _HEADER.unpack_from(data, position)
        position += _HEADER.size
        if record == _MASTER or (record == _LIST and version >> 4):
            skip_until = position + length
        elif position > skip_until:
            yield position, version, record, length
        if position <= skip_until:
            position = skip_until
        elif version & 0xF != _CONTAINER:
            position += length


def _integer(data: bytes, position: int) -> int:
    return int.from_bytes(data[position : position + 4], "little")
