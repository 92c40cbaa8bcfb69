"""Numbers as people write them in English and Chinese, as exact decimals with their currency or percent sign. Pure."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal

Mark = Literal[".", ","]
"""The decimal mark."""

_UNITS: Final = {
    "$": "$ us$ usd 美元 美金 dollar dollars",
    "CNY": "¥ rmb cny cnh 人民币 元 圆 块",
    "EUR": "€ eur euro euros 欧元",
    "GBP": "£ gbp 英镑",
    "JPY": "jpy jp¥ 円 日元",
    "HKD": "hk$ hkd 港元 港币",
    "TWD": "nt$ twd 新台币 台币",
    "KRW": "₩ krw 韩元",
    "INR": "₹ inr rs rs.",
    "CHF": "chf sfr",
    "AUD": "a$ aud 澳元",
    "CAD": "c$ ca$ cad 加元",
    "SGD": "s$ sgd 新加坡元",
    "SEK": "sek",
    "NOK": "nok",
    "DKK": "dkk",
    "RUB": "₽ rub",
    "BRL": "r$ brl",
    "%": "%",
}
_UNIT_OF: Final = {sign: unit for unit, signs in _UNITS.items() for sign in signs.split()}
_SIGNS: Final = "|".join(re.escape(sign) for sign in sorted(_UNIT_OF, key=len, reverse=True))
_POWERS: Final = {"": 0, "百": 2, "千": 3, "万": 4, "萬": 4, "百万": 6, "千万": 7, "亿": 8, "億": 8, "万亿": 12}
_POWER: Final = "|".join(sorted(_POWERS, key=len, reverse=True))
_WRITTEN: Final = re.compile(
    rf"(?P<sign>[-+])?\s*(?P<before>{_SIGNS})?\s*(?P<open>\()?\s*(?P<inner>{_SIGNS})?\s*(?P<inner_sign>[-+])?\s*"
    rf"(?P<body>[\d.,' ]*\d)\s*(?P<power>{_POWER})\s*(?P<after>{_SIGNS})?[整正]?\s*(?P<close>\))?",
    re.IGNORECASE,
)
_MINUS: Final = str.maketrans({"−": "-", "–": "-", "﹣": "-", "’": "'"})
_LONGEST: Final = 60
_MAX_DIGITS: Final = 28
"""The digits that Python's decimals calculate with."""
_DASHES: Final = frozenset({"", "-", "--", "—", "–", "/"})
_EMPTY: Final = _DASHES | {"n/a", "na", "nil", "none", "null", "无", "暂无", "空"}
_MAX_EMPTY: Final = 8
_GROUPED: Final = {
    ".": re.compile(
        r"[1-9]\d{0,2}(?:(?:,\d{3})+|(?:'\d{3})+|(?: \d{3})+)(?:\.\d+)?|[1-9]\d?(?:,\d\d)+,\d{3}(?:\.\d+)?"
    ),
    ",": re.compile(r"[1-9]\d{0,2}(?:(?:\.\d{3})+|(?:'\d{3})+|(?: \d{3})+)(?:,\d+)?"),
}
_USUAL: Final = re.compile(
    r"(-?)([$€£]?)(?:(\d+)|((?:\d+|[1-9]\d{0,2}(?:,\d{3})+)\.(?:\d\d?|\d{4,})|[1-9]\d{0,2}(?:,\d{3})+\.\d{3}))"
    r"(%?)",
    re.ASCII,
)
"""Most numbers of most tables: digits alone, or such as only a decimal point explains."""
_PLAIN: Final = {".": re.compile(r"\d+(?:\.\d+)?|\.\d+"), ",": re.compile(r"\d+(?:,\d+)?|,\d+")}


@dataclass(frozen=True, slots=True)
class Number:
    """An exact number, and its currency or `%`; empty without one."""

    value: Decimal
    unit: str = ""


def is_blank(text: str) -> bool:
    """Say whether a cell says that there is nothing: empty, a dash, n/a, 无."""
    return len(text) <= _MAX_EMPTY and text.strip().lower() in _EMPTY


def is_dash(text: str) -> bool:
    """Say whether a cell holds nothing, or a sign for nothing."""
    return text.strip() in _DASHES


def read_number(text: str, mark: Mark) -> Number | None:
    """Return the number that a text writes with this decimal mark; None if it writes none."""
    if len(text) > _LONGEST:
        return None
    match = _WRITTEN.fullmatch(unicodedata.normalize("NFKC", text.strip()).translate(_MINUS))
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    units = {_UNIT_OF[sign.lower()] for sign in (match["before"], match["inner"], match["after"]) if sign}
    body = match["body"].strip()
    if len(units) > 1 or not (_PLAIN[mark].fullmatch(body) or _GROUPED[mark].fullmatch(body)):
        return None
    digits = "".join("." if sign == mark else sign for sign in body if sign.isdigit() or sign == mark)
    if len(digits) > _MAX_DIGITS:
        return None
    value = Decimal(digits).scaleb(_POWERS[match["power"]])
    signs = [sign for sign in (match["sign"], match["inner_sign"]) if sign]
    if len(signs) > 1 or (signs and match["open"]):
        return None
    is_negative = bool(match["open"]) or "-" in signs
    return Number(-value if is_negative else value, next(iter(units), ""))


Readings = tuple[Number | None, Number | None]
"""The number that a text writes with a decimal point, and the one with a decimal comma."""


@lru_cache(maxsize=10_000)
def readings(text: str) -> Readings:
    """Return the number that a text writes with a decimal point, and the one with a decimal comma."""
    if (match := _USUAL.fullmatch(text)) and len(text) <= _MAX_DIGITS and not (match[2] and match[5]):
        sign, before, whole, pointed, after = match.groups()
        unit = _UNIT_OF[before or after] if before or after else ""
        number = Number(Decimal(sign + (whole or pointed.replace(",", ""))), unit)
        return number, number if whole else None
    if text.isalpha() or not any(map(str.isdigit, text)):
        return None, None
    return read_number(text, "."), read_number(text, ",")


def mark_of(pairs: Iterable[Readings]) -> Mark | Literal["both"] | None:
    """Return the decimal mark that numbers show: None if none does, `both` if some differ."""
    found: set[Mark] = set()
    for point, comma in pairs:
        if (point is None) != (comma is None):
            found.add("." if point else ",")
    return "both" if len(found) > 1 else next(iter(found), None)


def differing(units: Iterable[str]) -> str:
    """Return the units as people read them if their numbers can't be taken together.

    A number without a unit may be of any currency, and is no percentage.
    """
    found = set(units)
    named = found - {""}
    return ", ".join(unit or "-" for unit in sorted(found)) if len(named) > 1 or ("%" in named and "" in found) else ""


def is_ambiguous(text: str) -> bool:
    """Say whether the text is one number with a decimal point and another one with a decimal comma: `1.234`."""
    point, comma = readings(text)
    return point is not None and comma is not None and point != comma
