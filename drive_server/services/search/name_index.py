"""The index of names by pairs of characters: it narrows a search down to names that may fit (migration 0010).

Names that it leaves out fit no pattern, so every answer is that of looking through all names, which costs 110 ms at
100,000 (`python -m benchmarks.search.names`).
"""

import re
from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, Select, TextClause, bindparam, column, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.sql.server import is_embedded
from drive_server.storage.tables.items import NameKeyRow, NodeRow

MAX_NARROWED = 2_000
"""Beyond so many names, looking through all of them is as fast: it ends when enough are found."""

BEYOND_ASCII = "beyond"
_LITERALS = re.compile(r"(?:\\.|[^%_\\])+")
_ESCAPED = re.compile(r"\\(.)")
_UPPER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def pattern_terms(pattern: str) -> str:
    """Return the FTS5 expression that all names meet which fit a pattern of `LIKE`; empty if it says nothing."""
    runs = (_ESCAPED.sub(r"\1", found[0]).translate(_UPPER) for found in _LITERALS.finditer(pattern))
    return all_of(dict.fromkeys(term for run in runs for term in _terms(run)))


def all_of(terms: Iterable[str]) -> str:
    """Return the expression that all of the expressions hold, but for empty ones."""
    found = [term for term in terms if term]
    return found[0] if len(found) == 1 else f"({' AND '.join(found)})" if found else ""


def any_of(terms: Sequence[str]) -> str:
    """Return the expression that one of the expressions holds; empty if one of them is, as that always holds."""
    return f"({' OR '.join(dict.fromkeys(terms))})" if terms and all(terms) else ""


async def narrows(session: AsyncSession, expression: str) -> bool:
    """Return whether the database has the index, and few names meet the expression."""
    if not expression or not is_embedded(session.get_bind()):
        return False
    some = _matching().with_only_columns(column("rowid")).limit(MAX_NARROWED + 1).subquery()
    found = await session.scalar(select(func.count()).select_from(some), {"expression": expression})
    return (found or 0) <= MAX_NARROWED


def may_have() -> ColumnElement[bool]:
    """Return the condition that an item's name meets the parameter `expression`."""
    keys = _matching().with_only_columns(column("rowid"))
    return NodeRow.id.in_(select(NameKeyRow.node_id).where(NameKeyRow.key.in_(keys)))


def _matching() -> Select[int]:
    met: TextClause = text("name_grams MATCH :expression").bindparams(bindparam("expression"))
    return select(column("rowid")).select_from(text("name_grams")).where(met)


def _terms(run: str) -> Iterable[str]:
    if len(run) == 1:
        yield f'"{_hex(run)}"*'
    for place in range(len(run) - 1):
        yield f'"{_hex(run[place : place + 2])}"'


def _hex(characters: str) -> str:
    return characters.encode().hex()
