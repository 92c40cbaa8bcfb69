"""The terms of a text: stems of English words, pairs of Chinese characters."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from graph.offline.understanding.grammar import word

CJK: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN: Final = re.compile(f"[{CJK}]")
_RUN: Final = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:[-'’][^\W_{CJK}]+)*")
_SUFFIX: Final = re.compile(r"(?:ations?|ings?|ments?|ers?|als?|ies|ied|ed|es|s|ly|y|e)$")
SHORTEST_STEM, SHORTEST_MISSPELT, ALIKE = 4, 5, 0.84
STOP_WORDS: Final = frozenset(word("stop_words").pattern.split("|"))
STOP_CHARACTERS: Final = frozenset(word("stop_characters").pattern)


def has_han(text: str) -> bool:
    """Return whether there is a Chinese character in the text."""
    return _HAN.search(text) is not None


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, without words that say nothing."""
    runs = _RUN.findall(text.lower().replace("_", " "))
    return [term for run in runs for term in (_pairs(run) if _HAN.match(run) else _stems(run))]


def stem(word: str) -> str:
    """Cut an English word to what its forms have in common: summaries, summary -> summar."""
    cut = _SUFFIX.sub("", word)
    return cut if len(cut) >= SHORTEST_STEM else (word.removesuffix("s") if len(word) >= SHORTEST_STEM else word)


def _stems(run: str) -> list[str]:
    parts = re.split(r"[-'’]", run)
    whole = ["".join(parts)] if len(parts) > 1 and len(parts[-1]) > 1 else []
    return [stem(part) for part in (*parts, *whole) if part not in STOP_WORDS]


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [] if run in STOP_CHARACTERS else [run]
    return [run[at : at + 2] for at in range(len(run) - 1) if not set(run[at : at + 2]) & STOP_CHARACTERS]


def respelt(wanted: Iterable[str], written: set[str]) -> set[str]:
    """Return the wanted terms; one that is written nowhere as the written term that it is a slip away from."""
    found: set[str] = set()
    for term in wanted:
        misspelt = term not in written and len(term) >= SHORTEST_MISSPELT and term.isascii() and term.isalpha()
        found.update((get_close_matches(term, written, n=1, cutoff=ALIKE) if misspelt else []) or [term])
    return found
