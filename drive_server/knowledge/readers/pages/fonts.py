"""A stand-in for fonts that a PDF names but does not bring, and that this machine does not have either.

pdfium leaves out a letter that was drawn by itself if its font has no shape for it, though it knows the letter by the
PDF's encoding (ISO 32000-2, section 9.7.5.2): whole Chinese pages were blank on a machine without a Chinese font. The
stand-in has one shape for all letters, as wide as a Chinese one and without ink. Fonts of the machine go first.
"""

import ctypes
import struct
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from pypdfium2 import raw

if TYPE_CHECKING:
    from collections.abc import Callable

_CHARSETS: Final = (
    raw.FXFONT_SHIFTJIS_CHARSET,
    raw.FXFONT_HANGEUL_CHARSET,
    raw.FXFONT_GB2312_CHARSET,
    raw.FXFONT_CHINESEBIG5_CHARSET,
)
_HANDLE: Final = 1
"""No font of the system has this address."""
_WHOLE_FILE: Final = 0
_EM: Final = 1000
_ASCENT: Final = 880
_DESCENT: Final = -120
_HIGH: Final = 500


class StandIn:
    """The functions that pdfium calls for fonts (fpdf_sysfontinfo.h); the stand-in where the system has no font.

    `missed`: counts the fonts that PDFs named and didn't bring. Not for two threads at once.
    """

    def __init__(self) -> None:
        """Install the stand-in in this process, for good."""
        self.missed = 0
        self._font = stand_in_font()
        self._system: Any = raw.FPDF_GetDefaultSystemFontInfo()
        if not self._system:  # pdfium knows no folder of fonts on such a system
            return
        self._default: Any = self._system.contents
        # pdfium calls them as long as the process lives.
        self._info: Any = raw.FPDF_SYSFONTINFO(version=self._default.version)
        functions: dict[str, Callable[..., Any]] = {
            "EnumFonts": self._enumerate,
            "MapFont": self._find,
            "GetFont": self._get,
            "GetFontData": self._read,
            "GetFaceName": self._name,
            "GetFontCharset": self._charset,
            "DeleteFont": self._delete,
        }
        for name, kind, *_ in raw.FPDF_SYSFONTINFO._fields_:
            if function := functions.get(str(name)):
                setattr(self._info, str(name), cast("Any", kind)(function))
        raw.FPDF_SetSystemFontInfo(self._info)

    def _find(self, _: Any, weight: int, italic: int, charset: int, pitch: int, face: Any, exact: Any) -> int:
        self.missed += 1
        found = self._default.MapFont(self._system, weight, italic, charset, pitch, face, exact)
        return found or (_HANDLE if charset in _CHARSETS else 0)

    def _read(self, _: Any, handle: int, table: int, buffer: Any, size: int) -> int:
        if handle != _HANDLE:
            return self._default.GetFontData(self._system, handle, table, buffer, size)
        if table != _WHOLE_FILE:
            return 0
        if buffer and size >= len(self._font):
            ctypes.memmove(buffer, self._font, len(self._font))
        return len(self._font)

    def _enumerate(self, _: Any, mapper: Any) -> None:
        self._default.EnumFonts(self._system, mapper)

    def _get(self, _: Any, face: Any) -> int:
        return self._default.GetFont(self._system, face) or 0

    def _name(self, _: Any, handle: int, buffer: Any, size: int) -> int:
        return 0 if handle == _HANDLE else self._default.GetFaceName(self._system, handle, buffer, size)

    def _charset(self, _: Any, handle: int) -> int:
        return raw.FXFONT_DEFAULT_CHARSET if handle == _HANDLE else self._default.GetFontCharset(self._system, handle)

    def _delete(self, _: Any, handle: int) -> None:
        if handle != _HANDLE:
            self._default.DeleteFont(self._system, handle)


@cache
def stand_in() -> StandIn:
    """Return the stand-in of this process."""
    return StandIn()


def stand_in_font() -> bytes:
    """Return a TrueType font (OpenType specification, version 1.9) with one glyph for all letters but the controls."""
    tables = _tables()
    start = 12 + 16 * len(tables)
    head, body = struct.pack(">LHHHH", 0x10000, len(tables), 64, 2, 48), b""
    for tag, table in sorted(tables.items()):
        head += tag + struct.pack(">LLL", 0, start + len(body), len(table))
        body += table + b"\0" * (-len(table) % 4)
    return head + body


def _tables() -> dict[bytes, bytes]:
    # A line there and back has a box, and no area that could be filled. It is no higher than small letters, as the
    # size of type is taken from the font's entry in the PDF, or from a letter that reaches beyond that.
    box = (0, 0, _EM, _HIGH)
    glyph = struct.pack(">hhhhhHHBBB", 1, *box, 2, 0, 1, 1, 1)
    glyph += struct.pack(">hhhhhh", 0, _EM, -_EM, 0, _HIGH, -_HIGH) + b"\0"
    everything = struct.pack(">LLL", ord(" "), 0x10FFFF, 1)
    return {
        b"cmap": struct.pack(">HHHHL", 0, 1, 3, 10, 12) + struct.pack(">HHLLL", 13, 0, 28, 0, 1) + everything,
        b"glyf": glyph,
        b"head": struct.pack(">LLLLHHqqhhhhHHhhh", 0x10000, 0x10000, 0, 0x5F0F3CF5, 0, _EM, 0, 0, *box, 0, 8, 2, 1, 0),
        b"hhea": struct.pack(">LhhhHhhhhhhhhhhhH", 0x10000, _ASCENT, _DESCENT, 0, _EM, 0, 0, _EM, 1, *[0] * 7, 2),
        b"hmtx": struct.pack(">HhHh", _EM, 0, _EM, 0),
        b"loca": struct.pack(">LLL", 0, 0, len(glyph)),
        b"maxp": struct.pack(">LHHHHHHHHHHHHHH", 0x10000, 2, 3, 1, 0, 0, 1, *[0] * 8),
    }
