"""Workbooks of Office Open XML (xlsx, xlsm, xltx): their sheets, by relationships."""

from collections.abc import Iterator
from typing import Any, Final

from drive_server.knowledge.readers.workbook.cells import Row, Sheet, SheetFacts
from drive_server.knowledge.readers.workbook.package import Package, relation_id
from drive_server.knowledge.readers.workbook.xlsx_objects import object_texts
from drive_server.knowledge.readers.workbook.xlsx_sheet import Book, XlsxSheet
from drive_server.knowledge.readers.workbook.xlsx_styles import number_formats, shared_texts
from drive_server.knowledge.text.omissions import Omissions

_TRUE: Final = ("1", "true", "on")
_CHART_SHEET: Final = "chartsheet"


class _ChartSheet(SheetFacts):
    """A sheet that is one chart, without cells."""

    def rows(self) -> Iterator[Row]:
        """Yield nothing."""
        return iter(())


def xlsx_sheets(package: Package, workbook: str, omissions: Omissions) -> Iterator[Sheet]:
    """Yield the sheets in their order. Raises `lxml.etree.XMLSyntaxError`, and as `Archive.read` does."""
    root = package.xml(workbook)
    parts = {one.id: one for one in package.relations(workbook)}
    book = Book(
        package,
        number_formats(package, workbook),
        shared_texts(package, workbook),
        is_1904=any(one.get("date1904") in _TRUE for one in root.iter("{*}workbookPr")),
        is_stale=_is_stale(root),
    )
    for element in root.iterfind("{*}sheets/{*}sheet"):
        relation = parts.get(relation_id(element))
        if relation is None:
            omissions.add("sheet")
            continue
        is_hidden = element.get("state", "visible") != "visible"
        name = " ".join(element.get("name", "").split())
        if relation.kind == _CHART_SHEET:
            sheet: Sheet = _ChartSheet(name, is_hidden)
        else:
            sheet = XlsxSheet(book, relation.target, name, omissions, is_hidden=is_hidden)
        sheet.texts += object_texts(package, relation.target, omissions)
        yield sheet


def _is_stale(root: Any) -> bool:
    """Say whether the workbook asks to be calculated when it is opened, so that a nought may be no result.

    XlsxWriter writes a nought for each formula, and asks for that; Excel doesn't when it has calculated.
    """
    return any(
        one.get("fullCalcOnLoad") in _TRUE or one.get("calcCompleted") in ("0", "false")
        for one in root.iter("{*}calcPr")
    )
