"""Find the arguments of a call that would carry content of the drive to a server outside of it. Pure.

The person's own words may leave: they wrote them for this. Of everything else a word that the model has seen in the
drive, a text too long to be its own, and letters that are no words count as content: a doubt asks the person.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

LONGEST_OWN: Final = 200
"""Characters of one argument that a model may have made up itself; longer ones may retell a text."""
LONGEST_WORD: Final = 24
"""Longer runs without a blank may be a text in another encoding."""
MOST_NAMED: Final = 10

_WORD: Final = re.compile(r"[^\W_]+")
_HAN: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\U00020000-\U0003ffff]+")
_RUN: Final = re.compile(r"\S+")
_SHORTEST: Final = 4
_SHORTEST_NUMBER: Final = 2


def leaving(args: Mapping[str, Any], seen: Iterable[str], said: Iterable[str]) -> list[str]:
    """Return the names of the arguments with content of the drive, such as `text` or `items.0.title`.

    `seen` is what the model has seen of the drive, `said` what the person wrote in the conversation.
    """
    shown, own_text = "\n".join(seen), "\n".join(said)
    if not shown.strip():
        return []
    words, own = set(_words(shown)), set(_words(own_text))
    spaced = _plain(own_text)
    found = [name for name, value in _texts(args, "") if _carries(value, words, own, spaced)]
    return [*dict.fromkeys(found)][:MOST_NAMED]


def _carries(value: str, seen: set[str], own: set[str], own_text: str) -> bool:
    if _plain(value) in own_text:
        return False
    if len(value) > LONGEST_OWN or any(len(run) > LONGEST_WORD and _plain(run) not in own_text for run in _runs(value)):
        return True
    return any(word in seen and word not in own for word in _words(value))


def _runs(value: str) -> Iterator[str]:
    return (run for run in _RUN.findall(value) if not _HAN.search(run))


def _texts(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Yield each text and number in the arguments, and each name of a field, with where it is."""
    if isinstance(value, Mapping):
        for key, field in cast("Mapping[str, Any]", value).items():
            inner = f"{name}.{key}" if name else str(key)
            if name:
                yield inner, str(key)
            yield from _texts(field, inner)
    elif isinstance(value, list):
        for position, item in enumerate(cast("Sequence[Any]", value)):
            yield from _texts(item, f"{name}.{position}")
    elif isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield name, str(value)


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text, and of Chinese each pair of characters; short words say nothing."""
    for found in _WORD.findall(_folded(text)):
        for run in _HAN.findall(found):
            yield from (run[at : at + 2] for at in range(len(run) - 1))
        word = _HAN.sub("", found)
        if len(word) >= (_SHORTEST_NUMBER if any(map(str.isdigit, word)) else _SHORTEST):
            yield word


def _plain(text: str) -> str:
    return " ".join(_folded(text).split())


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
