"""The formats of files: one row each, which sniffing, media types, readers, the search's filter and the docs read."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final, Literal, get_args

from drive_server.knowledge.text.omissions import OmissionKind

Group = Literal[
    "document", "spreadsheet", "presentation", "pdf", "image", "audio", "video", "archive", "mail", "code", "text"
]
GROUPS: Final[tuple[Group, ...]] = get_args(Group)

HEAD_BYTES = 1024
ZIP = rb"PK\x03\x04"
COMPOUND = rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The signature of compound files (MS-CFB)."""

_ANYWHERE = rb".{0,1019}?"
_HTML_HEAD = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|table|meta)\b", re.IGNORECASE)
_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPENDOCUMENT = "application/vnd.oasis.opendocument"
_CODE = (
    "bash bat c cc cjs clj cpp cs cts cxx dart ex exs fs gradle groovy h hpp hs java jl js jsx kt kts less lisp lua m"
    " mjs mm mts php pl pm proto ps1 pyi r rb sass scala scss sol sql swift vb vue zig zsh"
)


@dataclass(frozen=True, slots=True, eq=False)
class Format:
    """A format of files.

    `name`: part of the key of a content in the index (`content_key`); another name has the files read again.
    `types`: the media types, each with the suffixes of the names that get it. Python's own table decides for suffixes
        at "" and at patterns such as `image/*`. A type that several rows name is the first one's.
    `group`: the name under which searches are narrowed to the format.
    `reader`: `module:function` below `readers`; empty if the format can be stored but not read. A function called
        `..._elements` gets the decoded text and a limit, any other one the path.
    `signature`: a pattern of the first bytes.
    `entries`: entries of a zip archive or compound file, any of which identifies the format; so does a `mimetype`.
    `main_types`: words in the content type, or else the root element, of the main part of such Office documents.
    `omits`: the kinds of things in such files that the reader counts and does not read.
    """

    name: str
    types: Mapping[str, str]
    group: Group
    reader: str = ""
    signature: bytes = b""
    entries: tuple[str, ...] = ()
    main_types: tuple[str, ...] = ()
    omits: tuple[OmissionKind, ...] = ()

    @property
    def suffixes(self) -> list[str]:
        """The endings of names, in lower case, without a dot."""
        return " ".join(self.types.values()).split()

    @property
    def is_text(self) -> bool:
        """True if the extracted text is the file itself, so that it can be read and edited by offset."""
        return self.reader.endswith("_elements")

    @property
    def is_packed(self) -> bool:
        """True if its signature is that of a container, so that only the entries identify the format."""
        return self.signature in (ZIP, COMPOUND)

    def begins(self, head: bytes) -> bool:
        """Return whether a file with this head has the format's signature."""
        return bool(self.signature) and re.match(self.signature, head[:HEAD_BYTES], re.DOTALL) is not None


TEXT: Final = Format(
    "text",
    {"text/plain": "txt text log env", "text/x-rst": "rst", "text/x-tex": "tex"},
    "text",
    "source.plain:text_elements",
)
"""Also the format of unknown files, even if they turn out to be no text."""

ARCHIVE: Final = Format("archive", {"application/zip": "zip", "": "jar apk"}, "archive", "", ZIP)

HTML: Final = Format(
    "html",
    {"text/html": "html htm", "application/xhtml+xml": "", "": "xhtml"},
    "code",
    "source.html:html_extraction",
    omits=("drawing", "embedded", "equation", "picture"),
)

FORMATS: Final = (
    TEXT,
    Format(
        "markdown", {"text/markdown": "md markdown", "": "mdown mkd mdx"}, "text", "source.markdown:markdown_elements"
    ),
    Format(
        "code",
        {
            "text/x-python": "py",
            "text/x-typescript": "ts tsx",
            "text/x-rust": "rs",
            "text/x-go": "go",
            "text/css": "css",
            "text/javascript": "",
            "application/javascript": "",
            "application/x-sh": "sh",
            "application/x-python": "",
            "application/sql": "",
            "": _CODE,
        },
        "code",
        "source.sections:code_elements",
    ),
    Format(
        "json",
        {
            "application/json": "json",
            "application/jsonl": "jsonl",
            "application/x-ndjson": "",
            "": "ndjson json5 jsonc geojson webmanifest",
        },
        "code",
        "source.json:json_elements",
    ),
    Format(
        "notebook",
        {"application/x-ipynb+json": "ipynb"},
        "code",
        "source.notebook:notebook_extraction",
        omits=("embedded", "picture"),
    ),
    Format("yaml", {"application/yaml": "yaml yml"}, "code", "source.sections:yaml_elements"),
    Format("ini", {"application/toml": "toml", "text/plain": "ini cfg conf"}, "code", "source.sections:ini_elements"),
    Format(
        "xml",
        {"text/xml": "xml", "application/xml": "", "": "xsd xsl xslt rss atom plist wsdl kml gpx"},
        "code",
        "source.xml:xml_elements",
    ),
    Format(
        "csv",
        {"text/csv": "csv", "text/tab-separated-values": "tsv", "": "tab"},
        "spreadsheet",
        "source.plain:csv_elements",
    ),
    HTML,
    Format(
        "pdf",
        {"application/pdf": "pdf"},
        "pdf",
        "pages.pdf.reader:pdf_extraction",
        _ANYWHERE + b"%PDF-",
        omits=("attachment", "blank_page", "character", "form_field", "margin", "picture", "scan"),
    ),
    Format(
        "rtf",
        {"application/rtf": "rtf", "text/rtf": ""},
        "document",
        "office.rtf:rtf_extraction",
        rb"\{\\rtf",
        omits=("embedded", "equation", "picture"),
    ),
    ARCHIVE,
    Format(
        "docx",
        {f"{_OFFICE}.wordprocessingml.document": "docx", f"{_OFFICE}.wordprocessingml.*": "docm dotx dotm"},
        "document",
        "office.word.document:docx_extraction",
        ZIP,
        ("word/document.xml",),
        ("wordprocessingml", "ms-word"),
        omits=("chart", "drawing", "embedded", "equation", "form_field", "included_part", "picture"),
    ),
    Format(
        "pptx",
        {f"{_OFFICE}.presentationml.presentation": "pptx", f"{_OFFICE}.presentationml.*": "pptm ppsx ppsm potx"},
        "presentation",
        "office.slides.presentation:pptx_extraction",
        ZIP,
        ("ppt/presentation.xml",),
        ("presentationml", "ms-powerpoint"),
        omits=("chart", "drawing", "embedded", "equation", "margin", "page", "picture"),
    ),
    Format(
        "sheets",
        {
            f"{_OFFICE}.spreadsheetml.sheet": "xlsx",
            f"{_OFFICE}.spreadsheetml.*": "xltx",
            "application/vnd.ms-excel.*": "xlsm xlsb xltm",
            f"{_OPENDOCUMENT}.spreadsheet": "ods",
        },
        "spreadsheet",
        "office.sheets:sheets_extraction",
        ZIP,
        ("xl/workbook.xml", "xl/workbook.bin"),
        ("spreadsheetml", "ms-excel"),
        omits=("cell", "comment", "embedded", "error", "formula", "picture", "sheet"),
    ),
    Format(
        "odt",
        {f"{_OPENDOCUMENT}.text": "odt", "": "ott"},
        "document",
        "office.odf.document:opendocument_extraction",
        ZIP,
        omits=("embedded", "form_field", "picture"),
    ),
    Format(
        "odp",
        {f"{_OPENDOCUMENT}.presentation": "odp", "": "otp"},
        "presentation",
        "office.odf.document:opendocument_extraction",
        ZIP,
        omits=("embedded", "picture"),
    ),
    Format(
        "epub",
        {"application/epub+zip": "epub"},
        "document",
        "office.epub:epub_extraction",
        ZIP,
        omits=("equation", "page", "picture"),
    ),
    Format(
        "msg",
        {"application/vnd.ms-outlook": "msg"},
        "mail",
        "mail.msg:msg_extraction",
        COMPOUND,
        ("__properties_version1.0",),
        omits=("attachment",),
    ),
    Format(
        "xls",
        {"application/vnd.ms-excel": "xls"},
        "spreadsheet",
        "office.sheets:sheets_extraction",
        COMPOUND,
        ("Workbook", "Book", "WORKBOOK"),
        omits=("chart", "drawing", "error", "formula", "picture"),
    ),
    Format(
        "doc",
        {"application/msword": "doc dot"},
        "document",
        "office.doc:doc_extraction",
        COMPOUND,
        ("WordDocument",),
        omits=("embedded", "equation", "form_field", "picture"),
    ),
    Format(
        "ppt",
        {"application/vnd.ms-powerpoint": "ppt", "application/vnd.ms-powerpoint.*": ""},
        "presentation",
        "office.ppt:ppt_extraction",
        COMPOUND,
        ("PowerPoint Document",),
        omits=("embedded", "picture"),
    ),
    Format(
        "mail",
        {"message/rfc822": "eml mht mhtml", "message/*": ""},
        "mail",
        "mail.eml:mail_extraction",
        omits=("attachment", "encrypted", "picture"),
    ),
    Format(
        "image",
        {"image/*": "png jpg jpeg gif webp bmp tif tiff heic ico avif"},
        "image",
        "pages.image:image_extraction",
        rb"\x89PNG\r\n|\xff\xd8\xff|GIF87a|GIF89a|II\*\0|MM\0\*|RIFF.{4}WEBP",
        omits=("frame", "scan"),
    ),
    Format("svg", {"image/svg+xml": "svg"}, "image", TEXT.reader),
    Format("audio", {"audio/*": "mp3 wav flac ogg m4a aac opus wma"}, "audio"),
    Format("video", {"video/*": "mp4 mov mkv avi webm m4v wmv"}, "video"),
    Format("packed", {"application/gzip": "gz", "application/x-tar": "tar tgz", "": "bz2 xz 7z rar"}, "archive"),
    Format("mbox", {"": "mbox"}, "mail"),
    Format("other document", {"": "pages wpd"}, "document"),
    Format("other spreadsheet", {"": "numbers"}, "spreadsheet"),
    Format("other presentation", {"": "key"}, "presentation"),
)


class FormatTable:
    """The rows, and maps into them."""

    def __init__(self, rows: Sequence[Format]) -> None:
        self.rows = rows
        self.by_suffix = {suffix: row for row in rows for suffix in row.suffixes}
        self.by_type = {media_type: row for row in reversed(rows) for media_type in row.types if media_type}
        self.type_of_suffix = {
            suffix: media_type
            for row in rows
            for media_type, suffixes in row.types.items()
            for suffix in suffixes.split()
            if media_type and "*" not in media_type
        }


table = FormatTable(FORMATS)


def format_of(name: str, media_type: str, head: bytes = b"") -> Format:
    """Return the format of a file. `head` is its first `HEAD_BYTES` bytes; contents win over names.

    The media type counts for a name that says nothing: browsers and servers guess it from the name anyway.
    For a zip archive or compound file the head is not enough; `packed_format` decides.
    """
    claimed = _claimed_format(name, media_type)
    if not head:
        return claimed
    shown = next((row for row in table.rows if row.begins(head)), None)
    if shown:
        return claimed if claimed.signature == shown.signature else shown
    if claimed.signature and claimed.group != "image":  # the signatures of some kinds of images are not in the table
        return HTML if _HTML_HEAD.match(head) else TEXT
    return claimed


def packed_format(signature: bytes, entries: Set[str], mimetype: bytes = b"", main_type: str = "") -> Format | None:
    """Return the format of a container; None if unknown.

    `main_type` is the content type, or else the root element, of an Office document's main part, which counts for more
    than the names of `entries`; `mimetype` is the content of the entry of that name.
    """
    rows = [row for row in table.rows if row.signature == signature]
    by_main = (row for row in rows if any(kind in main_type for kind in row.main_types))
    by_entry = (row for row in rows if not entries.isdisjoint(row.entries))
    by_type = (row for row in rows if any(mimetype.startswith(kind.encode()) for kind in row.types if kind))
    return next(by_main, None) or next(by_entry, None) or next(by_type, None)


def suffixes_of(group: str) -> list[str]:
    """Return the suffixes of a group's formats."""
    return [suffix for row in table.rows if row.group == group for suffix in row.suffixes]


def media_types_of(group: str) -> list[str]:
    """Return the media types of a group's formats; `*` in one stands for any characters."""
    return [media_type for media_type, row in table.by_type.items() if row.group == group]


def _claimed_format(name: str, media_type: str) -> Format:
    # Not `PurePath(name).suffix`, which takes most of the time that a page of items needs for this.
    stem, _, suffix = name.lower().rpartition(".")
    by_suffix = table.by_suffix.get(suffix, TEXT) if stem else TEXT
    if _has_reader_of_its_own(by_suffix):
        return by_suffix
    by_type = table.by_type.get(media_type.partition(";")[0].strip(), TEXT)
    return by_type if _has_reader_of_its_own(by_type) else TEXT


def _has_reader_of_its_own(row: Format) -> bool:
    return bool(row.signature) or row.reader not in ("", TEXT.reader)
