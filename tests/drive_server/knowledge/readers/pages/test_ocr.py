"""Words in pictures, read by the real models. `scan.png` is a page in both languages, turned by 0.6 degrees."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pypdfium2
import pytest
from PIL import ExifTags, Image
from reportlab.pdfgen import canvas

from drive_server.knowledge.readers.extract import extract
from drive_server.knowledge.readers.pages import scans
from drive_server.knowledge.readers.pages.ocr import recognize_lines
from drive_server.knowledge.readers.pages.paragraphs import Line
from drive_server.knowledge.readers.pages.scans import recognize
from drive_server.knowledge.readers.recognized import Pages, awaits_ocr, with_recognized
from drive_server.knowledge.text.elements import Part
from tests.drive_server.knowledge import documents, samples

if TYPE_CHECKING:
    from drive_server.knowledge.text.elements import Extraction, Recognized

SCAN = Path(__file__).parent / "scan.png"


def read(folder: Path, name: str, data: bytes) -> Extraction:
    path = folder / "blob"
    path.write_bytes(data)
    extraction = extract(path, name, "")
    assert str(folder) not in extraction.reason
    return extraction


def pages_of(recognized: Recognized) -> Pages:
    return {page.number: page.parts for page in recognized.pages}


def scanned(pages: str) -> bytes:
    """A PDF with a page for each letter: `e` English as a picture, `t` text, `b` blank."""
    with pypdfium2.PdfDocument(samples.pdf()) as source:
        picture = source[0].render(scale=2.5).to_pil()  # pyright: ignore[reportArgumentType] - any number
    file = io.BytesIO()
    drawing = canvas.Canvas(file, invariant=1)
    for letter in pages:
        if letter == "e":
            drawing.drawInlineImage(picture, 0, 0, 595, 842)
        elif letter == "t":
            drawing.drawString(72, 700, "This page has text of its own.")
        drawing.showPage()
    drawing.save()
    return file.getvalue()


def fake_lines(picture: Image.Image) -> tuple[Line, ...]:
    return (Line(f"{picture.width} by {picture.height}", 10, 200, picture.height - 40, 20),)


@pytest.mark.timeout(300)
def test_a_scan_in_chinese_and_english_is_read_word_by_word(tmp_path: Path) -> None:
    extraction = read(tmp_path, "scan.png", SCAN.read_bytes())
    assert (extraction.state, awaits_ocr(extraction.state, extraction.omissions)) == ("needs_ocr", True)
    recognized = recognize(SCAN, "scan.png", "", after=0, seconds=300)
    assert recognized.is_complete
    done = with_recognized(extraction, pages_of(recognized))
    expected = [
        "员工每年有二十八天带薪年假。",
        "申请须提前三十天提交给人事部门。",
        "Rent: 1,250.00 EUR a month, due on the 3rd.",
    ]
    assert [element.text for element in done.elements] == expected
    assert (done.state, done.reason, done.omissions) == ("ready", "", {})


@pytest.mark.timeout(300)
@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_page_that_lies_on_its_head_or_side_is_read(degrees: int) -> None:
    with Image.open(SCAN) as scan:
        lines = recognize_lines(scan.convert("RGB").rotate(degrees, expand=True))
    assert [line.text for line in lines][0::2] == [
        "员工每年有二十八天带薪年假。",
        "Rent: 1,250.00 EUR a month, due on the 3rd.",
    ]


@pytest.mark.timeout(300)
def test_the_scanned_pages_of_a_pdf_are_read_in_their_places(tmp_path: Path) -> None:
    extraction = read(tmp_path, "scan.pdf", scanned("etb"))
    assert (extraction.state, extraction.text) == ("ready", "This page has text of its own.")
    assert extraction.reason == "Not read: 1 page waiting for OCR."
    done = with_recognized(extraction, pages_of(recognize(tmp_path / "blob", "scan.pdf", "", after=0, seconds=300)))
    assert {element.page for element in done.elements if "twelve weeks after their child" in element.text} == {1}
    assert done.elements[-1].text == "This page has text of its own."
    assert (done.state, done.reason) == ("ready", "")


def test_pages_are_read_some_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans, "recognize_lines", fake_lines)
    extraction = read(tmp_path, "scan.pdf", scanned("ebee"))
    assert extraction.state == "needs_ocr"
    found: list[int] = []
    complete = False
    while not complete:
        some = recognize(tmp_path / "blob", "scan.pdf", "", after=max(found, default=0), seconds=0)
        found += [page.number for page in some.pages]
        complete = some.is_complete
    assert found == [1, 3, 4]


def test_a_huge_page_is_drawn_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans, "recognize_lines", fake_lines)
    file = io.BytesIO()
    drawing = canvas.Canvas(file, pagesize=(14_000, 14_000))
    drawing.rect(0, 0, 5000, 5000, fill=1)
    drawing.save()
    (tmp_path / "blob").write_bytes(file.getvalue())
    ((_, parts),) = pages_of(recognize(tmp_path / "blob", "poster.pdf", "", after=0, seconds=60)).items()
    assert parts
    width, height = map(int, parts[0].text.split(" by "))
    assert width * height <= 12_100_000


def test_all_pages_of_a_tiff_are_read_and_a_photo_stands_upright(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scans, "recognize_lines", fake_lines)
    frames = [Image.new("L", (200, 100)), Image.new("L", (100, 300))]
    frames[0].save(tmp_path / "fax.tiff", save_all=True, append_images=frames[1:])
    found = pages_of(recognize(tmp_path / "fax.tiff", "fax.tiff", "", after=0, seconds=60))
    assert {number: parts and parts[0].text for number, parts in found.items()} == {1: "200 by 100", 2: "100 by 300"}
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    frames[0].save(tmp_path / "photo.jpg", exif=exif)
    ((_, parts),) = pages_of(recognize(tmp_path / "photo.jpg", "photo.jpg", "", after=0, seconds=60)).items()
    assert parts
    assert parts[0].text == "100 by 200"


def test_an_image_without_words_ends_ready_and_empty(tmp_path: Path) -> None:
    extraction = read(tmp_path, "blank.png", documents.picture(300, 200))
    done = with_recognized(extraction, {1: []})
    assert (done.state, done.text, done.reason) == ("ready", "", "")


def test_a_page_that_ocr_could_not_read_is_counted(tmp_path: Path) -> None:
    extraction = read(tmp_path, "scan.pdf", scanned("et"))
    done = with_recognized(extraction, {1: None})
    assert (done.state, done.text) == ("ready", "This page has text of its own.")
    assert (done.reason, done.omissions) == ("Not read: 1 page.", {"page": 1})
    both = with_recognized(read(tmp_path, "scan.pdf", scanned("ee")), {1: [Part("text", "words", 1)], 2: None})
    assert (both.state, both.text, both.reason) == ("ready", "words", "Not read: 1 page.")


def photo(taken: str, latitude: object, longitude: object) -> bytes:
    exif = Image.Exif()
    exif[ExifTags.Base.Make], exif[ExifTags.Base.Model] = "Canon", "Canon EOS R6"
    exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.DateTimeOriginal] = taken
    position: Any = {ExifTags.GPS.GPSLatitude: latitude, ExifTags.GPS.GPSLongitude: longitude}
    exif.get_ifd(ExifTags.IFD.GPSInfo).update(position)
    exif.get_ifd(ExifTags.IFD.GPSInfo).update({ExifTags.GPS.GPSLatitudeRef: "S", ExifTags.GPS.GPSLongitudeRef: "E"})
    file = io.BytesIO()
    Image.new("RGB", (64, 64)).save(file, "JPEG", exif=exif)
    return file.getvalue()


def test_a_photo_tells_when_and_where_it_was_taken(tmp_path: Path) -> None:
    extraction = read(tmp_path, "photo.jpg", photo("2019:07:14 12:30:05", (33.0, 51.0, 31.2), (151.0, 12.0, 36.0)))
    expected = {"taken_at": "2019-07-14 12:30:05", "place": "-33.85867, 151.21000", "camera": "Canon EOS R6"}
    assert extraction.properties == expected
    done = with_recognized(extraction, {1: []})
    assert (done.reason, done.properties) == ("", expected)
    assert "Taken: 2019-07-14 12:30:05" in done.text


def test_properties_that_are_not_as_the_standard_has_them_are_left_out(tmp_path: Path) -> None:
    extraction = read(tmp_path, "photo.jpg", photo("0000:00:00 00:00:00", (91.0, 99.0, 0.0), (151.0, 0.0, 0.0)))
    assert extraction.properties == {"camera": "Canon EOS R6"}
