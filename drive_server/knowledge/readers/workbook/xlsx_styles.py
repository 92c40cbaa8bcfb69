"""The number formats and the shared texts of a workbook (ECMA-376 part 1, sections 18.8 and 18.4)."""

import re
from typing import Any, Final

from drive_server.knowledge.readers.workbook.formats.number_format import BUILT_IN, GENERAL, NumberFormat, number_format
from drive_server.knowledge.readers.workbook.package import Package

_ESCAPED: Final = re.compile("_x([0-9A-Fa-f]{4})_")


def number_formats(package: Package, workbook: str) -> list[NumberFormat | None]:
    """Return the format of each style of cells; None for one that shows numbers as they are."""
    styles = next(iter(package.related(workbook, "styles")), None)
    if styles is None:
        return []
    root = package.xml(styles)
    codes = {one.get("numFmtId", ""): one.get("formatCode", "") for one in root.iterfind("{*}numFmts/{*}numFmt")}
    return [format_of(one.get("numFmtId", "0"), codes) for one in root.iterfind("{*}cellXfs/{*}xf")]


def format_of(number: str, codes: dict[str, str]) -> NumberFormat | None:
    """Return the format with this number: the file's own, or a built-in one."""
    code = BUILT_IN.get(int(number), "") if number in ("14", "22") else ""
    code = code or codes.get(number, "") or BUILT_IN.get(int(number) if number.isdecimal() else 0, GENERAL)
    return None if code.casefold() in ("general", "@", "") else number_format(code)


def shared_texts(package: Package, workbook: str) -> list[str]:
    """Return the texts that cells refer to by number."""
    part = next(iter(package.related(workbook, "sharedStrings")), None)
    return [] if part is None else [rich_text(one) for one in package.elements(part, "si")]


def rich_text(element: Any) -> str:
    """Return the text of runs, without the phonetic reading above them."""
    if len(element) == 1 and len(element[0]) == 0:
        return unescaped(element[0].text or "")
    pieces: list[str] = []
    for child in element:
        name = child.tag.rpartition("}")[2] if isinstance(child.tag, str) else ""
        if name == "t":
            pieces.append(child.text or "")
        elif name == "r":
            pieces += [one.text or "" for one in child.iterfind("{*}t")]
    return unescaped("".join(pieces))


def unescaped(text: str) -> str:
    """Return a text with its characters that XML can't hold (section 22.9.2.19)."""
    if "_x" not in text:
        return text
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text).encode("utf-8", "replace").decode()
