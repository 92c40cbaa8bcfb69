"""Formulas: those that no program has calculated, and those that add up their own column."""

import re
from typing import Any, Final

from drive_server.knowledge.text.place import column_name

_SUM: Final = re.compile(r"\b(?:SUM|SUBTOTAL)\((?:\d+,)?\$?([A-Z]{1,3})\$?(\d+):\$?([A-Z]{1,3})\$?(\d+)", re.IGNORECASE)
_LONGEST: Final = 8_192
"""The characters of a formula that Excel takes."""


class Formulas:
    """The formulas of a sheet. One that many cells share is written at the first of them only."""

    def __init__(self) -> None:
        self._shared: dict[str, tuple[str, str]] = {}

    def text(self, element: Any, place: str) -> str:
        """Return the formula of a cell, with its sign of equality, or that alone if the file doesn't have it."""
        written = (element.text or "").strip()[:_LONGEST]
        index = element.get("si")
        if index is not None and element.get("t") == "shared":
            if written:
                self._shared[index] = written, place
            elif index in self._shared:
                return _moved(*self._shared[index], place)
        return f"={written}"


def adds_up(formula: str, column: int) -> bool:
    """Say whether a formula adds up cells of its own column."""
    match = _SUM.search(formula)
    return match is not None and match[1] == match[3] == column_name(column) and match[2] != match[4]


def _moved(formula: str, origin: str, place: str) -> str:
    from openpyxl.formula.translate import Translator, TranslatorError  # takes a while to load, and few files need it

    try:
        return Translator(f"={formula}", origin).translate_formula(place)
    except (TranslatorError, ValueError):
        return f"={formula}"
