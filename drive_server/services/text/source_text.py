"""The text that a file's bytes are, and back: what is edited is written again as it was encoded."""

import codecs
from dataclasses import dataclass

from drive_server.knowledge.text.decode import decode

_MARKS = {
    "utf-8-sig": ((codecs.BOM_UTF8, "utf-8"),),
    "utf-16": ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")),
    "utf-32": ((codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be")),
}


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text, its encoding and the byte order mark before it. `lossy`: some bytes were no text and are replaced."""

    text: str
    encoding: str
    mark: bytes = b""
    lossy: bool = False

    def encode(self, text: str) -> bytes:
        """Return another text in the same encoding, or in UTF-8 if that has no such characters."""
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError:
            return text.encode()


def decode_source(data: bytes) -> SourceText | None:
    """Return the text, the same as the index has of it; None for bytes that are none. Blocks on large ones."""
    decoded = decode(data)
    if decoded is None:
        return None
    for mark, encoding in _MARKS.get(decoded.encoding, ()):
        if data.startswith(mark):
            return SourceText(decoded.text, encoding, mark, decoded.lossy)
    return SourceText(decoded.text, decoded.encoding, lossy=decoded.lossy)
