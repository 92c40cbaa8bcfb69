"""The text of Rich Text Format files (specification 1.9.1): paragraphs, headings by their style or level, tables."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from drive_server.knowledge.text.elements import MAX_CHARACTERS, ElementKind, Extraction, Part, join
from drive_server.knowledge.text.omissions import OmissionKind, Omissions
from drive_server.knowledge.text.unreadable import UnreadableError

MAX_BYTES = 200_000_000
MAX_DEPTH = 10_000
_BODY_LEVEL = 9
_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z'])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\"
)
_SKIPPED = frozenset(
    b"colortbl info themedata datastore"
    b" fldinst xe tc listtable listoverridetable revtbl rsidtbl generator template bkmkstart bkmkend filetbl"
    b" shpinst nonshppict latentstyles xmlnstbl mmathPr atnid atnauthor".split()
)
_READ_THOUGH_NEW = frozenset((b"shptxt", b"shprslt", b"nesttableprops", b"fldrslt", b"shppict"))
_NOTES = frozenset((b"footnote", b"annotation"))
_MARGINS = frozenset(b"header headerl headerr headerf footer footerl footerr footerf".split())
_LABELS = frozenset((b"listtext", b"pntext"))
_APART = _NOTES | _MARGINS | _LABELS
_NUMBER = re.compile(r"\d|\w[.)．）、:]|[(（]\w|\w{2}")
_COUNTED: Final[dict[bytes, OmissionKind]] = {b"pict": "picture", b"object": "embedded", b"moMath": "equation"}
_EQUATION_OBJECT = re.compile(rb"\\objclass (?:Equation|MathType)")
_CHARACTERS = {
    b"tab": "\t",
    b"line": "\n",
    b"emdash": "—",
    b"endash": "–",
    b"bullet": "•",
    b"lquote": "‘",
    b"rquote": "’",
    b"ldblquote": "“",
    b"rdblquote": "”",
    b"emspace": " ",
    b"enspace": " ",
    b"~": "\u00a0",
    b"_": "-",
    b"{": "{",
    b"}": "}",
    b"\\": "\\",
}
_CHARSETS = {
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    134: "gb18030",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
}
_CODE_PAGES = {936: "gb18030", 10000: "mac_roman", 65001: "utf-8"}
_HEADING = re.compile(r"(?:heading|标题|標題|überschrift|titre)\s*(\d)", re.IGNORECASE)


@dataclass(slots=True)
class _Group:
    """The state between a pair of braces.

    `aside` is the note or margin that it is in; `label` the place in the paragraph where an automatic number began.
    """

    skipped: bool = False
    deleted: bool = False
    table: bytes = b""
    font: int = -1
    fallback: int = 1
    aside: bytes = b""
    label: int = -1


@dataclass(slots=True)
class _Paragraph:
    """The paragraph that is being read."""

    words: list[str] = field(default_factory=list[str])
    level: int = 0
    in_list: bool = False
    in_table: bool = False


def rtf_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a document. Blocks."""
    if path.stat().st_size > MAX_BYTES:
        raise UnreadableError("size", MAX_BYTES)
    return join(_Reader(omissions).parts(path.read_bytes()))


class _Reader:
    def __init__(self, omissions: Omissions) -> None:
        self._omissions = omissions
        self._equations = 0
        self._around: list[tuple[_Paragraph, list[list[str]]]] = []
        self._notes: list[Part] = []
        self._margins: dict[str, Part] = {}
        self._group = _Group()
        self._outer: list[_Group] = []
        self._paragraph = _Paragraph()
        self._rows: list[list[str]] = [[]]
        self._done: list[Part] = []
        self._bytes = bytearray()
        self._skip = 0
        self._high = 0
        self._code_page = "cp1252"
        self._charsets: dict[int, str] = {}
        self._levels: dict[int, int] = {}
        self._style = 0
        self._characters = 0

    def parts(self, data: bytes) -> Iterator[Part]:
        """Yield the parts of a document."""
        position = 0
        self._equations = len(_EQUATION_OBJECT.findall(data))
        while (match := _TOKEN.match(data, position)) and self._characters <= MAX_CHARACTERS:
            position = match.end()
            word, number, code, symbol, brace, text = match.groups()
            if word == b"bin":
                position += max(0, int(number or 0))
            elif code:
                self._take_bytes(bytes((int(code, 16),)))
            elif text:
                self._take_bytes(text)
            elif brace:
                self._nest(opens=brace == b"{")
            elif word or symbol:
                self._control(word or symbol, None if number is None else int(number))
            yield from self._done
            self._done.clear()
        self._flush()
        self._paragraph.in_table = False
        self._end_paragraph()
        yield from (*self._done, *self._notes, *self._margins.values())

    def _nest(self, *, opens: bool) -> None:
        self._flush()
        self._skip = 0
        if not opens:
            if self._outer:
                self._leave(self._group, self._outer[-1])
                self._group = self._outer.pop()
            return
        if len(self._outer) >= MAX_DEPTH:
            raise UnreadableError("levels", MAX_DEPTH)
        self._outer.append(self._group)
        self._group = replace(self._group)

    def _leave(self, inner: _Group, outer: _Group) -> None:
        """End the automatic number, note, or margin that a group was."""
        if inner.label >= 0 and outer.label < 0:
            label = " ".join("".join(self._paragraph.words[inner.label :]).split())
            self._paragraph.words[inner.label :] = [f"{label} "] if _NUMBER.search(label) else []
        if inner.aside and not outer.aside:
            self._paragraph.in_table = False
            self._end_paragraph()
            self._paragraph, self._rows = self._around.pop()

    def _enter(self, word: bytes) -> None:
        """Begin a text apart from the paragraph that it is in, or before it."""
        self._group.skipped = False
        if word in _LABELS:
            self._group.label = len(self._paragraph.words)
        elif not self._group.aside:
            self._group.aside = word
            self._around.append((self._paragraph, self._rows))
            self._paragraph, self._rows = _Paragraph(), [[]]

    def _count(self, word: bytes) -> None:
        """Count a picture, object or equation, but not the copies of one for other programs."""
        if word == b"moMath" or not self._group.skipped:
            is_equation = word == b"object" and self._equations > 0
            self._equations -= is_equation
            self._omissions.add("equation" if is_equation else _COUNTED[word])
        self._group.skipped = True

    def _control(self, word: bytes, number: int | None) -> None:
        """Act on a control word or symbol; those that only format are passed over."""
        self._flush()
        self._skip = 0
        if word == b"*":
            self._group.skipped = True
        elif word in _READ_THOUGH_NEW:
            self._group.skipped = False
        elif word in _COUNTED:
            self._count(word)
        elif word in _APART:
            self._enter(word)
        elif word in _SKIPPED:
            self._group.skipped = True
        elif word in (b"deleted", b"plain"):  # deleted by a change that is not accepted yet
            self._group.deleted = word == b"deleted" and number != 0
        elif word in (b"fonttbl", b"stylesheet"):
            self._group.table = word
        elif number is not None and self._numbered(word, number):
            return
        elif not self._group.skipped and not self._group.table:
            self._in_text(word)

    def _numbered(self, word: bytes, number: int) -> bool:
        """Act on a control word with a number; return whether it is one that takes a number."""
        if word == b"u":
            self._unicode(number)
        elif word == b"uc":
            self._group.fallback = number
        elif word == b"ansicpg":
            self._code_page = _CODE_PAGES.get(number, f"cp{number}")
        elif word == b"f":
            self._group.font = number
        elif word == b"fcharset":
            self._charsets[self._group.font] = _CHARSETS.get(number, "")
        elif word == b"s":
            self._style = number
            self._paragraph.level = 0 if self._group.table else self._levels.get(number, 0)
        elif word == b"outlinelevel" and not self._group.table:
            self._paragraph.level = min(6, number + 1) if number < _BODY_LEVEL else 0
        elif word in (b"ls", b"ilvl"):
            self._paragraph.in_list = not self._group.table
        else:
            return False
        return True

    def _in_text(self, word: bytes) -> None:
        if word in (b"par", b"sect", b"page", b"\n", b"\r"):
            self._end_paragraph()
        elif word in (b"cell", b"nestcell"):
            self._rows[-1].append(" ".join("".join(self._paragraph.words).split()))
            self._paragraph.words.clear()
        elif word in (b"row", b"nestrow"):
            self._rows.append([])
        elif word == b"pard":
            self._paragraph = _Paragraph(self._paragraph.words)
        elif word == b"intbl":
            self._paragraph.in_table = True
        elif word in _CHARACTERS:
            self._paragraph.words.append(_CHARACTERS[word])

    def _unicode(self, number: int) -> None:
        """Add a UTF-16 unit, and skip the fallback characters after it, which are for programs without Unicode."""
        unit = number & 0xFFFF
        self._skip = self._group.fallback
        if self._group.skipped or self._group.deleted or self._group.table:
            return
        if 0xD800 <= unit < 0xDC00:
            self._high = unit
            return
        if self._high and 0xDC00 <= unit < 0xE000:
            unit = 0x10000 + ((self._high - 0xD800) << 10) + (unit - 0xDC00)
        self._high = 0
        self._paragraph.words.append("\ufffd" if 0xD800 <= unit < 0xE000 else chr(unit))

    def _take_bytes(self, data: bytes) -> None:
        skipped = min(self._skip, len(data))
        self._skip -= skipped
        if not self._group.skipped and not self._group.deleted:
            self._bytes += data[skipped:]

    def _flush(self) -> None:
        """Decode the bytes since the last control word at once: a Chinese character has two."""
        if not self._bytes:
            return
        charset = self._charsets.get(self._group.font) or self._code_page
        try:
            text = self._bytes.decode(charset, errors="replace")
        except LookupError:
            text = self._bytes.decode("cp1252", errors="replace")
        self._bytes.clear()
        if self._group.table == b"stylesheet" and (match := _HEADING.search(text)):
            self._levels[self._style] = min(6, int(match[1]) or 1)
        elif not self._group.table:
            self._paragraph.words.append(text)
            self._characters += len(text)

    def _end_paragraph(self) -> None:
        if self._paragraph.in_table:
            self._paragraph.words.append(" ")
            return
        self._end_table()
        text = "".join(self._paragraph.words).strip()
        self._paragraph.words.clear()
        kind: ElementKind = "title" if self._paragraph.level else "list_item" if self._paragraph.in_list else "text"
        self._add(Part(kind, text, level=self._paragraph.level))

    def _add(self, part: Part) -> None:
        """Add a part: notes follow their paragraph; the heads and feet of pages come last, each once."""
        if not part.text:
            return
        if self._group.aside in _MARGINS:
            self._margins.setdefault(part.text, part)
        elif self._group.aside:
            self._notes.append(part)
        else:
            self._done += (part, *self._notes)
            self._notes.clear()

    def _end_table(self) -> None:
        rows, self._rows = self._rows, [[]]
        table = "\n".join(" | ".join(row) for row in rows if any(row))
        self._add(Part("table", table))
