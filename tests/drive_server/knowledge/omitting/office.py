from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from tests.drive_server.knowledge import documents
from tests.drive_server.knowledge.compound_file import compound_file
from tests.drive_server.knowledge.packages import SLIDES as SLIDES_TYPE
from tests.drive_server.knowledge.packages import SPACES, package, relationships, shape, slides, word
from tests.drive_server.knowledge.readers.office.test_old_office import TEXT, old_word, record
from tests.drive_server.knowledge.samples import zip_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.drive_server.knowledge.omitting import Samples

SAYS = "<w:r><w:t>See: </w:t></w:r>"
PICTURE = "<pic:pic><pic:nvPicPr><pic:cNvPr/></pic:nvPicPr></pic:pic>"
LOST = 'r:id="lost"'
Sample = tuple[str, bytes]


def _word(inside: str) -> Callable[[], Sample]:
    return lambda: ("a.docx", word(f"<w:p>{SAYS}{inside}</w:p>"))


def _object(program: str) -> str:
    return f'<w:r><w:object><o:OLEObject ProgID="{program}" Type="Embed" {LOST}/></w:object></w:r>'


def _drawing(inside: str) -> str:
    return f'<w:r><w:drawing><wp:inline><wp:extent cx="900000" cy="900000"/>{inside}</wp:inline></w:drawing></w:r>'


def _included() -> Sample:
    chunk = ("c", "aFChunk", "chunk.bin")
    return "a.docx", word(f'<w:p>{SAYS}</w:p><w:altChunk r:id="c"/>', chunk, c=b"\0\1\2" * 50)


def _slides(inside: str) -> Callable[[], Sample]:
    return lambda: ("a.pptx", slides(inside))


def _frame(inside: str) -> str:
    return f"<p:graphicFrame><a:graphic><a:graphicData>{inside}</a:graphicData></a:graphic></p:graphicFrame>"


def _slide_that_is_missing() -> Sample:
    main = f'<p:presentation {SPACES}><p:sldIdLst><p:sldId id="256" r:id="s"/></p:sldIdLst></p:presentation>'
    links = relationships(("s", "slide", "slides/slide1.xml"))
    entries = {"ppt/presentation.xml": main, "ppt/_rels/presentation.xml.rels": links}
    return "a.pptx", package("ppt/presentation.xml", SLIDES_TYPE, entries)


def _frame_of_odf(kind: str, inside: str) -> Callable[[], Sample]:
    frame = f"<draw:frame>{inside}</draw:frame>"
    body = f"<office:text><text:p>See: {frame}</text:p></office:text>"
    if kind == "presentation":
        body = f"<office:presentation><draw:page>{frame}</draw:page></office:presentation>"
    return lambda: (f"a.{'odp' if kind == 'presentation' else 'odt'}", documents.opendocument(body, kind))


def _form_of_odf() -> Sample:
    control = '<form:form><form:image-frame form:id="f"/></form:form>'
    forms = f'<office:forms xmlns:form="{documents.OFFICE}:form:1.0">{control}</office:forms>'
    body = f'<office:text>{forms}<text:p>Sign: <draw:control draw:control="f"/></text:p></office:text>'
    return "a.odt", documents.opendocument(body)


def _old_word(text: str) -> Callable[[], Sample]:
    return lambda: ("a.doc", old_word(f"{TEXT}{text}\r"))


def _old_slides(*atoms: bytes) -> Callable[[], Sample]:
    words = record(0x0F9F, struct.pack("<I", 1)) + record(0x0FA0, "Leave".encode("utf-16-le"))
    slide = record(0x03EE, record(0x040C, words + b"".join(atoms), container=True), container=True)
    return lambda: ("a.ppt", compound_file({"PowerPoint Document": slide.ljust(5000, b"\0")}))


def _rich_text(group: bytes) -> Callable[[], Sample]:
    return lambda: ("a.rtf", rb"{\rtf1 See: " + group + rb"\par}")


def _book(page: bytes | None) -> Callable[[], Sample]:
    container = documents.CONTAINER
    package = (
        b'<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
        b'<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
        b'<spine><itemref idref="a"/></spine></package>'
    )
    entries = {"mimetype": b"application/epub+zip", "META-INF/container.xml": container, "OEBPS/book.opf": package}
    return lambda: ("a.epub", zip_of({**entries, **({} if page is None else {"OEBPS/a.xhtml": page})}))


FLOATING = record(0xF00A, bytes(8), instance=75)
SAMPLES: Samples = {
    "docx": {
        "chart": _word(_drawing(f"<c:chart {LOST}/>")),
        "drawing": _word(_drawing('<dgm:relIds r:dm="lost"/>')),
        "embedded": _word(_object("Package")),
        "equation": _word(_object("Equation.DSMT4")),
        "form_field": _word('<w:r><w:object><w:control w:name="Box1"/></w:object></w:r>'),
        "included_part": _included,
        "picture": _word(_drawing(PICTURE)),
    },
    "pptx": {
        "chart": _slides(_frame(f"<c:chart {LOST}/>")),
        "drawing": _slides(_frame('<dgm:relIds r:dm="lost"/>')),
        "embedded": _slides(_frame(f'<p:oleObj progId="Package" {LOST}/>')),
        "equation": _slides(_frame(f'<p:oleObj progId="Equation.3" {LOST}/>')),
        "margin": _slides(shape("words") + shape("1", role="sldNum")),
        "page": _slide_that_is_missing,
        "picture": _slides("<p:pic><p:nvPicPr><p:cNvPr/></p:nvPicPr></p:pic>"),
    },
    "odt": {
        "embedded": _frame_of_odf("text", "<draw:object-ole/>"),
        "form_field": _form_of_odf,
        "picture": _frame_of_odf("text", "<draw:image/>"),
    },
    "odp": {
        "embedded": _frame_of_odf("presentation", "<draw:plugin/>"),
        "picture": _frame_of_odf("presentation", "<draw:image/>"),
    },
    "doc": {
        "embedded": _old_word("\x13 EMBED Excel.Sheet.8 \x14\x01\x15"),
        "equation": _old_word("\x13 EMBED Equation.3 \x14\x01\x15"),
        "form_field": _old_word("\x13 FORMCHECKBOX \x01\x14\x15"),
        "picture": _old_word("\x01"),
    },
    "ppt": {
        "embedded": _old_slides(record(0x0BC1, bytes(4))),
        "picture": _old_slides(FLOATING),
    },
    "rtf": {
        "embedded": _rich_text(rb"{\object\objemb{\*\objclass Excel.Sheet.8}{\result{\pict 00}}}"),
        "equation": _rich_text(rb"{\object\objemb{\*\objclass Equation.3}{\result{\pict 00}}}"),
        "picture": _rich_text(rb"{\*\shppict{\pict\pngblip 00}}{\nonshppict{\pict\wmetafile8 00}}"),
    },
    "epub": {
        "equation": _book(b"<html><body><p>If <math><mi>x</mi></math></p></body></html>"),
        "page": _book(None),
        "picture": _book(b'<html><body><p>See: <img src="a.png"/></p></body></html>'),
    },
}
