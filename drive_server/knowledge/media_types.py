"""Media types: the one of a file, and which of them are text that can be edited."""

import codecs
import mimetypes
import re

from drive_server.kernel.errors import InvalidInputError
from drive_server.knowledge import formats

DEFAULT = "application/octet-stream"
PLAIN = "text/plain"
MAX_MEDIA_TYPE_CHARACTERS = 255
_FORM = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*", re.ASCII)

# Not left to the machine's own tables (/etc/mime.types), so that every installation agrees.
_PYTHONS_TYPES = mimetypes.MimeTypes()


def media_type_of(name: str, declared: str | None = None, *, content_is_text: bool = False) -> str:
    """Return the declared media type, in lower case and without parameters, or else the one that the name implies.

    A name that implies none gives `text/plain` for text and `application/octet-stream` otherwise.
    Raises `InvalidInputError` for a media type that is not of the form type/subtype.
    """
    if declared:
        kind = declared.partition(";")[0].strip().lower()
        if len(kind) > MAX_MEDIA_TYPE_CHARACTERS or not _FORM.fullmatch(kind):
            raise InvalidInputError("The media type is malformed.", hint="Use e.g. text/markdown.")
        return kind
    stem, _, suffix = name.lower().rpartition(".")
    implied = formats.table.type_of_suffix.get(suffix) or _PYTHONS_TYPES.guess_type(f"x.{suffix}", strict=False)[0]
    return implied if stem and implied else (PLAIN if content_is_text else DEFAULT)


def is_text(media_type: str) -> bool:
    """Return whether the bytes themselves are text that can be edited."""
    row = formats.table.by_type.get(media_type)
    return media_type.startswith("text/") or media_type.endswith(("+json", "+xml")) or (row is not None and row.is_text)


def is_plain_text(media_type: str) -> bool:
    """Return whether reading the text means decoding the bytes, with nothing to extract."""
    return is_text(media_type) and formats.table.by_type.get(media_type, formats.TEXT).is_text


def looks_like_text(head: bytes) -> bool:
    """Return whether the first bytes of a file of unknown type are UTF-8 text; a character may be cut at their end."""
    if not head or b"\0" in head:
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return not any(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head)
