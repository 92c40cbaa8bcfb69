"""Which reader a file needs, by its name, its media type and its first bytes."""

from enum import StrEnum
from pathlib import PurePath

HEAD_BYTES = 1024
_IMAGES = ("png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "heic", "ico", "avif")
_NAMES = {
    "markdown": ("md", "markdown", "mdown", "mkd", "mdx"),
    "html": ("html", "htm", "xhtml"),
    "csv": ("csv", "tsv", "tab"),
    "pdf": ("pdf",),
    "docx": ("docx", "docm", "dotx"),
    "code": (
        *(
            "bash",
            "bat",
            "c",
            "cc",
            "cfg",
            "clj",
            "cpp",
            "cs",
            "css",
            "dart",
            "ex",
            "go",
            "h",
            "hpp",
            "hs",
            "ini",
            "java",
        ),
        *(
            "js",
            "json",
            "jsonl",
            "jsx",
            "kt",
            "lua",
            "m",
            "mjs",
            "php",
            "pl",
            "ps1",
            "py",
            "r",
            "rb",
            "rs",
            "scala",
            "scss",
        ),
        *("sh", "sql", "swift", "toml", "ts", "tsx", "vue", "xml", "yaml", "yml", "zig"),
    ),
}
_MEDIA_TYPES = {
    "text/markdown": "markdown",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
}
_BY_SUFFIX = {suffix: name for name, suffixes in _NAMES.items() for suffix in suffixes}


class Format(StrEnum):
    """A kind of file by how its text is read. `TEXT` also stands for what turns out to be no text at all."""

    TEXT = "text"
    MARKDOWN = "markdown"
    CODE = "code"
    CSV = "csv"
    HTML = "html"
    PDF = "pdf"
    DOCX = "docx"

    @property
    def keeps_offsets(self) -> bool:
        """Whether the extracted text is the file itself, so that it can be read and edited by offset."""
        return self in (Format.TEXT, Format.MARKDOWN, Format.CODE, Format.CSV)


def format_of(name: str, media_type: str, head: bytes = b"") -> Format:
    """Return the format of a file. `head` is its first `HEAD_BYTES` bytes; contents win over names.

    The media type counts for a name that says nothing: browsers and servers guess it from the name anyway.
    """
    if b"%PDF-" in head[:HEAD_BYTES]:
        return Format.PDF
    claimed = _BY_SUFFIX.get(_suffix(name)) or _MEDIA_TYPES.get(media_type.split(";")[0].strip())
    return Format(claimed or "text")


def is_image(name: str) -> bool:
    """Return whether a file is an image by its name."""
    return _suffix(name) in _IMAGES


def _suffix(name: str) -> str:
    return PurePath(name.lower()).suffix[1:]
