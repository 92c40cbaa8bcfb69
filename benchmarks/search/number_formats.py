"""Microseconds to show a number by its format, beside the package xlfmt if it is installed.

Run: python -m benchmarks.search.number_formats
"""

from __future__ import annotations

import time
from decimal import Decimal
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from drive_server.knowledge.readers.workbook.formats.number_format import number_format

if TYPE_CHECKING:
    from collections.abc import Callable

CODES = ("General", "0.00", "#,##0.00", "0.0%", "000-000", "dd.mm.yyyy", "[h]:mm")
NUMBERS = [Decimal(number) + Decimal("0.517") for number in range(5_000)]


def microseconds(show: Callable[[Decimal], str]) -> float:
    start = time.perf_counter()
    for number in NUMBERS:
        show(number)
    return (time.perf_counter() - start) / len(NUMBERS) * 1e6


def main() -> None:
    other = import_module("xlfmt").format_value if find_spec("xlfmt") else None
    for code in CODES:
        shown = number_format(code)
        line = f"{code:12} {microseconds(shown.show):6.1f} us  {shown.show(Decimal(46000))}"
        if other is not None:
            line += f"   xlfmt {microseconds(lambda number: other(number, code)):6.1f} us  {other(46000, code)}"  # noqa: B023
        print(line)


if __name__ == "__main__":
    main()
