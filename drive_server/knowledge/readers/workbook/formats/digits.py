"""Numbers as the digits of a number format show them: thousands, percent, scales, exponents and fractions."""

import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from typing import Final

from drive_server.knowledge.readers.workbook.formats.sections import Section, Token

Renderer = Callable[[Decimal], str]
"""Renders the absolute value of a number."""

_PRECISION: Final = 700
_UNITS: Final = tuple(Decimal(1).scaleb(-places) for places in range(12))
_FRACTION: Final = re.compile(r"(?:([0#?]+)([^0#?/]+))?([0#?]+)\s*/\s*([0#?]+|[1-9]\d*)")
_USUAL: Final = re.compile(r"#*0|#,##0")


def general(number: Decimal) -> str:
    """Return a number without a format: all of its digits, and no exponent."""
    return f"{number:f}"


def digits_renderer(section: Section) -> Renderer:
    """Return the function that renders numbers by a section that is no date."""
    tokens, scale = _scaled(section.tokens)
    if section.has("general", "text"):
        return lambda number: "".join(general(number) if kind in ("general", "text") else text for kind, text in tokens)
    if section.has("exponent"):
        return _scientific(tokens)
    if fraction := _fraction(tokens):
        return fraction
    shown = _decimal(tokens)
    return shown if scale == 1 else lambda number: shown(number * scale)


def _scaled(tokens: Sequence[Token]) -> tuple[list[Token], Decimal]:
    """Return the tokens without commas that divide by a thousand, and the factor to multiply a number with."""
    kept: list[Token] = []
    scale = Decimal(100) ** sum(token == ("sign", "%") for token in tokens)
    for place, token in enumerate(tokens):
        if token == ("sign", ","):
            following = next((kind for kind, text in tokens[place + 1 :] if (kind, text) != ("sign", ",")), "")
            before = any(kind == "digit" for kind, _ in tokens[:place])
            if before and following != "digit":
                scale /= 1000
                continue
        kept.append(token)
    return kept, scale


def _decimal(tokens: Sequence[Token]) -> Renderer:
    point = next((place for place, token in enumerate(tokens) if token == ("sign", ".")), len(tokens))
    whole, decimals = list(tokens[:point]), list(tokens[point + 1 :])
    if not any(kind == "digit" for kind, _ in tokens):
        literal = "".join(text for _, text in tokens)
        return lambda _: literal
    is_grouped = _is_grouped(whole)
    whole = [token for token in whole if not (is_grouped and token == ("sign", ","))]
    places = sum(kind == "digit" for kind, _ in decimals)
    if usual := _usual(tokens[:point], decimals, places):
        return usual

    def render(number: Decimal) -> str:
        integral, _, fraction = f"{rounded(number, places):f}".partition(".")
        shown = _whole_digits(whole, integral.lstrip("0"), is_grouped=is_grouped)
        return shown if point == len(tokens) else f"{shown}.{_decimal_digits(decimals, fraction)}"

    return render


def _usual(whole: Sequence[Token], decimals: Sequence[Token], places: int) -> Renderer | None:
    """Return a faster function for the commonest formats: `0.00`, `#,##0.00 "kg"`."""
    first = next((place for place, (kind, _) in enumerate(whole) if kind == "digit"), None)
    if first is None or any(token != ("digit", "0") for token in decimals[:places]):
        return None
    last = max(place for place, (kind, _) in enumerate(whole) if kind == "digit")
    pattern = "".join(text for _, text in whole[first : last + 1])
    if not _USUAL.fullmatch(pattern) or (places and last + 1 < len(whole)):
        return None
    before = "".join(text for _, text in whole[:first])
    after = "".join(text for _, text in [*whole[last + 1 :], *decimals[places:]])
    written = f"{',' if ',' in pattern else ''}.{places}f"
    return lambda number: f"{before}{format(rounded(number, places), written)}{after}"


def rounded(number: Decimal, places: int) -> Decimal:
    """Round half away from zero, as spreadsheets do."""
    try:
        return number.quantize(_UNITS[places] if places < len(_UNITS) else Decimal(1).scaleb(-places), ROUND_HALF_UP)
    except InvalidOperation:  # more digits than decimals calculate with
        with localcontext() as context:
            context.prec = _PRECISION
            return number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _is_grouped(whole: Sequence[Token]) -> bool:
    commas = [place for place, token in enumerate(whole) if token == ("sign", ",")]
    digits = [place for place, (kind, _) in enumerate(whole) if kind == "digit"]
    return any(digits[0] < place < digits[-1] for place in commas) if digits else False


def _whole_digits(tokens: Sequence[Token], digits: str, *, is_grouped: bool) -> str:
    """Fill the digits in from the right; the leftmost place takes all that are left."""
    pieces: list[str] = []
    left, filled = digits, 0
    places = sum(kind == "digit" for kind, _ in tokens)
    for kind, text in reversed(tokens):
        if kind != "digit":
            pieces.append(text)
            continue
        places -= 1
        taken = left[-1:] if places else left
        left = left[: len(left) - len(taken)]
        for digit in reversed(taken or {"0": "0", "?": " "}.get(text, "")):
            pieces.append("," if is_grouped and digit != " " and filled and filled % 3 == 0 else "")
            pieces.append(digit)
            filled += 1
    return "".join(reversed(pieces))


def _decimal_digits(tokens: Sequence[Token], digits: str) -> str:
    pieces: list[str] = []
    left = digits
    for kind, text in tokens:
        if kind != "digit":
            pieces.append(text)
            continue
        digit, left = left[:1] or "0", left[1:]
        is_needed = text == "0" or digit != "0" or left.strip("0")
        pieces.append(digit if is_needed else {"?": " "}.get(text, ""))
    return "".join(pieces)


def _scientific(tokens: Sequence[Token]) -> Renderer:
    place = next(place for place, (kind, _) in enumerate(tokens) if kind == "exponent")
    mantissa, tail = _decimal(tokens[:place]), list(tokens[place + 1 :])
    sign = tokens[place][1][1]
    point = next((at for at, token in enumerate(tokens[:place]) if token == ("sign", ".")), place)
    step = max(1, sum(kind == "digit" for kind, _ in tokens[:point]))
    places = sum(kind == "digit" for kind, _ in tokens[point:place])

    def render(number: Decimal) -> str:
        exponent = number.adjusted() // step * step if number else 0
        if rounded(number.scaleb(-exponent), places) >= Decimal(10) ** step:
            exponent += step
        written = _whole_digits(tail, str(abs(exponent)).lstrip("0"), is_grouped=False)
        mark = "-" if exponent < 0 else "+" if sign == "+" else ""
        return f"{mantissa(number.scaleb(-exponent))}E{mark}{written}"

    return render


def _fraction(tokens: Sequence[Token]) -> Renderer | None:
    """Return the function for a format such as `# ?/?` or `# ?/8`; None if it is no fraction."""
    first = next((place for place, (kind, _) in enumerate(tokens) if kind == "digit"), None)
    if first is None or ("sign", "/") not in tokens or ("sign", ".") in tokens:
        return None
    pattern = "".join(text for _, text in tokens[first:])
    if (match := _FRACTION.match(pattern)) is None:
        return None
    has_whole, below = match[1] is not None, match[4]
    before, after = "".join(text for _, text in tokens[:first]), pattern[match.end() :]

    def render(number: Decimal) -> str:
        whole, part = divmod(Fraction(number), 1) if has_whole else (0, Fraction(number))
        if below.isdigit() and below.strip("0"):
            numerator, denominator = int(part * int(below) + Fraction(1, 2)), int(below)
        else:
            near = part.limit_denominator(10 ** min(len(below), 7) - 1)
            numerator, denominator = near.numerator, near.denominator
        if has_whole and numerator == denominator:
            whole, numerator = whole + 1, 0
        shown = f"{numerator}/{denominator}" if numerator or not has_whole else ""
        return f"{before}{f'{whole} ' if whole or not shown else ''}{shown}".rstrip() + after

    return render
