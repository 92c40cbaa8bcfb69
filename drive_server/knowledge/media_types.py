"""Media types: which one a file has, and which of them are text that can be edited."""

import codecs
import mimetypes
import re

from drive_server.errors import InvalidInputError

DEFAULT = "application/octet-stream"
PLAIN = "text/plain"
MAX_MEDIA_TYPE_CHARACTERS = 255
_FORM = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*", re.ASCII)

# Not left to the machine's own tables (/etc/mime.types), so that every installation agrees.
_TYPES = mimetypes.MimeTypes()
_BY_SUFFIX = {
    "md": "text/markdown",
    "markdown": "text/markdown",
    "csv": "text/csv",
    "log": PLAIN,
    "ini": PLAIN,
    "cfg": PLAIN,
    "conf": PLAIN,
    "env": PLAIN,
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "toml": "application/toml",
    "jsonl": "application/jsonl",
    "rst": "text/x-rst",
    "tex": "text/x-tex",
    "ts": "text/x-typescript",
    "tsx": "text/x-typescript",
    "rs": "text/x-rust",
    "go": "text/x-go",
    "gz": "application/gzip",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "xls": "application/vnd.ms-excel",
    "msg": "application/vnd.ms-outlook",
    "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "epub": "application/epub+zip",
    "eml": "message/rfc822",
    "rtf": "application/rtf",
}
_TEXT_TYPES = frozenset(
    {
        "application/json",
        "application/jsonl",
        "application/x-ndjson",
        "application/xml",
        "application/yaml",
        "application/toml",
        "application/javascript",
        "application/x-sh",
        "application/x-python",
        "application/sql",
        "image/svg+xml",
    }
)
# Their source is text, but what a person reads of them is what is extracted.
_EXTRACTED = frozenset({"text/html", "application/xhtml+xml", "text/rtf"})


def media_type_of(name: str, given: str | None = None, *, content_is_text: bool = False) -> str:
    """Return the media type: the one given, in lower case and without parameters, else the one the name tells.

    A name that tells nothing gives `text/plain` for text and `application/octet-stream` otherwise.
    Raises `InvalidInputError` for one that is not of the form type/subtype.
    """
    if given:
        kind = given.partition(";")[0].strip().lower()
        if len(kind) > MAX_MEDIA_TYPE_CHARACTERS or not _FORM.fullmatch(kind):
            raise InvalidInputError("The media type is malformed.", hint="Use e.g. text/markdown.")
        return kind
    stem, _, suffix = name.lower().rpartition(".")
    guessed = _BY_SUFFIX.get(suffix) or _TYPES.guess_type(f"x.{suffix}", strict=False)[0]
    return guessed if stem and guessed else (PLAIN if content_is_text else DEFAULT)


def is_text(media_type: str) -> bool:
    """Whether the bytes themselves are text that can be edited."""
    return media_type.startswith("text/") or media_type in _TEXT_TYPES or media_type.endswith(("+json", "+xml"))


def is_plain_text(media_type: str) -> bool:
    """Whether reading the text means decoding the bytes, with nothing to extract."""
    return is_text(media_type) and media_type not in _EXTRACTED


def looks_like_text(head: bytes) -> bool:
    """Whether the first bytes of a content of unknown type are UTF-8 text; a character may be cut at their end."""
    if not head or b"\0" in head:
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return not any(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head)
