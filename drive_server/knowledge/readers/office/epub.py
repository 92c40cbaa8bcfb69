"""The text of electronic books (EPUB 3.3): the pages of the book in reading order."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from drive_server.knowledge.readers.archive import Archive, open_archive, resolve
from drive_server.knowledge.readers.source.html import html_parts
from drive_server.knowledge.text.decode import decode
from drive_server.knowledge.text.elements import Extraction, Part, join
from drive_server.knowledge.text.omissions import Omissions
from drive_server.knowledge.text.place import SourceRange
from drive_server.knowledge.text.unreadable import UnreadableError

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_CONTAINER_SPACE = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_PACKAGE = "{http://www.idpf.org/2007/opf}"
_METADATA = "{http://purl.org/dc/elements/1.1/}"
_FONTS_ONLY = (b"http://www.idpf.org/2008/embedding", b"http://ns.adobe.com/pdf/enc#RC")
_PICTURE = re.compile(r"<img\b(?![^>]*\salt\s*=)|<(?:svg:)?image\b|<object\b", re.IGNORECASE)
_EQUATION = re.compile(r"<(?:\w+:)?math\b", re.IGNORECASE)
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def epub_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a book. Blocks. Raises the errors of zipfile and lxml for a damaged file."""
    with open_archive(path) as archive:
        if _ENCRYPTION in archive.names and not _encrypts_only_fonts(archive.read(_ENCRYPTION)):
            raise UnreadableError("copy_protected")
        return join(_book(archive, omissions))


def _book(archive: Archive, omissions: Omissions) -> Iterator[Part]:
    package = _package_name(archive)
    root = archive.xml(package)
    title = " ".join((root.findtext(f".//{_METADATA}title") or "").split())
    if title:
        yield Part("title", title, level=1)
    folder = posixpath.dirname(package)
    pages = {
        item.get("id", ""): resolve(folder, item.get("href", ""))
        for item in root.iter(f"{_PACKAGE}item")
        if item.get("media-type") in _PAGES
    }
    order = [pages.get(item.get("idref", ""), "") for item in root.iter(f"{_PACKAGE}itemref")]
    for number, name in enumerate(order, start=1):
        if name in archive.names:
            yield from _page(archive.read(name), SourceRange("part", number, number), omissions)
        else:
            omissions.add("page")


def _page(data: bytes, place: SourceRange, omissions: Omissions) -> Iterator[Part]:
    """Yield the parts of a page, its headings below the title of the book."""
    decoded = decode(data)
    if decoded is None:
        omissions.add("page")
        return
    omissions.add("picture", len(_PICTURE.findall(decoded.text)))
    omissions.add("equation", len(_EQUATION.findall(decoded.text)))
    for part in html_parts(decoded.text, place):
        yield replace(part, level=min(6, part.level + 1)) if part.kind == "title" else part


def _package_name(archive: Archive) -> str:
    for root in archive.xml(_CONTAINER).iter(f"{_CONTAINER_SPACE}rootfile"):
        if root.get("full-path") in archive.names:
            return root.get("full-path")
    raise UnreadableError("no_text_part")


def _encrypts_only_fonts(encryption: bytes) -> bool:
    """Tell fonts made unusable outside of the book, whose text is plain, from encrypted text."""
    return encryption.count(b"EncryptionMethod ") == sum(encryption.count(algorithm) for algorithm in _FONTS_ONLY)
