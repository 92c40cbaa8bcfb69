"""Extraction by type, in MB of files a second: ours, the bare parser, and markitdown, on the same files in one run.

`python -m benchmarks.extraction`; markitdown comes with the extra `bench`.
"""

import io
import time
from collections.abc import Callable, Mapping, Sequence
from email.message import EmailMessage
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import docx
import openpyxl
import pypdfium2
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a compiled module without stubs
from pptx import Presentation
from python_calamine import CalamineWorkbook
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate

from benchmarks.table import print_table
from drive_server.knowledge.extract import extract

PARAGRAPHS = 2_000
PDF_PARAGRAPHS = 100  # markitdown takes seconds for a page
WORDS = "Parents may stay at home for twelve weeks after their child is born; the request has to be made before. "
WORDS_ZH = "员工可以休十二周的带薪育儿假，需要提前三十天申请，并得到主管的批准。"
LEAST_SECONDS = 0.3
_Read = Callable[[Path], object]


def texts() -> list[str]:
    """Return paragraphs in English and Chinese, each of its own."""
    return [f"{number}. {(WORDS, WORDS_ZH)[number % 2] * 3}" for number in range(PARAGRAPHS)]


def write_files(folder: Path) -> None:
    """Write one file of each type, with much the same words."""
    plain = "\n\n".join(texts())
    (folder / "a.txt").write_text(plain, encoding="utf-8")
    (folder / "a.md").write_text("# Leave\n\n" + plain, encoding="utf-8")
    (folder / "a.csv").write_text("number,text\n" + plain.replace(". ", ",").replace("\n\n", "\n"), encoding="utf-8")
    page = "".join(f"<h2>{number}</h2><p>{text}</p>" for number, text in enumerate(texts()))
    (folder / "a.html").write_text(f"<html><body>{page}</body></html>", encoding="utf-8")
    _write_office(folder)
    story: list[Any] = [Paragraph(WORDS * 3, getSampleStyleSheet()["BodyText"]) for _ in range(PDF_PARAGRAPHS)]
    SimpleDocTemplate(str(folder / "a.pdf")).build(story)
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@example.com", "b@example.com", "育儿假"
    mail.set_content(plain)
    (folder / "a.eml").write_bytes(bytes(mail))


def _write_office(folder: Path) -> None:
    document, deck, book = docx.Document(), Presentation(), openpyxl.Workbook()
    sheet: Any = book.active
    for number, text in enumerate(texts()):
        if number % 20 == 0:
            document.add_heading(f"Chapter {number}", 1)
            slide: Any = deck.slides.add_slide(deck.slide_layouts[1])
            slide.shapes.title.text = f"Chapter {number}"
            slide.placeholders[1].text = "\n".join(texts()[number : number + 20])
        document.add_paragraph(text)
        sheet.append([number, text, number / 7])
    document.save(str(folder / "a.docx"))
    deck.save(str(folder / "a.pptx"))
    book.save(folder / "a.xlsx")


def bare_parsers() -> Mapping[str, _Read]:
    """Return, by suffix, what only the parser's own way to the words takes."""
    return {
        ".txt": lambda path: path.read_text(encoding="utf-8"),
        ".html": _bare_html,
        ".docx": lambda path: [paragraph.text for paragraph in docx.Document(str(path)).paragraphs],
        ".pptx": _bare_pptx,
        ".xlsx": lambda path: CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0).to_python(),
        ".pdf": _bare_pdf,
    }


def _bare_html(path: Path) -> object:
    root: Any = etree.HTML(path.read_bytes())
    return "".join(root.itertext())


def _bare_pptx(path: Path) -> object:
    shapes: list[Any] = [shape for slide in Presentation(str(path)).slides for shape in slide.shapes]
    return [shape.text_frame.text for shape in shapes if shape.has_text_frame]


def _bare_pdf(path: Path) -> object:
    with pypdfium2.PdfDocument(path) as document:
        return [document[number].get_textpage().get_text_range() for number in range(len(document))]


def markitdown_reader() -> _Read | None:
    """Return markitdown's way to read a file, None where it is not installed."""
    try:
        module: Any = import_module("markitdown")
    except ImportError:
        return None
    converter: Any = module.MarkItDown()

    def read(path: Path) -> object:
        return converter.convert_stream(io.BytesIO(path.read_bytes()), file_extension=path.suffix)

    return read


def megabytes_a_second(read: _Read | None, path: Path) -> str:
    """Return the best of some readings, in CPU time; a dash for no reader, and the error of one that fails."""
    if read is None:
        return "-"
    best = total = 0.0
    while total < LEAST_SECONDS:
        start = time.process_time()
        try:
            read(path)
        except Exception as error:  # noqa: BLE001 - others' errors are a result here
            return type(error).__name__
        seconds = max(time.process_time() - start, 1e-6)
        best, total = max(best, path.stat().st_size / 1e6 / seconds), total + seconds
    return f"{best:.3g}"


def rows_of(folder: Path) -> Sequence[Sequence[str]]:
    """Measure every file of a folder, after one reading that loads its libraries."""
    bare, other = bare_parsers(), markitdown_reader()
    rows: list[list[str]] = []
    for path in sorted(folder.iterdir()):
        extraction = extract(path, path.name, "")
        assert extraction.state == "ready", extraction.reason
        size = f"{path.stat().st_size / 1e6:.2f}"
        readers: Sequence[_Read | None] = (lambda one: extract(one, one.name, ""), bare.get(path.suffix), other)
        rows.append([path.suffix[1:], size, *(megabytes_a_second(read, path) for read in readers)])
    return rows


def main() -> None:
    """Make the files and print the table."""
    with TemporaryDirectory() as folder:
        write_files(Path(folder))
        header = ("type", "MB", "ours", "bare parser", "markitdown")
        print_table("Extraction, MB of file a CPU second", header, rows_of(Path(folder)))


if __name__ == "__main__":
    main()
