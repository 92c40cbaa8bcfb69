"""How much of a query a passage has, by its words. Pure.

Read from the passage itself: the index tells a score, which is no share of anything.
"""

import re

from drive_server.knowledge.folding import fold
from drive_server.knowledge.words import identifiers, indexed_words, is_indexed, queried_words

_WORD = re.compile(r"\w+")
LONGEST_ENDING = 3
SHORTEST_STEM = 4


def coverage(query: str, passages: list[str]) -> float:
    """Return the largest share of the query's words, from 0 to 1, that one of the passages has in any form.

    A passage with an identifier of the query has all that matters.
    """
    wanted = {_stem(word) for word in _words(queried_words(query)) if is_indexed(word)}
    named = set(identifiers(fold(query).casefold()))
    return max((_share(wanted, named, passage) for passage in passages), default=0.0) if wanted else 0.0


def _share(wanted: set[str], named: set[str], passage: str) -> float:
    if named and not named.isdisjoint(identifiers(fold(passage).casefold())):
        return 1.0
    words = _words(indexed_words(passage))
    return sum(any(word.startswith(stem) for word in words) for stem in wanted) / len(wanted)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _stem(word: str) -> str:
    """Return the beginning that the forms of a word have in common, near enough."""
    return word[: max(SHORTEST_STEM, len(word) - LONGEST_ENDING)]
