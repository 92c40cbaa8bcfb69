"""Names of columns in a sentence: as the header has them, in the plural, without their unit, or by a synonym."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from graph.offline.results import Item, Result
from graph.offline.understanding.grammar import table

_UNIT: Final = re.compile(r"\s*[(\[（【][^)\]）】]*[)\]）】]\s*")
_SYNONYMS: Final = tuple(
    (whole, re.compile(rf"(?<![a-z])(?:{whole.pattern})(?![a-z])", re.IGNORECASE)) for _, whole in table("synonym")
)


def columns_of(probe: Result) -> dict[str, str]:
    """Return the kind of each column by its name."""
    return {str(one["name"]): str(one["kind"]) for one in probe.entries("columns")}


@lru_cache(maxsize=512)
def named_pattern(column: str) -> re.Pattern[str]:
    """Return the pattern of a column's name, or of a sheet's, in a sentence of small letters."""
    bare = (_UNIT.sub(" ", column).strip() or column.strip()).casefold()
    words = r"[ _-]?".join(map(re.escape, filter(None, re.split(r"[ _-]+", bare)))) or re.escape(bare) or r"(?!)"
    return re.compile(rf"(?<![a-z0-9]){words}s?(?![a-z0-9])" if bare.isascii() else words)


def same_column(column: str, noun: str) -> bool:
    """Say whether a noun of a sentence is the name of the column, in the singular or the plural."""
    pattern = named_pattern(column)
    return any(pattern.fullmatch(one) for one in (noun, f"{noun}s", re.sub(r"ies$", "y", noun)))


def plain_words(said: str, file: Item, sheet: str, columns: Mapping[str, str]) -> str:
    """Return the sentence in small letters without the names of file and sheet, with columns for their synonyms."""
    rest = said.casefold()
    for one in (str(file.get("path", "")), str(file.get("name", ""))):
        rest = rest.replace(one.casefold(), " ") if one else rest
    rest = named_pattern(sheet).sub(" ", rest) if sheet else rest
    for whole, inside in _SYNONYMS:
        fitting = [name for name in columns if whole.fullmatch(_UNIT.sub(" ", name).strip())]
        if len(fitting) == 1 and not named_pattern(fitting[0]).search(rest):
            rest = inside.sub(_UNIT.sub(" ", fitting[0]).strip().casefold(), rest)
    return rest
