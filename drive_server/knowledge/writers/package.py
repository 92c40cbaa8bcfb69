"""Office packages with the same bytes for the same text: without times, so that a preview and a repeat are the same."""

import io
import re
import zipfile
from typing import Final

EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The time of entries: the first that a zip can write."""
_TIMES: Final = re.compile(rb"<dcterms:(created|modified)\b[^>]*>[^<]*</dcterms:\1>")
_CORE: Final = "docProps/core.xml"
_NOT_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def without_times(package: bytes) -> bytes:
    """Return the package without the times at which it was made."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            data = old.read(entry)
            data = _TIMES.sub(b"", data) if entry.filename == _CORE else data
            new.writestr(zipfile.ZipInfo(entry.filename, EPOCH), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def as_xml_text(text: str) -> str:
    """Return the text with line feeds only, and without the characters that XML has no way to write."""
    return _NOT_XML.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
