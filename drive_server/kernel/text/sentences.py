"""Sentences and words by rule, for English and Chinese, without a model."""

import re
from collections.abc import Iterator

from drive_server.kernel.text.characters import CJK

# Possessive and bounded throughout: a megabyte of dots or blanks must not take a quadratic time.
_END = re.compile(
    r"""(?P<western>(?<![.!?])[.!?]++["'”’)\]]{0,4}+)(?=\s)"""
    r"""|(?<![。！？；…])[。！？；…]++["'”’」』）】]{0,4}+"""
    r"""|\n[^\S\n]*+\n"""
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|cf|al|Fig|Figs|Eq|No|Nos|Vol|pp|Inc|Ltd|Co|Jr|Sr|approx)|\b[A-Z])$"
)
_WORD = re.compile(f"[{CJK}]|[^\\W{CJK}]+|[^\\w\\s]")
_SHORT_WORD = re.compile(r"\b[^\W\d_]{1,3}$")
_LOOK_BACK = 8


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each sentence of text[start:end], in order, white space around it left out."""
    stop = len(text) if end is None else end
    begin = start
    for match in _END.finditer(text, start, stop):
        if match["western"] and not _ends_sentence(text, match):
            continue
        yield from _trimmed(text, begin, match.end())
        begin = match.end()
    yield from _trimmed(text, begin, stop)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [text[start:end] for start, end in sentence_spans(text)]


def split_words(text: str) -> list[str]:
    """Return words, single Han characters and punctuation marks, in order."""
    return _WORD.findall(text)


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    """Distinguish a full stop from an abbreviation: by a list, and before a small letter by the word's length."""
    before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
    if match["western"] == "." and _ABBREVIATION.search(before):
        return False
    after = text[match.end() : match.end() + _LOOK_BACK].lstrip()
    return not after[:1].islower() or _SHORT_WORD.search(before) is None


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end
