"""The sections of a number format: `positive;negative;zero;text` (ECMA-376 part 1, section 18.8.31)."""

import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal

TokenKind = Literal["literal", "general", "text", "half", "exponent", "date", "elapsed", "digit", "sign"]
Token = tuple[TokenKind, str]
MAX_LENGTH: Final = 255

_TOKEN: Final = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<blank>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]|(?P<general>General)'
    r"|(?P<half>AM/PM|A/P|上午/下午)|(?P<exponent>E[+-])|(?P<date>y+|m+|d+|h+|s+|e+|b+|g+|a{3,4})"
    r"|(?P<digit>[0#?])|(?P<end>;)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION: Final = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?(?:E[+-]?\d+)?)", re.IGNORECASE)
_ELAPSED: Final = re.compile(r"h+|m+|s+", re.IGNORECASE)
_SYSTEM: Final = {"$-f800": "yyyy-mm-dd", "$-f400": "h:mm:ss"}
"""The date and the time as a computer's settings have them; shown in one way here."""


@dataclass(slots=True)
class Section:
    """One section: its tokens, and the condition for a number to be shown by it."""

    tokens: list[Token] = field(default_factory=list[Token])
    condition: tuple[str, Decimal] | None = None

    @property
    def is_empty(self) -> bool:
        """True for a section that shows nothing."""
        return not self.tokens

    def has(self, *kinds: TokenKind) -> bool:
        """Say whether there is a token of one of these kinds."""
        return any(kind in kinds for kind, _ in self.tokens)

    def admits(self, number: Decimal) -> bool:
        """Say whether a number meets the condition."""
        if self.condition is None:
            return True
        operator, bound = self.condition
        tests = {
            "<": number < bound,
            "<=": number <= bound,
            ">": number > bound,
            ">=": number >= bound,
            "=": number == bound,
            "<>": number != bound,
        }
        return tests[operator]


def sections_of(code: str) -> list[Section]:
    """Return the sections of a format, four at most."""
    for mark, standard in _SYSTEM.items():
        if f"[{mark}]" in code.lower():
            code = standard
    sections = [Section()]
    for match in _TOKEN.finditer(code[:MAX_LENGTH]):
        kind, text = match.lastgroup, match[match.lastgroup or 0]
        if kind == "end":
            sections.append(Section())
        elif kind == "bracket":
            _add_bracket(sections[-1], text)
        elif kind != "fill":
            sections[-1].tokens.append(_token(kind or "", text))
    return sections[:4]


def _token(kind: str, text: str) -> Token:
    if kind == "blank":
        return "literal", " "
    if kind in ("quoted", "escaped"):
        return "literal", text
    if kind == "other":
        return ("text", text) if text == "@" else ("sign", text)
    kinds: dict[str, TokenKind] = {
        "general": "general",
        "half": "half",
        "exponent": "exponent",
        "date": "date",
        "digit": "digit",
    }
    return kinds[kind], text.lower() if kind == "date" else text


def _add_bracket(section: Section, text: str) -> None:
    """Add a currency, an elapsed time or a condition; colours and languages show nothing."""
    if condition := _CONDITION.fullmatch(text.strip()):
        section.condition = condition[1], Decimal(condition[2])
    elif _ELAPSED.fullmatch(text):
        section.tokens.append(("elapsed", text.lower()))
    elif text.startswith("$") and (currency := text[1:].partition("-")[0]):
        section.tokens.append(("literal", currency))
