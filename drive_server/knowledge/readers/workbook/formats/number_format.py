"""Numbers as a cell shows them by its number format.

Own code: the packages for it are wrong or slow. `xlfmt` 0.1.0 shows 9 December 2025 by `dd.mm.yyyy` as 09122025 and
takes 50 to 110 microseconds a number; this takes 2 to 13 (`python -m benchmarks.search.number_formats`).
"""

from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal

from drive_server.knowledge.readers.workbook.formats.dates import date_text, is_date, is_duration
from drive_server.knowledge.readers.workbook.formats.digits import Renderer, digits_renderer, general
from drive_server.knowledge.readers.workbook.formats.sections import Section, sections_of

FormatKind = Literal["number", "date", "duration"]
GENERAL: Final = "General"
_DATE, _MOMENT = "yyyy-mm-dd", "yyyy-mm-dd h:mm"
BUILT_IN: Final = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    5: '"$"#,##0_);("$"#,##0)',
    6: '"$"#,##0_);("$"#,##0)',
    7: '"$"#,##0.00_);("$"#,##0.00)',
    8: '"$"#,##0.00_);("$"#,##0.00)',
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    37: "#,##0_);(#,##0)",
    38: "#,##0_);(#,##0)",
    39: "#,##0.00_);(#,##0.00)",
    40: "#,##0.00_);(#,##0.00)",
    41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)',
    42: '_("$"* #,##0_);_("$"* (#,##0);_("$"* "-"_);_(@_)',
    43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
    44: '_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)',
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    49: "@",
    **dict.fromkeys((14, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58), _DATE),
    **dict.fromkeys((32, 33, 34, 35, 55, 56), "h:mm:ss"),
    22: _MOMENT,
}
"""Formats without a code in the file (ECMA-376 part 1, section 18.8.30). A date that depends on the reader's language
and country, as 14 does, is shown as ISO 8601 has it."""


class NumberFormat:
    """A number format, ready to show numbers and texts. `kind` is that of its first section."""

    def __init__(self, code: str) -> None:
        sections = sections_of(code)
        is_text = len(sections) == 4 or sections[-1].has("text")
        self._text = sections.pop() if is_text and (len(sections) > 1 or sections[0].has("text")) else None
        self._sections = sections or [Section([("general", "")])]
        self._has_conditions = any(section.condition for section in self._sections)
        self._renderers: list[Renderer | None] = [
            None if is_date(section) else digits_renderer(section) for section in self._sections
        ]
        first = self._sections[0]
        self.kind: FormatKind = "duration" if is_duration(first) else "date" if is_date(first) else "number"

    def show(self, number: Decimal) -> str:
        """Return the text of a number; of a date, `number` is its serial number counted from 1900."""
        place, is_absolute = self._choose(number)
        render = self._renderers[place]
        if render is None:
            return self._date(place, number, is_absolute=is_absolute)
        text = render(abs(number))
        if number < 0 and not is_absolute and any(sign in "123456789" for sign in text):
            text = f"-{text.lstrip()}"
        return " ".join(text.split()) if " " in text else text

    def show_text(self, text: str) -> str:
        """Return a text as the format shows it."""
        if self._text is None:
            return text
        return "".join(text if kind in ("text", "general") else own for kind, own in self._text.tokens)

    def _date(self, place: int, number: Decimal, *, is_absolute: bool) -> str:
        section = self._sections[place]
        if number < 0 and section.has("elapsed"):
            return f"{'' if is_absolute else '-'}{date_text(section, -number)}"
        return " ".join((date_text(section, number) or general(number)).split())

    def _choose(self, number: Decimal) -> tuple[int, bool]:
        """Return the section for a number, and whether it says itself that a number is negative."""
        sections = self._sections
        if len(sections) == 1 and not self._has_conditions:
            return 0, False
        if self._has_conditions:
            place = next((place for place, one in enumerate(sections) if _admits(one, place, number)), -1)
            condition = sections[place].condition
            is_absolute = condition is not None and condition[0] in ("<", "<=") and condition[1] <= 0
            return place % len(sections), is_absolute or (place == 1 and condition is None)
        if number < 0 and len(sections) > 1:
            return 1, True
        return (2, False) if number == 0 and len(sections) > 2 else (0, False)


def _admits(section: Section, place: int, number: Decimal) -> bool:
    if section.condition is None and place == 0:
        return number > 0
    return section.admits(number)


@lru_cache(maxsize=4096)
def number_format(code: str) -> NumberFormat:
    """Return the format of a code."""
    return NumberFormat(code)
