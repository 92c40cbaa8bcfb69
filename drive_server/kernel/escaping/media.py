"""Names in mails, headers of HTTP, Markdown and XML."""

import re
from typing import Final
from urllib.parse import quote

from drive_server.kernel.escaping.characters import NONCHARACTERS, isolated, number_of, plain_line

MAX_MAIL_CHARACTERS: Final = 120
"""Characters of one name in a mail."""

_NO_FILE_NAME: Final = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff{NONCHARACTERS}]")
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
"""The beginning of a text that a mail program may make a link of: a scheme, or a host up to its last dot."""
_MARKDOWN: Final = re.compile(r"([\\`*_\[\]<>!|~&$])")


def mail_name(text: str) -> str:
    """Return a name for a mail's subject or text: one line of bounded length, of which no program makes a link."""
    line = plain_line(text)
    if len(line) > MAX_MAIL_CHARACTERS:
        line = f"{line[: MAX_MAIL_CHARACTERS - 1].rstrip()}…"
    return isolated(_ADDRESS.sub(_unlinked, line))


def attachment(name: str) -> str:
    """Return the Content-Disposition of a file with that name.

    The name has both forms of RFC 6266: plain for old clients, UTF-8 (RFC 8187) for others.
    """
    safe = _NO_FILE_NAME.sub("_", name)
    plain = "".join(char if char.isascii() and char not in '"\\%' else "_" for char in safe)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(safe, safe='')}"


def markdown_text(text: str) -> str:
    """Return a name within a Markdown text: its letters, on one line, also if they are signs of Markdown or HTML."""
    return _MARKDOWN.sub(r"\\\1", plain_line(text))


def xml_text(text: str) -> str:
    """Return a text for an element or attribute: without characters that XML 1.0 has no place for (section 2.2)."""
    return _NO_XML.sub(_number, text)


def _number(match: re.Match[str]) -> str:
    return number_of(match[0])


def _unlinked(match: re.Match[str]) -> str:
    return match[0].replace(".", "[.]").replace(":", "[:]")
