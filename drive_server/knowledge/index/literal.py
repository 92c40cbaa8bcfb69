"""Words of a query that stand for nothing but themselves: identifiers, and names and numbers that a model can't know.

Where such a word is found as it is, its passages are what was asked for, whatever else is near in meaning.
"""

import re
from collections.abc import Callable, Iterable

from drive_server.knowledge.text.folding import fold
from drive_server.knowledge.text.script import CJK
from drive_server.knowledge.text.words import identifiers

_WORD = re.compile(rf"[^\W{CJK}]+")


def has_literal(query: str, knows: Callable[[str], bool], passages: Iterable[str]) -> bool:
    """Return whether an identifier of the query, or a word that the model does not know, stands in a passage."""
    wanted = fold(query).casefold()
    named = set(identifiers(wanted))
    unknown = {word for word in _WORD.findall(wanted) if not knows(word)}
    if not named and not unknown:
        return False
    texts = [fold(passage).casefold() for passage in passages]
    return any(not named.isdisjoint(identifiers(text)) or not unknown.isdisjoint(_WORD.findall(text)) for text in texts)
