"""Which language a person writes, and what a word is in it."""

import re
from functools import cache
from typing import Final

from graph.offline.understanding.lexicon_en import FUNCTION_WORDS
from graph.offline.understanding.lexicon_zh import FUNCTION_CHARACTERS, STOP_CHARACTERS
from graph.offline.understanding.verbs_en import ACTIONS as ENGLISH_ACTIONS
from graph.offline.understanding.verbs_zh import ACTIONS as CHINESE_ACTIONS
from graph.state import Language

CJK: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN = re.compile(f"[{CJK}]")
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z']*")
_TERM = re.compile(f"[{CJK}]+|[^\\W_{CJK}]+")
_SUFFIX = re.compile(r"(?:ations?|ings?|ments?|ers?|als?|ies|ied|ed|es|s|ly|y|e)$")
SHORTEST_STEM: Final = 4


def detect(text: str) -> Language:
    """Return the language of a request. Names count little: "create a folder 报告" is English, "删除Old" Chinese."""
    han = len(_HAN.findall(text))
    words = [word.lower() for word in _LATIN_WORD.findall(text)]
    if not han:
        return "en"
    english = sum(word in FUNCTION_WORDS or word in ENGLISH_ACTIONS for word in words)
    chinese = len(_chinese_markers().findall(text))
    if english != chinese:
        return "zh" if chinese > english else "en"
    return "zh" if han >= len(words) else "en"


@cache
def _chinese_markers() -> re.Pattern[str]:
    longest_first = sorted((*CHINESE_ACTIONS, *FUNCTION_CHARACTERS), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)))


def has_han(text: str) -> bool:
    """Return whether there is a Chinese character in the text."""
    return _HAN.search(text) is not None


def terms(text: str) -> list[str]:
    """Return what a text is about, in order: stems of its words without stop words; of Chinese, pairs of characters."""
    found: list[str] = []
    for run in _TERM.findall(text.lower()):
        if _HAN.match(run):
            found += _pairs(run)
        elif run not in FUNCTION_WORDS:
            found.append(stem(run))
    return found


def stem(word: str) -> str:
    """Cut an English word to what its forms have in common: summaries, summary -> summar."""
    cut = _SUFFIX.sub("", word)
    return cut if len(cut) >= SHORTEST_STEM else (word.removesuffix("s") if len(word) >= SHORTEST_STEM else word)


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [] if run in STOP_CHARACTERS else [run]
    return [run[at : at + 2] for at in range(len(run) - 1) if not set(run[at : at + 2]) & STOP_CHARACTERS]
