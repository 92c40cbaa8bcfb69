"""Which reader a file needs, by its name, its media type and its first bytes."""

import re
from collections.abc import Collection
from enum import StrEnum
from pathlib import PurePath

HEAD_BYTES = 1024
_NAMES = {
    "markdown": "md markdown mdown mkd mdx",
    "html": "html htm xhtml",
    "csv": "csv tsv tab",
    "pdf": "pdf",
    "docx": "docx docm dotx dotm",
    "pptx": "pptx pptm ppsx ppsm potx",
    "sheets": "xlsx xlsm xlsb xltx xltm ods",
    "compound": "xls doc ppt msg",
    "opendocument": "odt ott odp otp",
    "epub": "epub",
    "mail": "eml mht mhtml",
    "rtf": "rtf",
    "archive": "zip jar apk",
    "image": "png jpg jpeg gif webp bmp tif tiff heic ico avif",
    "json": "json jsonl ndjson json5 jsonc geojson ipynb webmanifest",
    "yaml": "yaml yml",
    "ini": "toml ini cfg conf",
    "xml": "xml xsd xsl xslt rss atom plist wsdl kml gpx",
    "code": "bash bat c cc cjs clj cpp cs css cts cxx dart ex exs fs go gradle groovy h hpp hs java jl js jsx kt kts"
    " less lisp lua m mjs mm mts php pl pm proto ps1 py pyi r rb rs sass scala scss sh sol sql swift ts tsx vb vue"
    " zig zsh",
}
_MEDIA_TYPES = {
    "text/markdown": "markdown",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "sheets",
    "application/vnd.oasis.opendocument.spreadsheet": "sheets",
    "application/vnd.oasis.opendocument.text": "opendocument",
    "application/vnd.oasis.opendocument.presentation": "opendocument",
    "application/epub+zip": "epub",
    "application/vnd.ms-excel": "compound",
    "application/vnd.ms-outlook": "compound",
    "message/rfc822": "mail",
    "application/json": "json",
    "application/x-ndjson": "json",
    "application/yaml": "yaml",
    "application/toml": "ini",
    "application/xml": "xml",
    "text/xml": "xml",
    "application/rtf": "rtf",
    "text/rtf": "rtf",
}
_BY_SUFFIX = {suffix: name for name, suffixes in _NAMES.items() for suffix in suffixes.split()}
_ZIP, _COMPOUND_FILE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LOOKS_LIKE_HTML = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|table|meta)\b", re.IGNORECASE)
_IMAGE_HEADS = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*")
# What tells an archive's kind: an entry that it must have, or the beginning of its entry `mimetype`.
_ENTRIES = {
    "word/document.xml": "docx",
    "ppt/presentation.xml": "pptx",
    "xl/workbook.xml": "sheets",
    "xl/workbook.bin": "sheets",
}
_MIMETYPES = {
    b"application/epub+zip": "epub",
    b"application/vnd.oasis.opendocument.spreadsheet": "sheets",
    b"application/vnd.oasis.opendocument.text": "opendocument",
    b"application/vnd.oasis.opendocument.presentation": "opendocument",
}


class Format(StrEnum):
    """A kind of file by how its text is read. `TEXT` also stands for what turns out to be no text at all."""

    TEXT = "text"
    MARKDOWN = "markdown"
    CODE = "code"
    JSON = "json"
    YAML = "yaml"
    INI = "ini"
    XML = "xml"
    CSV = "csv"
    HTML = "html"
    PDF = "pdf"
    DOCX = "docx"
    PPTX = "pptx"
    SHEETS = "sheets"
    OPENDOCUMENT = "opendocument"
    EPUB = "epub"
    MAIL = "mail"
    RTF = "rtf"
    COMPOUND = "compound"
    ARCHIVE = "archive"
    IMAGE = "image"

    @property
    def keeps_offsets(self) -> bool:
        """Whether the extracted text is the file itself, so that it can be read and edited by offset."""
        return self in _EXACT

    @property
    def is_zipped(self) -> bool:
        """Whether files of this format are zip archives."""
        return self in _ZIPPED


_EXACT = frozenset(map(Format, ("text", "markdown", "code", "csv", "json", "yaml", "ini", "xml")))
_ZIPPED = (Format.DOCX, Format.PPTX, Format.SHEETS, Format.OPENDOCUMENT, Format.EPUB, Format.ARCHIVE)


def format_of(name: str, media_type: str, head: bytes = b"") -> Format:
    """Return the format of a file. `head` is its first `HEAD_BYTES` bytes; contents win over names.

    The media type counts for a name that says nothing: browsers and servers guess it from the name anyway.
    Which kind of zip archive a file is takes more than its head: `archive_format` tells.
    """
    claimed = Format(_BY_SUFFIX.get(_suffix(name)) or _MEDIA_TYPES.get(media_type.split(";")[0].strip()) or "text")
    if not head:
        return claimed
    shown = _shown_by(head)
    if shown == Format.ARCHIVE and claimed.is_zipped:
        return claimed
    if shown:
        return shown
    if claimed in (Format.PDF, Format.COMPOUND, Format.RTF) or claimed.is_zipped:
        return Format.HTML if _LOOKS_LIKE_HTML.match(head) else Format.TEXT
    return claimed


def archive_format(names: Collection[str], mimetype: bytes) -> Format:
    """Return the format of a zip archive by the names of its entries, and the content of the one named `mimetype`."""
    for entry, found in _ENTRIES.items():
        if entry in names:
            return Format(found)
    return Format(next((found for kind, found in _MIMETYPES.items() if mimetype.startswith(kind)), "archive"))


def _shown_by(head: bytes) -> Format | None:
    if b"%PDF-" in head[:HEAD_BYTES]:
        return Format.PDF
    if head.startswith(b"{\\rtf"):
        return Format.RTF
    if head.startswith(_ZIP):
        return Format.ARCHIVE
    if head.startswith(_COMPOUND_FILE):
        return Format.COMPOUND
    is_image = head.startswith(_IMAGE_HEADS) or (head.startswith(b"RIFF") and head[8:12] == b"WEBP")
    return Format.IMAGE if is_image else None


def _suffix(name: str) -> str:
    return PurePath(name.lower()).suffix[1:]
