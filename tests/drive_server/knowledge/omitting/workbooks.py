from __future__ import annotations

import io
import re
import struct
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import xlsxwriter
import xlwt

from tests.drive_server.knowledge.binary_workbook import xls_of, xlsb_of
from tests.drive_server.knowledge.documents import opendocument, picture
from tests.drive_server.knowledge.samples import zip_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.drive_server.knowledge.omitting import Samples


def _written(fill: Callable[[Any], object]) -> bytes:
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        sheet = book.add_worksheet("Costs")
        sheet.write("A1", 5)
        fill(sheet)
    return file.getvalue()


def _never_calculated() -> tuple[str, bytes]:
    return "costs.xlsx", _written(lambda sheet: sheet.write_formula("B1", "=A1*2"))


def _with_a_picture() -> tuple[str, bytes]:
    image = io.BytesIO(picture(60, 60))
    return "costs.xlsx", _written(lambda sheet: sheet.insert_image("C3", "logo.png", {"image_data": image}))


def _changed(pattern: bytes, new: bytes, entry: str) -> bytes:
    with ZipFile(io.BytesIO(_written(lambda sheet: sheet.write("B1", 7)))) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    parts[entry] = re.sub(pattern, new, parts.get(entry, b""))
    return zip_of(parts)


def _with_a_lost_sheet() -> tuple[str, bytes]:
    lost = rb'\1<sheet name="Lost" sheetId="9" r:id="rId99"/>'
    return "costs.xlsx", _changed(rb"(<sheets>)", lost, "xl/workbook.xml")


def _with_an_embedded_file() -> tuple[str, bytes]:
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/oleObject"
    relation = f'<Relationship Id="rId1" Type="{kind}" Target="../embeddings/oleObject1.bin"/>'
    with ZipFile(io.BytesIO(_written(lambda sheet: sheet.write("B1", 7)))) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    parts["xl/worksheets/_rels/sheet1.xml.rels"] = f'<Relationships xmlns="{space}">{relation}</Relationships>'.encode()
    parts["xl/embeddings/oleObject1.bin"] = b"data"
    return "costs.xlsx", zip_of(parts)


def _with_too_many_equal_rows() -> tuple[str, bytes]:
    cell = "<table:table-cell><text:p>same</text:p></table:table-cell>"
    rows = f'<table:table-row table:number-rows-repeated="30000">{cell}</table:table-row>'
    body = f'<office:spreadsheet><table:table table:name="T">{rows}</table:table></office:spreadsheet>'
    return "same.ods", opendocument(body, "spreadsheet")


def _binary_with_an_error() -> tuple[str, bytes]:
    return "costs.xlsb", xlsb_of({(0, 0): 5, (1, 0): None})


def _binary_with_comments() -> tuple[str, bytes]:
    return "costs.xlsb", xlsb_of({(0, 0): 5}, comments=2)


def _old_never_calculated() -> tuple[str, bytes]:
    book = xlwt.Workbook()
    sheet = book.add_sheet("Costs")
    sheet.write(0, 0, 5)
    sheet.write(0, 1, xlwt.Formula("A1*2"))
    file = io.BytesIO()
    book.save(file)
    return "costs.xls", file.getvalue()


def _old_with_an_object(kind: int) -> tuple[str, bytes]:
    return "costs.xls", xls_of((0x5D, struct.pack("<HHHHHIII", 0x15, 0x12, kind, 1, 0x6011, 0, 0, 0) + bytes(4)))


def _old_that_only_calamine_reads() -> tuple[str, bytes]:
    error = (0x205, struct.pack("<HHHBB", 2, 1, 0, 7, 1))
    return "costs.xls", xls_of(error, (0x5D, b"\x15"))


SAMPLES: Samples = {
    "sheets": {
        "cell": _with_too_many_equal_rows,
        "embedded": _with_an_embedded_file,
        "comment": _binary_with_comments,
        "error": _binary_with_an_error,
        "formula": _never_calculated,
        "picture": _with_a_picture,
        "sheet": _with_a_lost_sheet,
    },
    "xls": {
        "chart": lambda: _old_with_an_object(5),
        "drawing": lambda: _old_with_an_object(6),
        "error": _old_that_only_calamine_reads,
        "formula": _old_never_calculated,
        "picture": lambda: _old_with_an_object(8),
    },
}
