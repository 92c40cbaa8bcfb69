"""CJK scripts, and folding of wide letters and traditional Chinese: to compare texts, never to show them."""

import re
import unicodedata
from functools import cache
from pathlib import Path

CHARACTERS = Path(__file__).parent / "chinese" / "characters.txt"


def fold(text: str) -> str:
    """Return a text in compatibility form (NFKC, Unicode Standard Annex 15) and in simplified characters."""
    folded = unicodedata.normalize("NFKC", text)
    return folded if folded.isascii() else folded.translate(_simplified())


def fold_case(text: str) -> str:
    """Return a text for comparison letter by letter: folded, in one case, with single spaces."""
    return " ".join(fold(fold(text).casefold()).split())


@cache
def _simplified() -> str:
    """Return a text whose n-th character is what character n becomes, by OpenCC's table (README.md beside it)."""
    pairs = {ord(one): other for one, other in CHARACTERS.read_text(encoding="utf-8").splitlines()}
    return "".join(map(chr, range(max(pairs) + 1))).translate(pairs)


# Han, kana, Hangul and their compatibility blocks: writing without spaces between words.
CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_CJK_RUN = re.compile(f"[{CJK}]+")
_LETTER = re.compile(r"[^\W\d_]")
MOSTLY = 0.3


def count_cjk(text: str) -> int:
    """Return the number of Han, kana and Hangul characters."""
    return 0 if text.isascii() else sum(map(len, _CJK_RUN.findall(text)))


def is_cjk(text: str) -> bool:
    """Return whether a text is mainly Chinese, Japanese or Korean: a word of them is one or two characters long."""
    cjk = count_cjk(text)
    return cjk > 0 and cjk >= MOSTLY * len(_LETTER.findall(text))
