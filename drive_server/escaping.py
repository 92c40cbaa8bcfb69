"""Text that somebody wrote (names, addresses, messages, titles, answers of servers) as data in what leaves the drive.

One function a medium, each in one place; `tests/test_media.py` lists all of them, also those that live beside their
medium, feeds them hostile texts, and finds code that writes to a medium without them.
"""

import logging
import re
import unicodedata
from typing import Any, Final
from urllib.parse import quote

from typing_extensions import override

BIDI_CONTROLS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""With these `exe.txt` shows as `txt.exe`, and so does what stands behind it on its line."""
LOG_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
MOST_MAIL_CHARACTERS: Final = 120
"""Characters of one name in a mail."""

NONCHARACTERS: Final = "\ufdd0-\ufdef\ufffe\uffff" + "".join(
    chr(plane + last) for plane in range(0x10000, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF)
)
"""Code points that are no characters (Unicode, section 23.7), as a class of a regular expression."""
_INVISIBLE: Final = (
    "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f"
)
"""Controls, line ends, bidirectional controls, characters without a glyph, halves of surrogate pairs, tags."""
_NONCHARACTER: Final = re.compile(f"[{NONCHARACTERS}]")
_UNSAFE: Final = re.compile(f"[{_INVISIBLE}{NONCHARACTERS}]")
_NO_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_TOP_LEVEL: Final = (
    r"(?:(?!(?:7z|cs|go|gz|hs|js|kt|md|ml|pl|ps|py|rb|rs|sh|so|ts|vb|xz)\b)[a-z]{2}|app|biz|click|cloud|club|com|dev|edu"
    r"|example|gov|info|int|invalid|link|live|localhost|mil|mobi|name|net|online|org|page|pro|shop|site|store|tech|test"
    r"|top|web|work|xn--[\w-]+|xyz)\b(?!@)"
)
"""Ends of hosts that programs make links of; those of two letters that are endings of files are none."""
_BEGINS: Final = r"(?<![\w.@-])"
_ADDRESS: Final = re.compile(
    rf"[a-z][a-z0-9+.-]*:(?=//)|\bmailto:|{_BEGINS}www\.(?:[\w-]+\.)*(?=\w)|(?<=//)(?:[\w-]+\.)+(?=\w)"
    rf"|{_BEGINS}(?:[\w-]+\.)+(?={_TOP_LEVEL}|[^\W\d_]{{2,}}(?::\d+)?/)",
    re.IGNORECASE,
)
"""The beginning of what a mail program may make a link of: a scheme, or a host up to its last dot."""
_MARKDOWN: Final = re.compile(r"([\\`*_\[\]<>!|~&$])")
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})
_FORMULA_SIGNS: Final = ("=", "+", "-", "@")


def is_noncharacter(char: str) -> bool:
    """Return whether Unicode promises that the code point will never be a character."""
    return _NONCHARACTER.match(char) is not None


def number_of(char: str) -> str:
    """Return the number of a character that must not stand as itself, such as `\\x1b` and `\\u{202e}`."""
    return f"\\x{ord(char):02x}" if char <= "\xff" else f"\\u{{{ord(char):x}}}"


def plain_line(text: str) -> str:
    """Return the text as one line without characters that can't be seen."""
    return " ".join(_UNSAFE.sub(_blank, text).split())


def mail_name(text: str) -> str:
    """Return a name for a mail's subject or text: one line of bounded length, of which no program makes a link."""
    line = plain_line(text)
    if len(line) > MOST_MAIL_CHARACTERS:
        line = f"{line[: MOST_MAIL_CHARACTERS - 1].rstrip()}…"
    return isolated(_ADDRESS.sub(_unlinked, line))


def isolated(text: str) -> str:
    """Return a text to stand within a sentence: one that runs from right to left turns nothing around it (UAX #9)."""
    is_turned = any(unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for char in text)
    return f"\u2068{text}\u2069" if is_turned else text


def attachment(name: str) -> str:
    """Return the Content-Disposition of a file with that name.

    The name has both forms of RFC 6266: plain for old clients, UTF-8 (RFC 8187) for others.
    """
    safe = _UNSAFE.sub("_", name)
    plain = "".join(char if char.isascii() and char not in '"\\%' else "_" for char in safe)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(safe, safe='')}"


def log_text(text: str) -> str:
    """Return a text for one record of a log: nothing in it ends a line, moves a cursor or turns the direction."""
    return _UNSAFE.sub(_number, text)


def csv_cell(text: str) -> str:
    """Return a text for a cell of comma-separated values, which no spreadsheet takes for a formula."""
    cell = _UNSAFE.sub(_blank, text)
    return f"'{cell}" if cell.lstrip().startswith(_FORMULA_SIGNS) else cell


def markdown_text(text: str) -> str:
    """Return a name within a Markdown text: its letters, on one line, whatever signs of Markdown or HTML they are."""
    return _MARKDOWN.sub(r"\\\1", plain_line(text))


def xml_text(text: str) -> str:
    """Return a text for an element or attribute: without what XML 1.0 has no place for (section 2.2)."""
    return _NO_XML.sub(_number, text)


class LogFormatter(logging.Formatter):
    """Formats records so that none can be forged: a message is one line, and each line of a trace is indented."""

    @override
    def formatMessage(self, record: logging.LogRecord) -> str:
        """Format the message, with everything in it as data."""
        record.message = log_text(record.message)
        return super().formatMessage(record)

    @override
    def formatException(self, ei: Any) -> str:
        """Format the trace, in which messages of errors may quote anything."""
        lines = super().formatException(ei).split("\n")
        return "\n".join(f"  {log_text(line)}" for line in lines)


def log_to(handler: logging.Handler) -> None:
    """Send warnings and errors of this process to the handler, unless it has one already."""
    handler.setFormatter(LogFormatter(LOG_FORMAT))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


def _blank(match: re.Match[str]) -> str:
    return " " if match[0] in "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029" else ""


def _number(match: re.Match[str]) -> str:
    return number_of(match[0])


def _unlinked(match: re.Match[str]) -> str:
    return match[0].replace(".", "[.]").replace(":", "[:]")
