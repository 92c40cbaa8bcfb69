"""Letters in fonts that a PDF names and does not bring are read, on a machine that has no such fonts either."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pypdfium2
import pytest

from drive_server.knowledge.readers.pages.fonts import stand_in, stand_in_font
from tests.drive_server.knowledge.readers.pages.pdf.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from drive_server.knowledge.text.elements import Extraction

REPORT = "关于公司年度报告"
CMAPS = [
    ("GBK-EUC-H", "GB1", REPORT, "gbk"),
    ("GB-EUC-H", "GB1", REPORT, "gb2312"),
    ("UniGB-UCS2-H", "GB1", REPORT, "utf-16-be"),
    ("UniGB-UTF16-H", "GB1", REPORT, "utf-16-be"),
    ("B5pc-H", "CNS1", "年度報告說明", "big5"),
    ("ETen-B5-H", "CNS1", "年度報告說明", "big5"),
    ("90ms-RKSJ-H", "Japan1", "年度報告かな", "cp932"),
    ("KSCms-UHC-H", "Korea1", "연간보고서", "cp949"),
]
"""Predefined CMaps (ISO 32000-2, table 116), their collections, a text, and its encoding in Python."""

VERTICAL = ("第一条公司依照中国法律成立", "第二条公司的住所设在北京市", "第三条本章程自登记之日起生效")

CYRILLIC = "<< /Type /Encoding /Differences [65 /afii10017 /afii10018 /afii10019 /afii10020 /afii10021 /afii10022] >>"


def stream(data: str) -> str:
    return f"<< /Length {len(data)} >>\nstream\n{data}\nendstream"


def file_of(objects: Sequence[str]) -> bytes:
    """Return a PDF of these objects, of which the first is the root. Readers find them without a table."""
    body = "\n".join(f"{number} 0 obj\n{one}\nendobj" for number, one in enumerate(objects, start=1))
    return f"%PDF-1.7\n{body}\ntrailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%EOF\n".encode()


def page_of(content: str, font: str, *more: str) -> bytes:
    """Return a PDF of one page, with a font F1 and Helvetica as F2. `more`: objects from the number 7."""
    return file_of(
        [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
            " /Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>",
            stream(f"{content}\nBT 0 Tr /F2 12 Tf 72 600 Td (Plain words below the others.) Tj ET"),
            font,
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            *more,
        ]
    )


def one_by_one(codes: Sequence[str], step: float = 20, mode: int = 0) -> str:
    return "\n".join(
        f"BT {mode} Tr /F1 16 Tf {72 + step * number} 700 Td <{code}> Tj ET" for number, code in enumerate(codes)
    )


def missing_font(cmap: str, collection: str, content: str) -> bytes:
    """Return a page in a font for Chinese, Japanese or Korean that the file does not bring."""
    font = f"<< /Type /Font /Subtype /Type0 /BaseFont /SimSun /Encoding /{cmap} /DescendantFonts [7 0 R] >>"
    descendant = (
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /SimSun /DW 1000 /FontDescriptor 8 0 R"
        f" /CIDSystemInfo << /Registry (Adobe) /Ordering ({collection}) /Supplement 2 >> >>"
    )
    descriptor = (
        "<< /Type /FontDescriptor /FontName /SimSun /Flags 4 /Ascent 880 /Descent -120 /CapHeight 700 /ItalicAngle 0"
        " /StemV 80 /FontBBox [0 -120 1000 880] >>"
    )
    return page_of(content, font, descendant, descriptor)


def simple_font(encoding: str, content: str) -> bytes:
    widths = " ".join(["700"] * 6)
    return page_of(
        content,
        "<< /Type /Font /Subtype /TrueType /BaseFont /Arial /FirstChar 65 /LastChar 70"
        f" /Widths [{widths}] /Encoding {encoding} >>",
    )


def text_of(extraction: Extraction) -> str:
    return "".join(extraction.text.split())


@pytest.mark.parametrize("mode", [0, 3], ids=["drawn", "behind a scan"])
@pytest.mark.parametrize(("cmap", "collection", "text", "encoding"), CMAPS)
def test_letters_drawn_one_by_one_in_a_font_that_nobody_has_are_read(
    tmp_path: Path, cmap: str, collection: str, text: str, encoding: str, mode: int
) -> None:
    codes = [letter.encode(encoding).hex() for letter in text]
    extraction = read(tmp_path, missing_font(cmap, collection, one_by_one(codes, mode=mode)))
    assert text_of(extraction).startswith(text)
    assert (extraction.state, extraction.reason) == ("ready", "")


def test_vertical_lines_in_a_font_that_nobody_has_are_read(tmp_path: Path) -> None:
    content = "\n".join(
        f"BT /F1 16 Tf {left} 700 Td <{text.encode('utf-16-be').hex()}> Tj ET"
        for left, text in zip((500, 470, 440), VERTICAL, strict=True)
    )
    found = text_of(read(tmp_path, missing_font("UniGB-UCS2-V", "GB1", content)))
    assert "".join(VERTICAL) in found


def test_letters_that_are_lost_for_want_of_a_shape_are_counted(tmp_path: Path) -> None:
    codes = [f"{code:02x}" for code in range(65, 71)]
    extraction = read(tmp_path, simple_font(CYRILLIC, one_by_one(codes, step=11)))
    assert text_of(extraction) == "Plainwordsbelowtheothers."
    assert extraction.reason == "Not read: 6 characters that could not be decoded."


def spaced_out() -> Iterator[str]:
    """Yield words with three blanks between them, all drawn one by one."""
    place = 72.0
    for code in b"A   B   C   D":
        yield f"BT /F2 16 Tf {place:.3f} 700 Td <{code:02x}> Tj ET"
        place += 16 * (0.278 if code == ord(" ") else 0.7)


def test_blanks_drawn_one_by_one_are_no_lost_letters(tmp_path: Path) -> None:
    courier = "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"
    assert read(tmp_path, page_of("\n".join(spaced_out()), courier)).reason == ""
    content = one_by_one(["41", "20", "20", "20", "20", "42"], step=9.6)
    assert read(tmp_path, page_of(content, courier)).reason == ""


def test_letters_of_which_only_the_codes_are_known_are_counted_where_some_of_them_give_no_text(tmp_path: Path) -> None:
    glyphs = [f"/g{number}" for number in range(6)]
    font = (
        "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1000 1000] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 1"
        f" /LastChar 6 /Widths [{' '.join(['700'] * 6)}] /Resources << >>"
        f" /Encoding << /Type /Encoding /Differences [1 {' '.join(glyphs)}] >>"
        f" /CharProcs << {' '.join(f'{glyph} 7 0 R' for glyph in glyphs)} >> >>"
    )
    square = stream("700 0 0 0 700 700 d1 0 0 700 700 re f")
    extraction = read(tmp_path, page_of("BT /F1 16 Tf 72 700 Td <010203040506> Tj ET", font, square))
    assert text_of(extraction) == "Plainwordsbelowtheothers."
    assert extraction.reason == "Not read: 6 characters that could not be decoded."


def test_the_stand_in_has_no_ink(tmp_path: Path) -> None:
    stand_in()
    assert len(stand_in_font()) % 4 == 0
    content = one_by_one([REPORT[0].encode("gbk").hex()])
    path = tmp_path / "page.pdf"
    path.write_bytes(missing_font("GBK-EUC-H", "GB1", content))
    if system_has_chinese(path):
        pytest.skip("a font of this machine is taken")
    with pypdfium2.PdfDocument(path) as document:
        picture = document[0].render(scale=2).to_pil().convert("L")
    assert picture.crop((0, 0, 1224, 300)).getextrema() == (255, 255)


def system_has_chinese(path: Path) -> bool:
    """Return whether the letter of a page is drawn in a font with another box than that of the stand-in."""
    with pypdfium2.PdfDocument(path) as document:
        text = document[0].get_textpage()
        left, bottom, right, top = text.get_charbox(0)
    return abs(right - left - 16) > 0.5 or abs(top - bottom - 8) > 0.5
