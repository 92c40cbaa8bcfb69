"""Office documents as zip archives of XML, made part by part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.drive_server.knowledge.samples import zip_of

if TYPE_CHECKING:
    from collections.abc import Mapping

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
SPACES = " ".join(
    f'xmlns:{prefix}="{space}"'
    for prefix, space in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
        "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
        "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
        "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
        "m": f"{OFFICE}/math",
        "r": f"{OFFICE}/relationships",
        "o": "urn:schemas-microsoft-com:office:office",
        "v": "urn:schemas-microsoft-com:vml",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
    }.items()
)
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
SLIDES = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"


def relationships(*entries: tuple[str, str, str]) -> bytes:
    """The relationships of a part: id, kind and target of each."""
    rows = "".join(
        f'<Relationship Id="{key}" Type="{OFFICE}/relationships/{kind}" Target="{target}"/>'
        for key, kind, target in entries
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{rows}</Relationships>'.encode()


def package(main: str, content_type: str, entries: Mapping[str, str | bytes], target: str = "") -> bytes:
    """An Office document whose main part is `main`; `target` is how the package spells it."""
    types = (
        f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="html" ContentType="text/html"/>'
        f'<Override PartName="/{main}" ContentType="{content_type}"/></Types>'
    )
    plain = {
        "[Content_Types].xml": types.encode(),
        "_rels/.rels": relationships(("main", "officeDocument", target or main)),
    }
    return zip_of({**plain, **{name: one.encode() if isinstance(one, str) else one for name, one in entries.items()}})


def word(body: str, *related: tuple[str, str, str], **parts: str | bytes) -> bytes:
    """A Word document of this body; `related` are its relationships, `parts` the contents by the ids of those."""
    targets = {key: target for key, _, target in related}
    entries = {f"word/{targets[key]}": content for key, content in parts.items()}
    document = f"<w:document {SPACES}><w:body>{body}</w:body></w:document>"
    links = {"word/_rels/document.xml.rels": relationships(*related)}
    return package("word/document.xml", WORD, {"word/document.xml": document, **links, **entries})


def paragraph(text: str, properties: str = "") -> str:
    """A paragraph of Word."""
    return f'<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def slides(
    *shapes: str, related: tuple[tuple[str, str, str], ...] = (), show: str = "1", **parts: str | bytes
) -> bytes:
    """A presentation of one slide with these shapes."""
    targets = {key: target for key, _, target in related}
    listed = '<p:sldIdLst><p:sldId id="256" r:id="s"/></p:sldIdLst>'
    slide = (
        f'<p:sld {SPACES} show="{show}"><p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{"".join(shapes)}'
        "</p:spTree></p:cSld></p:sld>"
    )
    return package(
        "ppt/presentation.xml",
        SLIDES,
        {
            "ppt/presentation.xml": f"<p:presentation {SPACES}>{listed}</p:presentation>",
            "ppt/_rels/presentation.xml.rels": relationships(("s", "slide", "slides/slide1.xml")),
            "ppt/slides/slide1.xml": slide,
            "ppt/slides/_rels/slide1.xml.rels": relationships(*related),
            **{f"ppt/slides/{targets[key]}": content for key, content in parts.items()},
        },
    )


def shape(*texts: str, role: str = "", at: tuple[int, int, int, int] | None = None, properties: str = "") -> str:
    """A shape of a slide with paragraphs; `at` is its left, top, width and height in English Metric Units."""
    place = f'<p:ph type="{role}"/>' if role else ""
    box = "" if at is None else f'<a:xfrm><a:off x="{at[0]}" y="{at[1]}"/><a:ext cx="{at[2]}" cy="{at[3]}"/></a:xfrm>'
    paragraphs = "".join(f"<a:p><a:pPr>{properties}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>" for text in texts)
    about = f"<p:nvSpPr><p:cNvPr/><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:spPr>{box}</p:spPr>"
    return f"<p:sp>{about}<p:txBody>{paragraphs}</p:txBody></p:sp>"
