"""Finding items whose names are spelled otherwise than the query, or nearly like it: exact matching missed them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, and_, or_

from drive_server.kernel.text.characters import CHARACTERS, CJK, fold, fold_words
from drive_server.knowledge.index.matching import LONG_WORD, MIN_CORRECTABLE
from drive_server.services.search.name_index import BEYOND_ASCII, all_of, any_of, may_have, narrows, pattern_terms
from drive_server.services.search.names import NameMatch, beyond_ascii, is_like, like_pattern, score_name
from drive_server.storage.tables.items import NodeRow

if TYPE_CHECKING:
    from sqlalchemy import Select
    from sqlalchemy.ext.asyncio import AsyncSession

    from drive_server.models.items import Kind

MAX_WORDS = 4
"""More words are a question, and no name: it is not worth looking through names for it."""
MAX_COMPARED = 1000
"""The most names that are compared letter by letter with the query for a slip."""

MAX_FOLDED = 20_000
"""The most names that are brought to one form and compared: 3 microseconds each."""

ROWS_AT_ONCE = 1000
FOLDED, SLIPPED = 0.95, 0.62
"""The factors of the score for a name in another form, and for one with a slip."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BREAK = re.compile(r"[\W_]+")
_LETTERS = re.compile(rf"[^\W\d_{CJK}]+")
_INNER = re.compile(r"(?<=\w)'(?=\w)")
_ACCENTED = re.compile("[^bfhjkmpqvwx0-9]", re.IGNORECASE)
"""Letters that stand with accents in some names; and the wildcards of a pattern."""
_TWO_FOR_ONE = re.compile("ss|ae|oe|th")
"""Letters that one letter stands for in some names: ß, æ, œ, þ."""
MIN_WITH_APOSTROPHE = 4
_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


def may_be_name(query: str) -> bool:
    """Return whether a query is short enough to be nearly a name."""
    return bool(_words_of_name(query))


async def match_near_names(
    session: "AsyncSession", visible: "Select[str]", query: str, kind: "Kind | None" = None, *, with_slips: bool
) -> list[NameMatch]:
    """Return those of the visible items whose names are nearly the query, best first; none for more than four words."""
    words = _words_of_name(query)
    if not words:
        return []
    candidates = visible.with_only_columns(NodeRow.id, NodeRow.name).where(NodeRow.parent_id.is_not(None))
    choices = [[*_in_other_forms(word), *(_parts(word) if with_slips else ())] for word in words]
    candidates = candidates.where(*(or_(*map(_condition, forms)) for forms in choices))
    if kind is not None:
        candidates = candidates.where(NodeRow.kind == kind)
    expression = all_of(any_of([form.terms for form in forms]) for forms in choices)
    if is_narrowed := await narrows(session, expression):
        candidates = candidates.where(may_have())
    parameters = {"expression": expression} if is_narrowed else {}
    wanted = normal_form(query)
    matches: list[NameMatch] = []
    limited = candidates.limit(MAX_COMPARED if with_slips else MAX_FOLDED)
    async for row in await session.stream(limited.execution_options(yield_per=ROWS_AT_ONCE), parameters):
        node_id, name = row
        if score := score_near(name, wanted, with_slips=with_slips):
            matches.append(NameMatch(node_id, name, score))
    return sorted(matches, key=lambda match: (-match.score, len(match.name), match.name, match.id))


def _words_of_name(query: str) -> list[str]:
    """Return the words of a query, none if they are too many or too short to be compared with names."""
    words = [word for word in _parted(query).split() if word != "'"]
    is_comparable = len(words) <= MAX_WORDS and not any(len(word) < 2 and word.isascii() for word in words)
    return words if is_comparable else []


def score_near(name: str, wanted: str, *, with_slips: bool = True) -> float:
    """Return how well a name fits whose form or spelling differs, 0 if it doesn't: at most 0.95, at least 0.62."""
    held = normal_form(name)
    if not wanted:
        return 0.0
    if score := score_name(held, wanted):
        return FOLDED * score
    if not with_slips:
        return 0.0
    words = held.split()
    fits = (word in held or any(is_slip(word, other) for other in words) for word in wanted.split())
    return SLIPPED if all(fits) else 0.0


def normal_form(text: str) -> str:
    """Return the words of a name or query in one form: lower case, simplified, narrow, without accents and marks."""
    return " ".join(_BREAK.sub(" ", _parted(text).replace("'", "")).split())


def _parted(text: str) -> str:
    """Return the words in one form, with the apostrophes that stand within a word."""
    folded = _INNER.sub("\0", fold_words(_HUMP.sub(" ", fold(text))))
    return " ".join(_BREAK.sub(lambda found: "'" if found[0] == "\0" else " ", folded).split())


def is_slip(word: str, other: str) -> bool:
    """Return whether a word of letters is another but for one slip, from eight letters on two (Damerau, 1964)."""
    if len(word) < MIN_CORRECTABLE or not _LETTERS.fullmatch(word):
        return False
    most = _slips_allowed(word)
    return abs(len(word) - len(other)) <= most and _distance(word, other) <= most


def _slips_allowed(word: str) -> int:
    return 2 if len(word) >= LONG_WORD else 1


def _distance(word: str, other: str) -> int:
    """Return the optimal string alignment distance."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for place, letter in enumerate(word, start=1):
        new = [place]
        for column, their in enumerate(other, start=1):
            least = min(row[column] + 1, new[-1] + 1, row[column - 1] + (letter != their))
            if place > 1 and column > 1 and letter == other[column - 2] and word[place - 2] == their:
                least = min(least, before[column - 2] + 1)
            new.append(least)
        before, row = row, new
    return row[-1]


@dataclass(frozen=True, slots=True)
class _Form:
    """A pattern of names; with `is_beyond`, only of those with characters beyond ASCII."""

    pattern: str
    is_beyond: bool = False

    @property
    def terms(self) -> str:
        """The expression for the index of names."""
        return all_of([pattern_terms(self.pattern), BEYOND_ASCII if self.is_beyond else ""])


def _condition(form: _Form) -> ColumnElement[bool]:
    fits = is_like(NodeRow.name, form.pattern)
    return and_(fits, beyond_ascii(NodeRow.name)) if form.is_beyond else fits


def _in_other_forms(word: str) -> Iterator[_Form]:
    """Yield forms of which every name has one that has the word in another form; a name has any sign for `'`."""
    bare = word.replace("'", "")
    yield _Form(like_pattern(bare))
    if not bare.isascii():
        yield _Form(f"%{''.join(_traditional().get(character, character) for character in bare)}%")
        return
    wide = [form.translate(_WIDE) for form in (bare, bare.upper(), bare.capitalize())]
    yield from (_Form(f"%{form}%") for form in wide)
    for form in dict.fromkeys(_with_apostrophe(word)):
        if "'" in form:
            yield _Form("%" + form.replace("'", "_") + "%")
        shorter = _TWO_FOR_ONE.sub("_", form)
        for accented in dict.fromkeys((form, shorter)):
            yield _Form(f"%{_ACCENTED.sub('_', accented)}%", is_beyond=True)


def _with_apostrophe(word: str) -> Iterable[str]:
    """Yield the word without and with an apostrophe: where it has one, else where most names do (O'Brien, Ann's)."""
    bare = word.replace("'", "")
    yield bare
    if bare != word:
        yield word
    elif len(bare) >= MIN_WITH_APOSTROPHE:
        yield f"{bare[0]}'{bare[1:]}"
        yield f"{bare[:-1]}'{bare[-1]}"


def _parts(word: str) -> Iterator[_Form]:
    """Yield forms of which every name fits one that has the word with a slip in it."""
    word = word.replace("'", "")
    if len(word) >= MIN_CORRECTABLE and _LETTERS.fullmatch(word):
        # Of n slips, at least one of n + 1 parts of the word is free: it stands in the name as it is.
        parts = _slips_allowed(word) + 1
        cuts = [len(word) * number // parts for number in range(parts + 1)]
        yield from (_Form(like_pattern(word[start:end])) for start, end in pairwise(cuts))


@cache
def _traditional() -> dict[str, str]:
    """Return for each simplified character its traditional form, or a wildcard if it has several."""
    forms: dict[str, str] = {}
    for traditional, simplified in CHARACTERS.read_text(encoding="utf-8").splitlines():
        forms[simplified] = "_" if simplified in forms else traditional
    return forms
