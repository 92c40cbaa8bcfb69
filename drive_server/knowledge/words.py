"""The words that full text is searched by: as they stand for most scripts, pairs of characters for CJK.

Chinese, Japanese and Korean write no spaces, and a dictionary to split by misses names and new words. Overlapping
pairs need none, and two texts share a pair wherever they share a word of two characters or more.
"""

import re
import unicodedata

from drive_server.knowledge.script import CJK

_RUN = re.compile(f"[{CJK}]+")


def indexed_words(text: str) -> str:
    """Return a text as it is indexed: CJK in pairs and in single characters, so that a query of one finds it too."""
    return _RUN.sub(lambda run: f" {_pairs(run[0])} {' '.join(run[0])} ", unicodedata.normalize("NFKC", text))


def queried_words(text: str) -> str:
    """Return a query as it is looked up: CJK in pairs, or alone where it stands alone."""
    return _RUN.sub(lambda run: f" {_pairs(run[0]) or run[0]} ", unicodedata.normalize("NFKC", text))


def _pairs(run: str) -> str:
    return " ".join(run[index : index + 2] for index in range(len(run) - 1))
