"""Blocks of text that stand beside each other, such as two addresses, told from the columns of a table. Pure.

A column of a table has values of one kind below its head. The lines of an address are of several kinds: names without
digits, a street with a number, a place with a code.
"""

import re
from collections.abc import Sequence
from typing import Final

from drive_server.knowledge.readers.pages.paragraphs import Line

_MAX_COLUMNS: Final = 3
_ROWS: Final = range(3, 9)
_HEAD: Final = re.compile(
    r"(?:bill(?:ed)?|ship(?:ped)?|sold|deliver(?:ed)?|send|invoiced?)\s+(?:to|from)|(?:billing|shipping|delivery|postal|"
    r"invoice|mailing|home|work)\s+address|from|to|sender|recipient|buyer|seller|vendor|supplier|customer|tenant|landlord|"
    r"甲方|乙方|买方|卖方|发件人|收件人|寄件人|账单地址|收货地址|送货地址",
    re.IGNORECASE,
)
_STREET: Final = re.compile(
    r"(?:\b(?:street|st|road|rd|lane|ln|avenue|ave|drive|dr|court|square|sq|way|boulevard|blvd|quay|terrace|close|rue|"
    r"place|via|piazza|calle|avenida|rua|p\.?\s?o\.?\s?box|postfach)\b|(?:stra(?:ß|ss)e|str\.|weg|platz|gasse|allee)\b|[路街巷号號])",
    re.IGNORECASE,
)
_CODE: Final = re.compile(
    r"(?:[A-Z]{1,2}-)?\d{4,6}\s+[^\W\d_][^\d]*|[^\d]*[^\W\d_],?\s+[A-Z]{2}\s+\d{5}(?:-\d{4})?|"
    r"(?:[^\d]*\s)?[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}"
)
_VALUE: Final = re.compile(r"[^\w]*[\d.,:/%€$£¥+\s-]+[^\w]*")


def are_blocks(columns: Sequence[Sequence[Line]]) -> bool:
    """Return whether the columns are addresses beside each other, to be read one after the other."""
    if not 1 < len(columns) <= _MAX_COLUMNS or not all(len(column) in _ROWS for column in columns):
        return False
    return all(_is_address([piece.text.strip() for piece in column]) for column in columns)


def _is_address(lines: Sequence[str]) -> bool:
    """Return whether the lines are a name, a street or a place with a number, and another line without one."""
    if any(map(_VALUE.fullmatch, lines)):
        return False
    has_head = _HEAD.fullmatch(lines[0].rstrip(" :：")) is not None
    lines = lines[1:] if has_head else lines
    if len(lines) < 2 or _has_digits(lines[0]) or not any(map(_is_street_or_code, lines[1:])):
        return False
    return has_head or not all(map(_has_digits, lines[1:])) or _CODE.fullmatch(lines[-1]) is not None


def _is_street_or_code(line: str) -> bool:
    return _CODE.fullmatch(line) is not None or (_has_digits(line) and _STREET.search(line) is not None)


def _has_digits(text: str) -> bool:
    return any(map(str.isdecimal, text))
