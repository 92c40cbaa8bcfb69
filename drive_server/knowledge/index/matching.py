"""Full-text queries for LanceDB: all of the words, any of them, or similar words."""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from drive_server.kernel.text.characters import CJK, fold_letters, fold_words
from drive_server.knowledge.index.queries import Query
from drive_server.knowledge.text.words import QUESTION_WORDS, is_indexed, queried_words

COLUMN = "words"
MIN_CORRECTABLE = 4
MAX_CORRECTABLE = 64
"""Longer words are not corrected: the index refuses to look for words near to one of hundreds of letters."""
_CORRECTABLE = re.compile(rf"[^\W\d_{CJK}]{{{MIN_CORRECTABLE},{MAX_CORRECTABLE}}}")
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e|y)$")
LONG_WORD = 8
"""From this length on two letters may be wrong, below it one: with two, most short words match several others."""


def match_query(query: Query, *, every_word: bool, misspelled: Collection[str] = ()) -> Any:
    """Return the query for passages with the words. The words of phrases are required in any case."""
    from lancedb.query import Occur

    singles = [group[0] for group in query.groups if len(group) == 1]
    strict = [term.text for term in singles if term.is_phrase and is_indexed(term.text)]
    plain = [term.text for term in singles if not term.is_phrase and term.text not in misspelled]
    choices = [" ".join(term.text for term in group) for group in query.alternatives]
    if every_word:
        parts = [(Occur.MUST, _all_of(strict + plain)), *((Occur.MUST, _any_of([choice])) for choice in choices)]
        parts = parts if strict or plain else parts[1:]
    else:
        parts = [(Occur.MUST, _all_of(strict))] if strict else []
        parts += [(Occur.SHOULD, _any_of(plain + choices))] if plain or choices else []
    parts += [(Occur.MUST if every_word else Occur.SHOULD, _fuzzy_query(word)) for word in misspelled]
    parts = parts or [(Occur.MUST, _any_of([query.words]))]
    return parts[0][1] if len(parts) == 1 else _joined(parts)


def word_query(word: str) -> Any:
    """Return the query for a word, in any of its forms."""
    return _any_of([word])


def correctable_words(query: Query) -> list[str]:
    """Return the words of a query that can be corrected: of letters only, long enough, in no phrase.

    Words of which a question consists are spelt right: a word similar to `what` is another word.
    """
    words = (group[0].text for group in query.groups if len(group) == 1 and not group[0].is_phrase)
    return [word for word in words if _CORRECTABLE.fullmatch(word) and fold_words(word) not in QUESTION_WORDS]


@lru_cache(maxsize=1_000)
def word_stem(word: str) -> str:
    """Return the beginning that the common forms of a word share."""
    return fold_words(word)[: max(MIN_CORRECTABLE, len(word) - 2)]


def transpositions(word: str) -> list[str]:
    """Return the word with two neighbouring letters swapped, for each pair: one typing error, but two edits."""
    swapped = (word[:place] + word[place + 1] + word[place] + word[place + 2 :] for place in range(len(word) - 1))
    return [other for other in swapped if other != word]


def _fuzzy_query(word: str) -> Any:
    from lancedb.query import Occur

    make, word = _matcher(), fold_letters(word)
    slips = 2 if len(word) >= LONG_WORD else 1
    # The index has stems, but misspelled words are looked up unstemmed: `invoise` is two letters from `invoic`.
    forms = dict.fromkeys((word, _ENDING.sub("", word)))
    near = [(Occur.SHOULD, make(form, COLUMN, fuzziness=slips, prefix_length=1)) for form in forms]
    return _joined([*near, (Occur.SHOULD, make(" ".join(transpositions(word)), COLUMN))])


def _all_of(texts: list[str]) -> Any:
    from lancedb.query import FullTextOperator

    return _matcher()(queried_words(" ".join(texts)), COLUMN, operator=FullTextOperator.AND)


def _any_of(texts: list[str]) -> Any:
    return _matcher()(queried_words(" ".join(texts)), COLUMN)


def _matcher() -> Any:
    """Return LanceDB's class untyped: type checkers take its pydantic defaults for missing arguments."""
    from lancedb.query import MatchQuery

    return MatchQuery


def _joined(parts: list[tuple[Any, Any]]) -> Any:
    from lancedb.query import BooleanQuery

    return BooleanQuery(parts)
