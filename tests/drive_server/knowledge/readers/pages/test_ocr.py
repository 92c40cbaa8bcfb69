"""Words in pictures, read by the real models. `scan.png` is a page in both languages, turned by 0.6 degrees."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy
import pypdfium2
import pytest
from PIL import ExifTags, Image, ImageDraw, ImageFont
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
    assert (done.recognized, both.recognized) == (0, 1)
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


def read_by_ocr(folder: Path, name: str, data: bytes) -> Extraction:
    extraction = read(folder, name, data)
    assert extraction.state == "needs_ocr"
    return with_recognized(extraction, pages_of(recognize(folder / "blob", name, "", after=0, seconds=60)))


def fax(pages: int) -> bytes:
    """A TIFF whose page `n` is 100 + `n` pixels wide, with its directory in front of each page's pixels."""
    frames = [Image.effect_noise((100 + number, 50), 40) for number in range(1, pages + 1)]
    file = io.BytesIO()
    frames[0].save(file, "TIFF", save_all=True, append_images=frames[1:])
    return file.getvalue()


def without_directory(data: bytes, page: int) -> bytes:
    """Blank the tags of a page of a TIFF; the place of the next page stays."""
    start, first, size = struct.unpack("<I", data[4:8])[0], 0, 0
    for _ in range(page):
        first, size = start + 2, 12 * struct.unpack("<H", data[start : start + 2])[0]
        start = struct.unpack("<I", data[first + size : first + size + 4])[0]
    return data[:first] + bytes(size) + data[first + size :]


@pytest.mark.parametrize(
    ("damaged", "read_pages", "reason"),
    [
        (without_directory(fax(4), 3), [1, 2, 4], "Not read: 1 page."),
        (without_directory(fax(2), 2), [1], "Not read: 1 page."),
        (fax(4)[: len(fax(4)) * 6 // 10], [1, 2], "Not read: 2 pages."),
        (fax(4)[: len(fax(4)) * 9 // 10], [1, 2, 3], "Not read: 1 page."),
        (fax(3), [1, 2, 3], ""),
    ],
)
def test_pages_of_a_tiff_are_read_whatever_damaged_ones_stand_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: bytes, read_pages: list[int], reason: str
) -> None:
    monkeypatch.setattr(scans, "recognize_lines", fake_lines)
    done = read_by_ocr(tmp_path, "fax.tiff", damaged)
    assert [element.text for element in done.elements] == [f"{100 + number} by 50" for number in read_pages]
    assert (done.state, done.reason) == ("ready", reason)


@pytest.mark.parametrize(
    ("suffix", "kind"),
    [("jpg", "JPEG"), ("png", "PNG"), ("gif", "GIF"), ("webp", "WEBP"), ("avif", "AVIF"), ("tiff", "TIFF")],
)
def test_an_image_that_is_cut_off_ends_with_its_page_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, kind: str
) -> None:
    monkeypatch.setattr(scans, "recognize_lines", fake_lines)
    file = io.BytesIO()
    Image.effect_noise((200, 100), 50).convert("RGB").save(file, kind)
    extraction = read(tmp_path, f"cut.{suffix}", file.getvalue()[: len(file.getvalue()) * 2 // 3])
    if extraction.state == "needs_ocr":
        pages = pages_of(recognize(tmp_path / "blob", f"cut.{suffix}", "", after=0, seconds=60))
        extraction = with_recognized(extraction, pages)
        assert (extraction.state, extraction.reason) == ("ready", "Not read: 1 page.")
    else:
        assert extraction.reason == "Images of this kind are not read, or the image is damaged."


@pytest.mark.parametrize(("suffix", "kind"), [("gif", "GIF"), ("png", "PNG"), ("webp", "WEBP"), ("avif", "AVIF")])
def test_the_first_frame_of_an_animation_is_read_and_the_others_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, kind: str
) -> None:
    monkeypatch.setattr(scans, "recognize_lines", fake_lines)
    done = read_by_ocr(tmp_path, f"moving.{suffix}", documents.animation(200, 100, kind))
    assert (done.text, done.reason) == ("200 by 100", "Not read: 1 further frame of an animation.")


def test_pages_behind_one_that_crashed_ocr_are_counted(tmp_path: Path) -> None:
    extraction = read(tmp_path, "fax.tiff", fax(4))
    done = with_recognized(extraction, {1: [Part("text", "words", 1)], 2: None})
    assert (done.text, done.reason) == ("words", "Not read: 3 pages.")


def words(mode: str, ground: Any, ink: Any) -> Image.Image:
    picture = Image.new(mode, (420, 80), ground)
    ImageDraw.Draw(picture).text((20, 15), "Rent 1250 EUR", ink, ImageFont.load_default(44))
    return picture


def deep(ground: int, ink: int, kind: str) -> Image.Image:
    return Image.fromarray(numpy.where(numpy.asarray(words("L", 255, 0)) > 127, ground, ink).astype(kind))


PICTURES = {
    "black on clear": words("RGBA", (0, 0, 0, 0), (0, 0, 0, 255)),
    "white on clear": words("RGBA", (0, 0, 0, 0), (255, 255, 255, 255)),
    "grey on clear": words("LA", (0, 0), (60, 255)),
    "a palette with a clear colour": words("RGBA", (0, 0, 0, 0), (0, 0, 0, 255)).quantize(4),
    "a palette": words("RGB", "white", "navy").quantize(8),
    "16 bits": deep(60_000, 20_000, "uint16"),
    "12 bits of 16": deep(4_000, 300, "uint16"),
    "fractions": deep(1, 0, "float32"),
    "CMYK": words("CMYK", (0, 0, 0, 0), (0, 0, 0, 255)),
    "one bit": words("1", 1, 0),
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
def test_words_are_read_in_pictures_of_every_depth_and_with_clear_parts(tmp_path: Path, picture: Image.Image) -> None:
    file = io.BytesIO()
    picture.save(file, "TIFF" if picture.mode in {"F", "CMYK"} else "PNG")
    assert read_by_ocr(tmp_path, "picture", file.getvalue()).text == "Rent 1250 EUR"
