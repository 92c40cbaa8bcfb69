"""Slides: reading order, numbers, merged cells, groups, hidden slides, comments, pictures."""

from __future__ import annotations

import io
from copy import deepcopy
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import pytest
from pptx import Presentation
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml

from drive_server.knowledge.readers.extract import extract
from tests.drive_server.knowledge.packages import SPACES, shape, slides

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.knowledge.text.elements import Extraction

WIDE = 4_000_000


def read(folder: Path, data: bytes) -> Extraction:
    path = folder / "blob"
    path.write_bytes(data)
    extraction = extract(path, "a.pptx", "")
    assert extraction.state == "ready", extraction.reason
    return extraction


def lines(folder: Path, *shapes: str) -> list[str]:
    return [element.text for element in read(folder, slides(*shapes)).elements]


def test_shapes_that_were_drawn_from_below_are_read_from_above_after_the_title(tmp_path: Path) -> None:
    drawn = [shape(text, at=(0, top, WIDE, 100_000)) for top, text in ((900_000, "third"), (600_000, "second"))]
    title = shape("Plan", role="title", at=(0, 0, WIDE, 300_000))
    first = shape("first", at=(0, 400_000, WIDE, 100_000))
    assert lines(tmp_path, *drawn, first, title) == ["Plan", "first", "second", "third"]


def test_columns_that_were_drawn_one_after_the_other_stay_columns(tmp_path: Path) -> None:
    boxes = [
        shape(f"{column}{row}", at=(column * 5_000_000, row * 500_000, WIDE, 400_000))
        for column in range(2)
        for row in range(3)
    ]
    assert lines(tmp_path, *boxes) == ["00", "01", "02", "10", "11", "12"]


def test_shapes_of_which_nobody_says_where_they_stand_stay_in_their_order(tmp_path: Path) -> None:
    assert lines(tmp_path, shape("a", at=(0, 900_000, WIDE, 9)), shape("b"), shape("c", at=(0, 0, WIDE, 9))) == [
        *("a", "b", "c"),
    ]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ('type="arabicPeriod"', ["1. a", "2. b"]),
        ('type="arabicParenBoth" startAt="3"', ["(3) a", "(4) b"]),
        ('type="alphaLcParenR"', ["a) a", "b) b"]),
        ('type="romanUcPeriod"', ["I. a", "II. b"]),
        ('type="ea1ChsPeriod"', ["一. a", "二. b"]),
        ('type="circleNumDbPlain"', ["① a", "② b"]),
    ],
)
def test_automatic_numbers_are_read(tmp_path: Path, form: str, expected: list[str]) -> None:
    assert lines(tmp_path, shape("a", "b", properties=f"<a:buAutoNum {form}/>")) == expected


def test_merged_cells_are_blank_and_groups_are_read_in_their_place(tmp_path: Path) -> None:
    def cell(text: str, attributes: str = "") -> str:
        return f"<a:tc {attributes}><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>"

    first = cell("Region", 'rowSpan="2"') + cell("Sales", 'gridSpan="2"') + cell("", 'hMerge="1"') + cell("Cost")
    second = cell("", 'vMerge="1"') + cell("1") + cell("2") + cell("3")
    table = f"<a:tbl><a:tr>{first}</a:tr><a:tr>{second}</a:tr></a:tbl>"
    frame = f"<p:graphicFrame><a:graphic><a:graphicData>{table}</a:graphicData></a:graphic></p:graphicFrame>"
    group = f"<p:grpSp><p:nvGrpSpPr/><p:grpSpPr/>{shape('inner')}{frame}</p:grpSp>"
    assert lines(tmp_path, group, shape("after")) == ["inner", "Region | Sales |  | Cost\n | 1 | 2 | 3", "after"]


def test_a_hidden_slide_is_marked_and_others_are_not(tmp_path: Path) -> None:
    title = shape("Plan", role="title")
    assert read(tmp_path, slides(title, show="0")).text == "Plan (hidden slide)"
    assert read(tmp_path, slides(title)).text == "Plan"
    assert read(tmp_path, slides(shape("words"), show="0")).text == "(hidden slide)\n\nwords"


def test_pictures_are_read_by_their_text_and_equations_once(tmp_path: Path) -> None:
    picture = '<p:pic><p:nvPicPr><p:cNvPr descr="plan of the roof"/></p:nvPicPr></p:pic>'
    math = "<m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath>"
    body = f"<a:p><a:r><a:t>Take </a:t></a:r>{math}</a:p>"
    choice = f'<mc:Choice Requires="a14"><p:sp><p:txBody>{body}</p:txBody></p:sp></mc:Choice>'
    fallback = f"<mc:Fallback>{shape('Take a picture')}</mc:Fallback>"
    extraction = read(tmp_path, slides(picture, f"<mc:AlternateContent>{choice}{fallback}</mc:AlternateContent>"))
    assert extraction.text == "[plan of the roof]\n\nTake a/b"
    assert extraction.reason == ""


def test_notes_and_modern_comments_with_answers_are_read(tmp_path: Path) -> None:
    modern = "http://schemas.microsoft.com/office/powerpoint/2018/8/main"
    body = "<q:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></q:txBody>"
    answer = f"<q:replyLst><q:reply>{body.format('yes')}</q:reply></q:replyLst>"
    comments = f'<q:cmLst xmlns:q="{modern}" {SPACES}><q:cm>{answer}{body.format("is it?")}</q:cm></q:cmLst>'
    said = shape("say it", role="body") + shape("7", role="sldNum")
    notes = f"<p:notes {SPACES}><p:cSld><p:spTree>{said}</p:spTree></p:cSld></p:notes>"
    related = ("c", "comments", "talk.xml"), ("n", "notesSlide", "said.xml")
    extraction = read(tmp_path, slides(shape("words"), related=related, c=comments, n=notes))
    assert extraction.text == "words\n\nis it?\n\nyes\n\nsay it"


BOX = shape("Confidential", at=(0, 0, WIDE, 9)).replace("<p:sp>", f"<p:sp {SPACES}>", 1)


def shown(folder: Path, *footers: tuple[str, str]) -> list[str]:
    """Read slides with these footers and dates, and with numbers, whose layout has words of its own."""
    presentation = Presentation()
    layout = presentation.slide_layouts[5]
    layout.element.cSld.spTree.append(parse_xml(BOX))
    for number, (footer, date) in enumerate(footers, start=1):
        slide: Any = presentation.slides.add_slide(layout)
        slide.shapes.title.text = f"Slide {number}"
        texts = {PP_PLACEHOLDER.FOOTER: footer, PP_PLACEHOLDER.DATE: date, PP_PLACEHOLDER.SLIDE_NUMBER: f"No. {number}"}
        for one in layout.placeholders:
            if one.placeholder_format.type in texts:
                slide.element.cSld.spTree.append(deepcopy(one.element))
        for one in slide.placeholders:
            if one.placeholder_format.type in texts:
                one.text_frame.text = texts[one.placeholder_format.type]
    file = io.BytesIO()
    presentation.save(file)
    return [element.text for element in read(folder, file.getvalue()).elements]


def test_footers_dates_and_words_of_a_layout_are_read_once(tmp_path: Path) -> None:
    found = shown(tmp_path, ("Board only", "1 May"), ("Board only", "1 May"), ("Draft", "1 May"))
    assert sorted(found[1:5]) == ["1 May", "Board only", "Confidential", "No. 1"]
    assert (found[0], *found[5:]) == ("Slide 1", "Slide 2", "Slide 3", "Draft")


@pytest.mark.parametrize(
    ("number", "expected"), [("1", []), ("‹#›", []), ("17", ["17"]), ("Annex 1", ["Annex 1"]), ("", [])]
)
def test_a_number_that_is_not_the_slide_s_place_is_read(tmp_path: Path, number: str, expected: list[str]) -> None:
    extraction = read(tmp_path, slides(shape("words"), shape(number, role="sldNum")))
    assert extraction.text.split("\n\n") == ["words", *expected]
    assert extraction.omissions == ({} if expected or not number else {"margin": 1})


def test_heads_and_feet_of_notes_are_read_once(tmp_path: Path) -> None:
    said = shape("Board only", role="hdr") + shape("say it", role="body") + shape("7", role="sldNum")
    notes = f"<p:notes {SPACES}><p:cSld><p:spTree>{said}</p:spTree></p:cSld></p:notes>"
    extraction = read(tmp_path, slides(shape("words"), related=(("n", "notesSlide", "said.xml"),), n=notes))
    assert extraction.text == "words\n\nBoard only\n\nsay it"
    assert extraction.omissions == {"margin": 1}


def test_slides_whose_main_part_has_another_name_are_read(tmp_path: Path) -> None:
    deck: Any = Presentation()
    deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = "Plan of the year"
    deck.part.partname = PackURI("/ppt/presentation2.xml")
    file = io.BytesIO()
    deck.save(file)
    with ZipFile(file) as package:
        assert "ppt/presentation.xml" not in package.namelist()
    assert "Plan of the year" in read(tmp_path, file.getvalue()).text
