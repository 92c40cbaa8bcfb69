"""The words of full-text search: words for most scripts, pairs of characters for CJK.

Chinese, Japanese and Korean write no spaces, and a dictionary to split by misses names and new words. Overlapping
pairs need none, and two texts share a pair wherever they share a word of two characters or more.

LanceDB splits at punctuation, so `INV-2024-0031` is three words that many passages have. So identifiers are indexed as
words of their own too, their parts joined by a letter that nobody writes. So are names with signs, such as C++, C# and
.NET, and long numbers without their separators, such as ISBN 978-3-16-148410-0, and names without their apostrophe,
such as O'Brien.

Words lose their accents before LanceDB stems them: it takes them off only afterwards, and `résumé` has another stem.
"""

import hashlib
import re
from collections.abc import Iterator
from itertools import chain
from operator import add

from drive_server.kernel.text.characters import CJK, fold_letters

_RUN = re.compile(f"[{CJK}]+")
_LETTER = rf"[^\W_{CJK}]"
# Possessive, and only from the first letter of a word: tried at every letter it would take most of the time.
_IDENTIFIER = re.compile(rf"(?<!{_LETTER}){_LETTER}++(?:[-_./:@\\]++{_LETTER}++)+")
_WITH_SIGN = re.compile(rf"(?<!{_LETTER}){_LETTER}{{1,3}}(?:\+\+|#)(?![+#]|{_LETTER})")
# The dot comes first: the other way round the pattern would be tried everywhere.
_WITH_DOT = re.compile(rf"\.(?<!{_LETTER}\.)(?<![._/\\)\]]\.)[^\W\d_{CJK}]{_LETTER}++")
_WITH_APOSTROPHE = re.compile(rf"(?<!{_LETTER})(?P<start>{_LETTER}++)'(?P<rest>{_LETTER}{{3}}{_LETTER}*+)")
"""A name such as O'Brien, but no word with an ending, as in `don't`, `they're` and `Ann's`."""

_SIGNS = {ord("+"): "plus", ord("#"): "sharp", ord("."): ""}
_NUMBER = re.compile(r"\d[\d\W_]*\d")
MIN_DIGITS = 7
_LINE_BREAK = re.compile(f"(?<=[{CJK}])[ \t]*\n[ \t]*(?=[{CJK}])")
_DISTINCTIVE = re.compile(r"[\d_.@\\]")
_OUTER = re.compile(r"[/:@\\]+")
_PUNCTUATION = re.compile(r"[\W_]+")
_LEFT_OUT = (
    "an?|and|are|as|at|be|but|by|for|if|in|into|is|it|no|not|of|on|or|such|that|the|their|then|there|these|they|this|"
    "to|was|will|with"
)
_ONLY_LEFT_OUT = re.compile(rf"[\W_]*(?:(?:{_LEFT_OUT})(?:[\W_]+|$))*", re.IGNORECASE)
_QUESTION_WORDS = (
    "a about above after again against all also am an and any anybody anyone are as at be because been before "
    "being below between both but by can cannot could d did do does doing don down during each else everybody "
    "everyone few find for from further get give got had has have having he her here hers him his how i if in "
    "into is it its just know let like list ll m many me mine more most much must my need no nor not now of off "
    "on once only or other our ours out over own please re s same shall she should show so some somebody someone "
    "such t tell than thank thanks that the their them then there these they this those through to too under "
    "until up us use used using ve very want was we were what whats when where which while who whom whose why "
    "will with would you your yours"
)
QUESTION_WORDS = frozenset(_QUESTION_WORDS.split())
"""English words of which questions on any subject consist: they tell nothing, and are no slips of the pen."""
JOINER = "\u01c1"
MAX_WORD_BYTES = 40
"""LanceDB's `max_token_length`: longer words are left out of the index."""


def indexed_words(text: str) -> str:
    """Return the words to index: CJK in pairs and in single characters, also over the end of a line."""
    folded = _LINE_BREAK.sub("", fold_letters(text))
    split = _RUN.sub(lambda run: f" {_pairs(run[0])} {' '.join(run[0])} ", folded)
    return _with_identifiers(split, folded)


def queried_words(text: str) -> str:
    """Return the words to search for: CJK in pairs, or a single character if it stands alone."""
    folded = _LINE_BREAK.sub("", fold_letters(text))
    split = _RUN.sub(lambda run: f" {_pairs(run[0]) or run[0]} ", folded)
    return _with_identifiers(split, folded)


def is_indexed(text: str) -> bool:
    """Return whether the index has words of a text: LanceDB leaves out the English function words above."""
    return not _ONLY_LEFT_OUT.fullmatch(text)


def identifiers(text: str) -> Iterator[str]:
    """Yield the words for the identifiers in a text: each as a whole, and its parts at `/ : @ \\`."""
    for found in _IDENTIFIER.finditer(text):
        parts = _OUTER.split(found[0])
        for part in [found[0], *parts] if len(parts) > 1 else parts:
            if _DISTINCTIVE.search(part) and _PUNCTUATION.search(part):
                yield _as_word(part)
                if _NUMBER.fullmatch(part) and len(digits := _PUNCTUATION.sub("", part)) >= MIN_DIGITS:
                    yield digits[:MAX_WORD_BYTES]
    if "'" in text:
        yield from (f"{found['start']}{found['rest']}" for found in _WITH_APOSTROPHE.finditer(text))
    for found in chain(_WITH_DOT.finditer(text), _WITH_SIGN.finditer(text) if "#" in text or "++" in text else ()):
        yield f"{JOINER}{found[0].casefold().translate(_SIGNS)}"


def _as_word(identifier: str) -> str:
    word = _PUNCTUATION.sub(JOINER, identifier.casefold())
    encoded = word.encode()
    return word if len(encoded) <= MAX_WORD_BYTES else hashlib.blake2b(encoded, digest_size=16).hexdigest()


def _with_identifiers(words: str, text: str) -> str:
    joined = " ".join(identifiers(text))
    return f"{words} {joined}" if joined else words


def _pairs(run: str) -> str:
    return " ".join(map(add, run, run[1:]))
