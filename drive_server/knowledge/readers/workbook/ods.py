"""Spreadsheets of OpenDocument (OASIS OpenDocument 1.3 part 3, section 9): each cell has the text that it shows."""

import datetime
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from drive_server.knowledge.readers.workbook.cells import HIDDEN, Area, Cell, Row, SheetFacts, number_of
from drive_server.knowledge.readers.workbook.formats.digits import general
from drive_server.knowledge.readers.workbook.formats.number_format import number_format
from drive_server.knowledge.readers.workbook.formulas import adds_up
from drive_server.knowledge.readers.workbook.package import Package
from drive_server.knowledge.readers.workbook.values import Content, moment_content
from drive_server.knowledge.text.omissions import Omissions

CONTENT: Final = "content.xml"
_OFFICE: Final = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TABLE: Final = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT: Final = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_DRAW: Final = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_STYLE: Final = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_CELLS: Final = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_LAST_ROW, _LAST_COLUMN = 1_048_576, 16_384
_MAX_REPEATED: Final = 20_000
"""Equal cells of a row, with the rows that repeat it, that are told one by one: a few bytes may ask for billions."""
_BLANKS: Final = {f"{_TEXT}tab": " ", f"{_TEXT}line-break": " ", f"{_TEXT}s": " "}
_DURATION: Final = re.compile(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_ERROR: Final = re.compile(r"#(?:DIV/0!|N/A|NAME\?|NULL!|NUM!|REF!|VALUE!)|Err:\d{3}")
_REFERENCE: Final = re.compile(r"\[\.?([^\]]*)\]")


def ods_sheets(package: Package, omissions: Omissions) -> Iterator["OdsSheet"]:
    """Yield the sheets in their order. Raises `lxml.etree.XMLSyntaxError`, and as `Archive.read` does."""
    hidden_styles: set[str] = set()
    for element in package.elements(CONTENT, "style", "table"):
        if element.tag == f"{_STYLE}style":
            properties = element.find(f"{_STYLE}table-properties")
            if properties is not None and properties.get(f"{_TABLE}display") == "false":
                hidden_styles.add(element.get(f"{_STYLE}name", ""))
        elif element.tag == f"{_TABLE}table" and element.getparent().tag == f"{_OFFICE}spreadsheet":
            yield OdsSheet(element, omissions, is_hidden=element.get(f"{_TABLE}style-name", "") in hidden_styles)


class OdsSheet(SheetFacts):
    """A sheet of an OpenDocument spreadsheet."""

    def __init__(self, table: Any, omissions: Omissions, *, is_hidden: bool) -> None:
        super().__init__(" ".join(table.get(f"{_TABLE}name", "").split()), is_hidden)
        self._table, self._omissions = table, omissions
        self._note_columns()
        self._note_objects()

    def rows(self) -> Iterator[Row]:
        """Yield the rows with content; a row that is repeated, as often as it is."""
        number = 1
        for element in self._table.iter(f"{_TABLE}table-row"):
            if next(element.iterancestors(f"{_TABLE}table"), None) is not self._table:
                continue
            times = min(_count(element, "rows"), _LAST_ROW)
            cells = list(self._cells(element, number))
            is_hidden = element.get(f"{_TABLE}visibility", "visible") != "visible"
            told = min(times, max(1, _MAX_REPEATED // len(cells))) if cells else 0
            for repeated in range(number, number + told):
                yield Row(repeated, [_copy(cell) for cell in cells] if times > 1 else cells, is_hidden)
            self._omissions.add("cell", (times - told) * len(cells))
            number += times

    def _cells(self, row: Any, number: int) -> Iterator[Cell]:
        column = 0
        for element in row:
            if element.tag not in _CELLS:
                continue
            times = min(_count(element, "columns"), _LAST_COLUMN)
            self._note_merged(element, number, column)
            has_content = len(element) > 0 or f"{_TABLE}formula" in element.attrib or len(element.attrib) > 1
            cell = self._cell(element, column) if has_content else None
            for place in range(column, column + (times if cell is not None else 0)):
                if cell is not None:
                    copied = _copy(cell)
                    copied.column = place
                    yield copied
            column += times

    def _cell(self, element: Any, column: int) -> Cell | None:
        shown = " ".join(" ".join(map(_paragraph, element.iterfind(f"{_TEXT}p"))).split())
        formula = element.get(f"{_TABLE}formula", "")
        notes = (_note(one) for one in element.iterfind(f"{_OFFICE}annotation"))
        comment = "; ".join(note for note in notes if note)
        is_written = element.find(f"{_TEXT}p") is not None
        text, value, kind = _content(element, shown or ("" if is_written else _shown_by_type(element)))
        is_calculated = value is not None and (bool(value) or is_written)
        if formula and not is_calculated and not text.strip("0") and _type(element) != "string":
            self._omissions.add("formula")
            text, value, kind = _readable(formula), None, "formula"
        if not text and value is None and not comment:
            return None
        return Cell(column, text, value, kind, comment, is_total=bool(formula) and adds_up(_readable(formula), column))

    def _note_columns(self) -> None:
        column = 0
        for element in self._table.iter(f"{_TABLE}table-column"):
            times = min(_count(element, "columns"), _LAST_COLUMN)
            if element.get(f"{_TABLE}visibility", "visible") != "visible":
                self.hidden_columns.update(range(column, min(column + times, _LAST_COLUMN)))
            column += times

    def _note_merged(self, element: Any, number: int, column: int) -> None:
        rows, columns = (element.get(f"{_TABLE}number-{name}-spanned", "1") for name in ("rows", "columns"))
        if (rows, columns) != ("1", "1") and rows.isdecimal() and columns.isdecimal():
            area: Area = ((number - 1, column), (number - 2 + int(rows), column - 1 + int(columns)))
            self.merged.append(area)

    def _note_objects(self) -> None:
        """Note the words of text boxes; count pictures and embedded objects, of which charts are some."""
        for frame in self._table.iter(f"{_DRAW}frame"):
            kinds = {one.tag for one in frame}
            if kinds & {f"{_DRAW}object", f"{_DRAW}object-ole"}:
                self._omissions.add("embedded")
            elif f"{_DRAW}image" in kinds:
                self._omissions.add("picture")
        for shape in self._table.iter(f"{_DRAW}text-box", f"{_DRAW}custom-shape"):
            self.texts += [text for one in shape.iter(f"{_TEXT}p") if (text := _paragraph(one).strip())]


def _content(element: Any, shown: str) -> Content:
    kind = _type(element)
    if _is_error(element, shown):
        return Content(shown or "#N/A", None, "error")
    if kind in ("float", "percentage", "currency"):
        return _number(element.get(f"{_OFFICE}value", ""), shown)
    if kind == "date":
        return _dated(element.get(f"{_OFFICE}date-value", ""), shown)
    if kind == "time":
        return _duration(element.get(f"{_OFFICE}time-value", ""), shown)
    if kind == "boolean":
        return Content(shown or element.get(f"{_OFFICE}boolean-value", "").upper())
    return Content(shown or " ".join(element.get(f"{_OFFICE}string-value", "").split()))


def _shown_by_type(element: Any) -> str:
    """Return the text for a value whose program wrote none, by the type's usual format; empty for other types."""
    kind, written = _type(element), element.get(f"{_OFFICE}value", "")
    if kind == "time":
        value = _duration(element.get(f"{_OFFICE}time-value", ""), "").value
        return number_format("[h]:mm:ss").show(value) if isinstance(value, Decimal) else ""
    value = _number(written, written).value if kind in ("float", "currency", "percentage") else None
    if not isinstance(value, Decimal):
        return ""
    return f"{general(number_of(float(value * 100)))}%" if kind == "percentage" else general(value)


def _is_error(element: Any, shown: str) -> bool:
    """Say whether a cell is an error: LibreOffice says so in an attribute of its own, others only show it."""
    if any(key.endswith("}value-type") and value == "error" for key, value in element.items()):
        return True
    return bool(element.get(f"{_TABLE}formula")) and _ERROR.fullmatch(shown) is not None


def _number(written: str, shown: str) -> Content:
    try:
        number = number_of(float(written))
    except (ValueError, OverflowError):
        return Content(shown)
    return Content(shown or (f"{general(number)} {HIDDEN}" if number else ""), number, "number")


def _dated(written: str, shown: str) -> Content:
    try:
        moment = datetime.datetime.fromisoformat(written).replace(tzinfo=None)
    except ValueError:
        return Content(shown or written)
    return Content(shown or moment_content(moment, None).text, moment, "date")


def _duration(written: str, shown: str) -> Content:
    match = _DURATION.fullmatch(written)
    if match is None:
        return Content(shown or written)
    sign, days, hours, minutes, seconds = match.groups(default="0")
    total = Decimal(days) * 86_400 + Decimal(hours) * 3600 + Decimal(minutes) * 60 + Decimal(seconds)
    number = number_of(float(total / 86_400)) * (-1 if sign == "-" else 1)
    return Content(shown or written, number, "duration")


def _type(element: Any) -> str:
    return element.get(f"{_OFFICE}value-type", "")


def _count(element: Any, name: str) -> int:
    written = element.get(f"{_TABLE}number-{name}-repeated", "1")
    return max(1, int(written)) if written.isdecimal() and len(written) < 10 else 1


def _readable(formula: str) -> str:
    """Return a formula without the prefix of its language and the marks of its references."""
    return f"={_REFERENCE.sub(lambda match: match[1].replace(':.', ':'), formula.partition('=')[2] or formula)}"


def _note(annotation: Any) -> str:
    return " ".join(" ".join(_paragraph(one) for one in annotation.iter(f"{_TEXT}p")).split())


def _paragraph(element: Any) -> str:
    pieces = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str):
            is_foreign = child.tag.startswith((_DRAW, _OFFICE))
            pieces.append(_BLANKS.get(child.tag, "") if child.tag in _BLANKS or is_foreign else _paragraph(child))
        pieces.append(child.tail or "")
    return "".join(pieces)


def _copy(cell: Cell) -> Cell:
    return Cell(cell.column, cell.text, cell.value, cell.kind, cell.comment, cell.is_total)
