"""OpenDocument: numbers, comments, equations, merged cells, forms, texts for pictures, page heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drive_server.knowledge.readers.extract import extract
from tests.drive_server.knowledge.documents import OFFICE
from tests.drive_server.knowledge.samples import zip_of

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.knowledge.text.elements import Extraction

NAMES = "office text table presentation style form chart"
SPACES = " ".join(f'xmlns:{name}="{OFFICE}:{name}:1.0"' for name in NAMES.split()) + (
    f' xmlns:draw="{OFFICE}:drawing:1.0" xmlns:svg="{OFFICE}:svg-compatible:1.0"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'
)
MATH = "http://www.w3.org/1998/Math/MathML"


def read(folder: Path, body: str, styles: str = "", kind: str = "text", **entries: str) -> Extraction:
    content = (
        f"<office:document-content {SPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    plain = {"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content, **entries}
    path = folder / "blob"
    path.write_bytes(zip_of({name: one.encode() for name, one in plain.items()}))
    extraction = extract(path, "a.odt", "")
    assert extraction.state == "ready", extraction.reason
    return extraction


def lines(folder: Path, body: str, styles: str = "") -> list[str]:
    return [element.text for element in read(folder, body, styles).elements]


def item(text: str, inside: str = "", attributes: str = "") -> str:
    return f"<text:list-item {attributes}><text:p>{text}</text:p>{inside}</text:list-item>"


SEVENTH = 'text:start-value="7"'
LEVELS = (
    '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-prefix="Article "'
    ' style:num-suffix="." style:num-format="1"/><text:list-level-style-number text:level="2" style:num-suffix=")"'
    ' style:num-format="a" text:display-levels="2"/></text:list-style>'
    '<text:list-style style:name="B"><text:list-level-style-bullet text:level="1" text:bullet-char="•"/>'
    "</text:list-style>"
)


def test_lists_are_numbered_by_their_styles_and_go_on_if_they_say_so(tmp_path: Path) -> None:
    inner = f"<text:list>{item('B')}{item('C')}</text:list>"
    first = f'<text:list text:style-name="L">{item("A", inner)}{item("D")}</text:list><text:p>between</text:p>'
    second = f'<text:list text:style-name="L" text:continue-numbering="true">{item("E")}</text:list>'
    third = f'<text:list text:style-name="L">{item("F", attributes=SEVENTH)}</text:list>'
    dots = f'<text:list text:style-name="B">{item("G")}</text:list>'
    assert lines(tmp_path, first + second + third + dots, LEVELS) == [
        *("Article 1. A", "1.a) B", "1.b) C", "Article 2. D", "between", "Article 3. E", "Article 7. F", "G"),
    ]


def test_headings_are_numbered_by_the_outline(tmp_path: Path) -> None:
    outline = (
        '<text:outline-style><text:outline-level-style text:level="1" style:num-format="I"/>'
        '<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/></text:outline-style>'
    )
    styles = f"<office:document-styles {SPACES}><office:styles>{outline}</office:styles></office:document-styles>"
    heading = '<text:h text:outline-level="{}">{}</text:h>'
    body = "".join(heading.format(level, text) for level, text in ((1, "A"), (2, "B"), (2, "C"), (1, "D"), (2, "E")))
    found = read(tmp_path, body, **{"styles.xml": styles})
    assert [one.text for one in found.elements] == ["I A", "I.1 B", "I.2 C", "II D", "II.1 E"]


def test_comments_follow_their_paragraph_with_their_author_and_notes_in_boxes_are_read_once(tmp_path: Path) -> None:
    comment = "<office:annotation><dc:creator>Ann</dc:creator><text:p>ask</text:p></office:annotation>"
    note = "<text:note><text:note-body><text:p>note</text:p></text:note-body></text:note>"
    box = f"<draw:frame><draw:text-box><text:p>boxed{note}</text:p></draw:text-box></draw:frame>"
    table = f"<table:table><table:table-row><table:table-cell><text:p>cell{comment}</text:p></table:table-cell>"
    body = f"<text:p>Body{comment}{box}</text:p>{table}</table:table-row></table:table>"
    assert lines(tmp_path, body) == ["Body", "Ann: ask", "boxed", "note", "cell", "Ann: ask"]


def test_covered_and_repeated_cells_keep_the_columns(tmp_path: Path) -> None:
    def cell(text: str, attributes: str = "") -> str:
        return f"<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>"

    span = cell("Sales", 'table:number-columns-spanned="2"') + "<table:covered-table-cell/>"
    twice = cell("", 'table:number-columns-repeated="2"')
    rows = (
        f"<table:table-row>{cell('Region')}{span}{cell('Cost')}</table:table-row>"
        f"<table:table-row>{twice}{cell('5')}</table:table-row>"
    )
    assert lines(tmp_path, f"<table:table>{rows}</table:table>") == ["Region | Sales |  | Cost\n |  | 5"]


def test_equations_charts_and_texts_for_pictures_are_read(tmp_path: Path) -> None:
    math = f'<math xmlns="{MATH}"><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>'
    cells = "".join(f"<table:table-cell><text:p>{one}</text:p></table:table-cell>" for one in ("North", "4"))
    chart = (
        f"<office:document-content {SPACES}><office:body><office:chart><chart:chart><chart:title><text:p>Sales</text:p>"
        f"</chart:title><table:table><table:table-row>{cells}</table:table-row></table:table></chart:chart>"
        "</office:chart></office:body></office:document-content>"
    )
    frame = '<draw:frame>{}<draw:object xlink:href="./Object {}"/><draw:image/></draw:frame>'
    picture = "<draw:frame><draw:image/><svg:desc>plan of the roof</svg:desc></draw:frame>"
    first, second = frame.format("", 1), frame.format("", 2)
    body = f"<text:p>So {first} holds</text:p><text:p>See {picture}</text:p><text:p>{second}</text:p>"
    found = read(tmp_path, body, **{"Object 1/content.xml": math, "Object 2/content.xml": chart})
    assert [" ".join(one.text.split()) for one in found.elements] == [
        *("So E = m c^2 holds", "See [plan of the roof]", "Sales", "North | 4"),
    ]
    assert found.reason == ""


def test_filled_forms_are_read(tmp_path: Path) -> None:
    controls = (
        '<form:checkbox form:id="a" form:label="agreed" form:current-state="checked"/>'
        '<form:checkbox form:id="b" form:label="refused"/><form:text form:id="c" form:current-value="Ann"/>'
    )
    shown = "".join(f'<draw:control draw:control="{one}"/>' for one in "abc")
    body = f"<office:forms><form:form>{controls}</form:form></office:forms><text:p>Signed: {shown}</text:p>"
    found = read(tmp_path, body)
    assert (" ".join(found.text.split()), found.reason) == ("Signed: ☑ agreed ☐ refused Ann", "")


def test_page_heads_come_once_and_deleted_text_does_not(tmp_path: Path) -> None:
    head = "<style:header><text:p>Draft</text:p></style:header>"
    masters = f"<style:master-page>{head}</style:master-page>" * 2
    pages = f"<office:master-styles>{masters}</office:master-styles>"
    styles = f"<office:document-styles {SPACES}>{pages}</office:document-styles>"
    gone = "<text:tracked-changes><text:deletion><text:p>gone</text:p></text:deletion></text:tracked-changes>"
    assert read(tmp_path, f"{gone}<text:p>Body</text:p>", **{"styles.xml": styles}).text == "Body\n\nDraft"


def test_hidden_slides_are_marked(tmp_path: Path) -> None:
    properties = '<style:drawing-page-properties presentation:visibility="hidden"/>'
    styles = f'<style:style style:name="h" style:family="drawing-page">{properties}</style:style>'
    page = "<draw:page{}><draw:frame><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame></draw:page>"
    body = page.format("", "shown") + page.format(' draw:style-name="h"', "secret")
    found = read(tmp_path, body, styles, kind="presentation")
    assert [(str(one.place), one.text) for one in found.elements] == [
        ("slide=1", "shown"),
        ("slide=2", "(hidden slide)"),
        ("slide=2", "secret"),
    ]
