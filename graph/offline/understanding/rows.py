"""The pattern tables, compiled once per language, and the first row of one that fits a clause."""

import re
from functools import cache
from typing import Final, Literal

from graph.offline.understanding.building import build
from graph.offline.understanding.grammar import compile_pattern
from graph.offline.understanding.intents import Intent
from graph.offline.understanding.masking import Masked
from graph.offline.understanding.patterns import LAST, LOOSE, REQUESTS, TALK
from graph.offline.understanding.patterns.row import Row
from graph.state import Language

Table = Literal["talk", "requests", "loose", "last"]
TABLES: Final[dict[Table, dict[Language, tuple[Row, ...]]]] = {
    "talk": TALK,
    "requests": REQUESTS,
    "loose": LOOSE,
    "last": LAST,
}


def first_match(table: Table, clause: str, masked: Masked, language: Language) -> Intent | None:
    """Return the intent of the first row whose pattern is the whole clause and whose parts make sense."""
    for row, pattern in _compiled(table, language):
        match = pattern.fullmatch(clause)
        intent = build(row, _filled(match), clause, masked, language) if match else None
        if intent:
            return intent
    return None


@cache
def _compiled(table: Table, language: Language) -> tuple[tuple[Row, re.Pattern[str]], ...]:
    return tuple((row, compile_pattern(row.pattern, language)) for row in TABLES[table][language])


def _filled(match: re.Match[str]) -> dict[str, str]:
    return {name: value for name, value in match.groupdict().items() if value}
