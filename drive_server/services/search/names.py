"""Finding items by name: in any case and script, all words in any order, the closest name first."""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import BindParameter, Boolean, ColumnElement, Select, bindparam, literal
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from drive_server.services.search.name_index import all_of, may_have, narrows, pattern_terms
from drive_server.services.tree.nodes import QUERIES_KEPT
from drive_server.storage.tables.items import NodeRow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Row
    from sqlalchemy.ext.asyncio import AsyncResult, AsyncSession
    from sqlalchemy.orm import InstrumentedAttribute

    from drive_server.models.items import Kind

MAX_MATCHES = 10_000
MAX_FILTERED_WORDS = 16
ROWS_AT_ONCE = 1000
ESCAPE = "\\"


@dataclass(frozen=True, slots=True)
class NameMatch:
    """An item whose name matches. `score` is between 0.7 and 1."""

    id: str
    name: str
    score: float


async def match_names(
    session: "AsyncSession", visible: "Select[str]", query: str, kind: "Kind | None" = None
) -> list[NameMatch]:
    """Return those of the visible items whose names have all words of the query, best first."""
    patterns, wanted = _patterns(query), fold(query)
    expression = all_of(map(pattern_terms, patterns.values()))
    is_narrowed = await narrows(session, expression)
    few, all_of_them = _candidates(visible, len(patterns), kind, is_narrowed=is_narrowed)
    if is_narrowed:
        patterns |= {"expression": expression}
    rows = (await session.execute(few, patterns)).all()
    if len(rows) <= ROWS_AT_ONCE:
        matches = _matching(rows, wanted)
    else:
        matches = await _many(await session.stream(all_of_them, patterns), wanted)
    return sorted(matches[:MAX_MATCHES], key=lambda match: (-match.score, len(match.name), match.name, match.id))


async def list_latest(
    session: "AsyncSession", visible: "Select[str]", kind: "Kind | None", limit: int
) -> list[NameMatch]:
    """Return the visible items whose contents were changed last, newest first."""
    query = visible.with_only_columns(NodeRow.id, NodeRow.name).where(NodeRow.parent_id.is_not(None))
    if kind is not None:
        query = query.where(NodeRow.kind == kind)
    rows = await session.execute(query.order_by(NodeRow.modified_at.desc(), NodeRow.id).limit(limit))
    return [NameMatch(node_id, name, 1.0) for node_id, name in rows]


def score_name(name: str, query: str) -> float:
    """Return how well a name fits, 0 if it doesn't; case is ignored, also beyond ASCII.

    1: the same; .95: the same without its suffix; .9: begins with it; .8: contains it; .7: has all its words.
    """
    return _score(fold(name), fold(query))


def fold(text: str) -> str:
    """Return the text in the form in which names are looked for as they are: NFC, case folded, single spaces."""
    return " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).split())


async def _many(found: "AsyncResult[str, str]", wanted: str) -> list[NameMatch]:
    """Go through rows that may be too many to hold, until there are enough matches."""
    matches: list[NameMatch] = []
    async for rows in found.partitions():
        matches += _matching(rows, wanted)
        if len(matches) >= MAX_MATCHES:
            break
    await found.close()
    return matches


def _matching(rows: "Iterable[Row[str, str]]", wanted: str) -> list[NameMatch]:
    scored = ((node_id, name, _score(fold(name), wanted)) for node_id, name in rows)
    return [NameMatch(node_id, name, score) for node_id, name, score in scored if score]


def _score(held: str, wanted: str) -> float:
    cases = (
        (held == wanted, 1.0),
        (held.rpartition(".")[0] == wanted, 0.95),
        (held.startswith(wanted), 0.9),
        (wanted in held, 0.8),
        (all(word in held for word in wanted.split()), 0.7),
    )
    return next((score for fits, score in cases if fits), 0.0)


# Building it takes longer than the database takes to answer it.
@lru_cache(maxsize=QUERIES_KEPT)
def _candidates(
    visible: "Select[str]", words: int, kind: "Kind | None", *, is_narrowed: bool
) -> "tuple[Select[str, str], Select[str, str]]":
    """Return the query for names that may match: for a first batch, and for all; its parameters are the patterns."""
    filters = [is_like(NodeRow.name, bindparam(_parameter(number))) for number in range(words)]
    candidates = visible.with_only_columns(NodeRow.id, NodeRow.name).where(NodeRow.parent_id.is_not(None), *filters)
    if kind is not None:
        candidates = candidates.where(NodeRow.kind == kind)
    if is_narrowed:
        candidates = candidates.where(may_have())
    return candidates.limit(ROWS_AT_ONCE + 1), candidates.execution_options(yield_per=ROWS_AT_ONCE)


def _patterns(query: str) -> dict[str, str]:
    words = unicodedata.normalize("NFC", query).split()
    return {_parameter(number): like_pattern(word) for number, word in enumerate(words[:MAX_FILTERED_WORDS])}


def _parameter(number: int) -> str:
    return f"word_{number}"


def is_like(column: "InstrumentedAttribute[str]", pattern: "str | BindParameter[Any]") -> ColumnElement[bool]:
    """Return the condition that a name fits a pattern, in any case."""
    return _IsLike(column, pattern if isinstance(pattern, BindParameter) else literal(pattern))


class _IsLike(FunctionElement[bool]):
    """SQLAlchemy's `ilike` has SQLite lower both sides for each name, which takes more than twice as long."""

    type = Boolean()
    inherit_cache = True


@compiles(_IsLike)
def _as_ilike(element: _IsLike, compiler: SQLCompiler, **options: Any) -> str:
    name, pattern = element.clauses
    return f"{compiler.process(name, **options)} ILIKE {compiler.process(pattern, **options)} ESCAPE '{ESCAPE}'"


@compiles(_IsLike, "sqlite")
def _as_like(element: _IsLike, compiler: SQLCompiler, **options: Any) -> str:
    name, pattern = element.clauses
    return f"{compiler.process(name, **options)} LIKE {compiler.process(pattern, **options)} ESCAPE '{ESCAPE}'"


def beyond_ascii(column: "InstrumentedAttribute[str]") -> ColumnElement[bool]:
    """Return the condition that a name has a character beyond ASCII."""
    return _BeyondAscii(column)


class _BeyondAscii(FunctionElement[bool]):
    type = Boolean()
    inherit_cache = True


@compiles(_BeyondAscii)
def _as_regular_expression(element: _BeyondAscii, compiler: SQLCompiler, **options: Any) -> str:
    return f"{compiler.process(element.clauses, **options)} ~ '[^ -~]'"


@compiles(_BeyondAscii, "sqlite")
def _as_glob(element: _BeyondAscii, compiler: SQLCompiler, **options: Any) -> str:
    return f"{compiler.process(element.clauses, **options)} GLOB '*[^ -~]*'"


def like_pattern(word: str) -> str:
    """Return the pattern, with backslash as its escape, that all names match which contain the word in any case."""
    return f"%{''.join(_as_pattern(character) for character in word)}%"


def _as_pattern(character: str) -> str:
    if character in "%_\\":
        return f"\\{character}"
    # SQLite knows the case of ASCII letters only: other letters that have one may be any character until compared here.
    has_case = character.lower() != character or character.upper() != character
    return "_" if has_case and not character.isascii() else character
