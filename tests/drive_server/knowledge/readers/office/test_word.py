"""Word documents: numbers, equations, boxes, merged cells, included parts, changes, pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.knowledge.readers.extract import extract
from tests.drive_server.knowledge.packages import SPACES, paragraph, word

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.knowledge.text.elements import Extraction


def read(folder: Path, data: bytes) -> Extraction:
    path = folder / "blob"
    path.write_bytes(data)
    extraction = extract(path, "a.docx", "")
    assert extraction.state == "ready", extraction.reason
    return extraction


def lines(folder: Path, data: bytes) -> list[str]:
    return [element.text for element in read(folder, data).elements]


NUMBERS = ("n", "numbering", "numbering.xml")
STYLES = ("s", "styles", "styles.xml")


def level(index: int, text: str, form: str = "decimal", more: str = "") -> str:
    values = f'<w:start w:val="1"/><w:numFmt w:val="{form}"/>{more}<w:lvlText w:val="{text}"/>'
    return f'<w:lvl w:ilvl="{index}">{values}</w:lvl>'


def numbering(*levels: str, more: str = "", override: str = "") -> str:
    return (
        f'<w:numbering {SPACES}><w:abstractNum w:abstractNumId="0">{"".join(levels)}</w:abstractNum>{more}'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
        f'<w:num w:numId="2"><w:abstractNumId w:val="0"/>{override}</w:num></w:numbering>'
    )


def item(text: str, index: int = 0, number: int = 1) -> str:
    return paragraph(text, f'<w:numPr><w:ilvl w:val="{index}"/><w:numId w:val="{number}"/></w:numPr>')


def test_levels_count_on_their_own_and_begin_anew_below_a_higher_one(tmp_path: Path) -> None:
    levels = level(0, "%1."), level(1, "%1.%2", "lowerLetter"), level(2, "(%3)", "lowerRoman")
    body = item("A") + item("B", 1) + item("C", 2) + item("D", 2) + item("E", 1) + item("F") + item("G", 1)
    assert lines(tmp_path, word(body, NUMBERS, n=numbering(*levels))) == [
        *("1. A", "1.a B", "(i) C", "(ii) D", "1.b E", "2. F", "2.a G"),
    ]


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        ("chineseCounting", "第%1条", "第二条 B"),
        ("ideographDigital", "%1、", "二、 B"),
        ("upperRoman", "Part %1", "Part II B"),
        ("decimalZero", "%1", "02 B"),
        ("ordinal", "%1", "2nd B"),
        ("none", "%1", "B"),
        ("decimalEnclosedCircleChinese", "%1", "② B"),
        ("bullet", "\uf0b7", "B"),
        ("bullet", "☐", "☐ B"),
    ],
)
def test_numbers_are_written_in_the_form_of_their_level(tmp_path: Path, form: str, text: str, expected: str) -> None:
    data = word(item("A") + item("B"), NUMBERS, n=numbering(level(0, text, form)))
    assert lines(tmp_path, data)[1] == expected


def test_a_list_that_overrides_its_start_begins_anew_and_one_that_does_not_goes_on(tmp_path: Path) -> None:
    restart = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    body = item("A") + item("B", number=2) + item("C", number=2)
    assert lines(tmp_path, word(body, NUMBERS, n=numbering(level(0, "%1.")))) == ["1. A", "2. B", "3. C"]
    overridden = numbering(level(0, "%1."), override=restart)
    assert lines(tmp_path, word(body, NUMBERS, n=overridden)) == ["1. A", "5. B", "6. C"]


def test_headings_are_numbered_by_their_style_and_a_list_of_none_takes_the_number_away(tmp_path: Path) -> None:
    style = (
        '<w:style w:type="paragraph" w:styleId="H{0}"><w:name w:val="heading {0}"/><w:pPr><w:numPr>'
        '<w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    )
    levels = [
        level(index, text, more=f'<w:pStyle w:val="H{index + 1}"/>') for index, text in enumerate(("%1", "%1.%2"))
    ]
    none = '<w:pStyle w:val="H1"/><w:numPr><w:numId w:val="0"/></w:numPr>'
    body = (
        paragraph("Scope", '<w:pStyle w:val="H1"/>')
        + paragraph("Terms", '<w:pStyle w:val="H2"/>')
        + paragraph("Annex", none)
        + paragraph("Price", '<w:pStyle w:val="H1"/>')
    )
    styles = f"<w:styles {SPACES}>{style.format(1)}{style.format(2)}</w:styles>"
    found = read(tmp_path, word(body, NUMBERS, STYLES, n=numbering(*levels), s=styles)).elements
    assert [(one.kind, one.level, one.text) for one in found] == [
        ("title", 1, "1 Scope"),
        ("title", 2, "1.1 Terms"),
        ("title", 1, "Annex"),
        ("title", 1, "2 Price"),
    ]


def test_numbers_after_the_manner_of_laws_are_all_decimal(tmp_path: Path) -> None:
    levels = level(0, "%1", "upperRoman"), level(1, "%1.%2", more="<w:isLgl/>")
    assert lines(tmp_path, word(item("A") + item("B", 1), NUMBERS, n=numbering(*levels))) == ["I A", "1.1 B"]


def test_a_paragraph_that_a_change_deletes_is_not_counted(tmp_path: Path) -> None:
    gone = (
        '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr><w:rPr><w:del/></w:rPr></w:pPr>'
        "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
    )
    data = word(item("A") + gone + item("B"), NUMBERS, n=numbering(level(0, "%1.")))
    assert lines(tmp_path, data) == ["1. A", "2. B"]


def run(inside: str) -> str:
    return f"<w:r>{inside}</w:r>"


def test_equations_stand_in_their_sentence_and_displayed_ones_on_lines_of_their_own(tmp_path: Path) -> None:
    power = "<m:sSup><m:e><m:r><m:t>c</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
    equation = f"<m:oMath><m:r><m:t>E=m</m:t></m:r>{power}</m:oMath>"
    inline = f"<w:p>{run('<w:t>So </w:t>')}{equation}{run('<w:t>.</w:t>')}</w:p>"
    display = f"<w:p>{run('<w:t>So</w:t>')}<m:oMathPara>{equation}</m:oMathPara></w:p>"
    extraction = read(tmp_path, word(inline + display))
    assert [one.text for one in extraction.elements] == ["So E = m c^2.", "So\nE = m c^2"]
    assert extraction.reason == ""


def control(properties: str, content: str) -> str:
    return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"


def test_boxes_of_every_kind_are_ticked_or_not(tmp_path: Path) -> None:
    def box(value: str) -> str:
        return control(f'<w14:checkbox><w14:checked w14:val="{value}"/></w14:checkbox>', run("<w:t>x</w:t>"))

    def field(properties: str) -> str:
        begin = (
            f'<w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox>{properties}</w:checkBox></w:ffData></w:fldChar>'
        )
        return run(begin) + run("<w:instrText> FORMCHECKBOX </w:instrText>") + run('<w:fldChar w:fldCharType="end"/>')

    def sign(font: str, code: str) -> str:
        return run(f'<w:sym w:font="{font}" w:char="{code}"/>')

    def letter(text: str) -> str:
        return run(f'<w:rPr><w:rFonts w:ascii="Wingdings" w:hAnsi="Wingdings"/></w:rPr><w:t>{text}</w:t>')

    signs = [box("1"), box("0"), field("<w:checked/>"), field('<w:default w:val="0"/>'), sign("Wingdings", "F0FE")]
    signs += [
        sign("Wingdings", "F0A8"),
        sign("Wingdings 2", "F052"),
        sign("Symbol", "F061"),
        letter("\u00fe"),
        letter("o"),
    ]
    assert lines(tmp_path, word(f"<w:p>{''.join(signs)}</w:p>")) == ["☑☐☑☐☑☐☑α☑☐"]


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"


def row(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def test_cells_stay_in_their_columns_and_rows_in_content_controls_are_read(tmp_path: Path) -> None:
    rows = (
        row(cell("Region", '<w:vMerge w:val="restart"/>'), cell("Sales", '<w:gridSpan w:val="2"/>'), cell("Cost"))
        + row(cell("", "<w:vMerge/>"), cell("2024"), cell("2025"), cell("2025"))
        + control("", row(cell("North"), control("", cell("10")), cell("20"), cell("5")))
        + row(cell("7"), properties='<w:gridBefore w:val="3"/>')
        + row(cell("gone"), properties="<w:del/>")
    )
    assert lines(tmp_path, word(f"<w:tbl>{rows}</w:tbl>")) == [
        "Region | Sales |  | Cost\n | 2024 | 2025 | 2025\nNorth | 10 | 20 | 5\n |  |  | 7"
    ]


@pytest.mark.parametrize(
    ("target", "content"),
    [
        ("chunk.html", b"<p>notice of <b>six</b> weeks</p>"),
        ("chunk.txt", b"notice of six weeks"),
        ("chunk.rtf", rb"{\rtf1 notice of six weeks\par}"),
        ("chunk.docx", word(paragraph("notice of six weeks"))),
    ],
)
def test_included_documents_are_read_where_they_stand(tmp_path: Path, target: str, content: bytes) -> None:
    body = f'{paragraph("before")}<w:altChunk r:id="c"/>{paragraph("after")}'
    extraction = read(tmp_path, word(body, ("c", "aFChunk", target), c=content))
    assert [one.text for one in extraction.elements] == ["before", "notice of six weeks", "after"]
    assert extraction.reason == ""


def test_a_document_within_itself_again_and_again_is_read_three_deep(tmp_path: Path) -> None:
    data = word(paragraph("innermost"))
    for depth in range(4):
        data = word(f'{paragraph(f"depth {depth}")}<w:altChunk r:id="c"/>', ("c", "aFChunk", "c.docx"), c=data)
    extraction = read(tmp_path, data)
    assert "depth 0" in extraction.text
    assert "innermost" not in extraction.text
    assert extraction.omissions == {"included_part": 1}


def test_moved_text_and_text_boxes_are_read_once_and_codes_of_fields_are_not(tmp_path: Path) -> None:
    text = run("<w:t>moved</w:t>")
    moved = f"<w:p><w:moveFrom>{text}</w:moveFrom></w:p><w:p><w:moveTo>{text}</w:moveTo></w:p>"
    box = f"<w:txbxContent>{paragraph('boxed')}</w:txbxContent>"
    choice = f'<mc:AlternateContent><mc:Choice Requires="wps"><w:drawing>{box}</w:drawing></mc:Choice>'
    both = f"{choice}<mc:Fallback><w:pict><v:shape>{box}</v:shape></w:pict></mc:Fallback></mc:AlternateContent>"
    mark = '<w:fldChar w:fldCharType="{}"/>'
    outer = run(mark.format("begin")) + run("<w:instrText> IF </w:instrText>")
    inner = run(mark.format("begin") + "<w:instrText> PAGE </w:instrText>" + mark.format("separate") + "<w:t>7</w:t>")
    field = outer + inner + run(mark.format("end") + mark.format("separate") + "<w:t>result</w:t>" + mark.format("end"))
    data = word(f"{moved}<w:p>{run('<w:t>by</w:t>')}{run(both)}</w:p><w:p>{field}</w:p>")
    assert lines(tmp_path, data) == ["moved", "by", "boxed", "result"]


def test_the_text_for_a_picture_is_read_and_decoration_and_names_of_files_are_not(tmp_path: Path) -> None:
    def drawing(description: str, more: str = "", size: int = 900_000) -> str:
        picture = "<pic:pic><pic:nvPicPr><pic:cNvPr/></pic:nvPicPr></pic:pic>"
        properties = f'<wp:docPr descr="{description}">{more}</wp:docPr>'
        return run(
            f'<w:drawing><wp:inline><wp:extent cx="{size}" cy="{size}"/>{properties}{picture}</wp:inline></w:drawing>'
        )

    space = "http://schemas.microsoft.com/office/drawing/2017/decorative"
    decorative = f'<d:decorative xmlns:d="{space}" val="1"/>'
    pictures = drawing("plan of the roof"), drawing("", decorative), drawing("", size=9525)
    extraction = read(tmp_path, word(f"<w:p>{run('<w:t>See</w:t>')}{''.join(pictures)}</w:p>"))
    assert (extraction.text, extraction.reason) == ("See [plan of the roof]", "")
    named = read(tmp_path, word(f"<w:p>{run('<w:t>See</w:t>')}{drawing('scan 01.png'.replace(' ', '_'))}</w:p>"))
    assert (named.text, named.reason) == ("See", "Not read: 1 picture without text.")


CHART = (
    f"<c:chartSpace {SPACES}><c:chart>"
    "<c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title>"
    "<c:ser><c:tx><c:v>2025</c:v></c:tx><c:cat><c:strCache><c:pt idx='0'><c:v>North</c:v></c:pt></c:strCache></c:cat>"
    "<c:val><c:numCache><c:formatCode>0%</c:formatCode><c:pt idx='0'><c:v>0.475</c:v></c:pt></c:numCache></c:val>"
    "</c:ser>"
    "</c:chart></c:chartSpace>"
)


def test_charts_and_embedded_documents_follow_their_paragraph(tmp_path: Path) -> None:
    chart = run('<w:drawing><c:chart r:id="k"/></w:drawing>')
    embedded = run('<w:object><o:OLEObject ProgID="Word.Document.12" Type="Embed" r:id="e"/></w:object>')
    related = ("k", "chart", "charts/chart1.xml"), ("e", "package", "embeddings/inner.docx")
    body = f"<w:p>{run('<w:t>See</w:t>')}{chart}</w:p><w:p>{run('<w:t>And</w:t>')}{embedded}</w:p>"
    extraction = read(tmp_path, word(body, *related, k=CHART, e=word(paragraph("inner words"))))
    assert [one.text for one in extraction.elements] == ["See", "Sales", " | 2025\nNorth | 47.5%", "And", "inner words"]
    assert extraction.reason == ""


def test_comments_have_their_authors_and_separators_of_notes_are_no_text(tmp_path: Path) -> None:
    comments = f'<w:comments {SPACES}><w:comment w:author="Ann">{paragraph("too dear")}</w:comment></w:comments>'
    related = ("c", "comments", "comments7.xml")
    assert lines(tmp_path, word(paragraph("Price"), related, c=comments)) == ["Price", "Ann: too dear"]


def test_a_drop_down_shows_its_choice_and_ruby_its_reading(tmp_path: Path) -> None:
    choices = "".join(f'<w:listEntry w:val="{one}"/>' for one in ("Monday", "Friday"))
    data = f'<w:ffData><w:ddList><w:result w:val="1"/>{choices}</w:ddList></w:ffData>'
    field = run(f'<w:fldChar w:fldCharType="begin">{data}</w:fldChar>') + run('<w:fldChar w:fldCharType="end"/>')
    ruby = (
        f"<w:ruby><w:rt>{run('<w:t>とうきょう</w:t>')}</w:rt><w:rubyBase>{run('<w:t>東京</w:t>')}</w:rubyBase></w:ruby>"
    )
    body = f"<w:p>{field}</w:p><w:p>{run(ruby)}</w:p>"
    assert lines(tmp_path, word(body)) == ["Friday", "東京(とうきょう)"]
