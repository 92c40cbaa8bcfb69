"""The least that has to be done for the words of a file: one good parser for each type, used directly.

Each returns the text, or pieces of it that are all there is: what a parser does lazily is not left out.
"""

import csv
import email
import email.policy
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import docx
import pypdfium2
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a compiled module without stubs
from markdown_it import MarkdownIt
from oxmsg import Message
from pptx import Presentation
from python_calamine import CalamineWorkbook

Read = Callable[[Path], object]


def _text(path: Path) -> object:
    return path.read_text(encoding="utf-8")


def _markdown(path: Path) -> object:
    return [token.content for token in MarkdownIt().parse(path.read_text(encoding="utf-8"))]


def _html(path: Path) -> object:
    root: Any = etree.HTML(path.read_bytes(), etree.HTMLParser(encoding="utf-8"))
    return "".join(root.itertext())


def _csv(path: Path) -> object:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


def _json(path: Path) -> object:
    return json.loads(path.read_bytes())


def _pdf(path: Path) -> object:
    with pypdfium2.PdfDocument(path) as document:
        return [document[number].get_textpage().get_text_range() for number in range(len(document))]


def _docx(path: Path) -> object:
    return [paragraph.text for paragraph in docx.Document(str(path)).paragraphs]


def _pptx(path: Path) -> object:
    shapes: list[Any] = [shape for slide in Presentation(str(path)).slides for shape in slide.shapes]
    return [shape.text_frame.text for shape in shapes if shape.has_text_frame]


def _sheets(path: Path) -> object:
    with CalamineWorkbook.from_path(str(path)) as workbook:
        return [workbook.get_sheet_by_name(name).to_python() for name in workbook.sheet_names]


def _opendocument(path: Path) -> object:
    with zipfile.ZipFile(path) as archive:
        root: Any = etree.fromstring(archive.read("content.xml"))
    return "".join(root.itertext())


def _book(path: Path) -> object:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".xhtml")]
        pages: list[Any] = [etree.HTML(archive.read(name), etree.HTMLParser(encoding="utf-8")) for name in names]
    return ["".join(page.itertext()) for page in pages]


def _mail(path: Path) -> object:
    parsed = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    return [part.get_content() for part in parsed.walk() if part.get_content_maintype() == "text"]


def _outlook(path: Path) -> object:
    return Message.load(str(path)).body


PARSERS: Mapping[str, tuple[str, Read]] = {
    "txt": ("read_text", _text),
    "md": ("markdown-it-py", _markdown),
    "html": ("lxml", _html),
    "csv": ("csv", _csv),
    "tsv": ("csv", _csv),
    "json": ("json", _json),
    "py": ("read_text", _text),
    "pdf": ("pypdfium2", _pdf),
    "docx": ("python-docx", _docx),
    "pptx": ("python-pptx", _pptx),
    "xlsx": ("python-calamine", _sheets),
    "xls": ("python-calamine", _sheets),
    "ods": ("python-calamine", _sheets),
    "odt": ("zipfile + lxml", _opendocument),
    "odp": ("zipfile + lxml", _opendocument),
    "epub": ("zipfile + lxml", _book),
    "eml": ("email", _mail),
    "msg": ("python-oxmsg", _outlook),
}
"""By suffix: which parser, and how it is used. None for rtf: what there is converts it with a program of its own."""
