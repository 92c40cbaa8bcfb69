"""Names of the elements of WordprocessingML, and how their values are looked up."""

from collections.abc import Iterator
from typing import Any, Final

W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
PARAGRAPH, TABLE, ROW, CELL = f"{W}p", f"{W}tbl", f"{W}tr", f"{W}tc"
BOX: Final = f"{W}txbxContent"
HOLDERS: Final = frozenset(
    f"{W}{name}"
    for name in ("sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo", "footnote", "endnote", "comment")
)
"""Elements around paragraphs, tables, rows or cells that only say something about them, or hold a note."""


def value(element: Any, default: str = "") -> str:
    """Return the `w:val` of an element; the default if there is no element or no value."""
    return default if element is None else element.get(f"{W}val", default)


def number(element: Any, default: int = 0) -> int:
    """Return the `w:val` of an element as a number; the default if it is none."""
    text = value(element)
    return int(text) if text.removeprefix("-").isdecimal() else default


def is_on(element: Any) -> bool:
    """Return whether a property is there and isn't switched off (section 17.17.4)."""
    return element is not None and element.get(f"{W}val", "true").lower() not in ("0", "false", "off")


def held(element: Any, tag: str) -> Iterator[Any]:
    """Yield the children of a kind, also those within content controls and the like."""
    waiting = list(reversed(element))
    while waiting:
        child = waiting.pop()
        if child.tag == tag:
            yield child
        elif child.tag in HOLDERS:
            waiting.extend(reversed(child))
