"""Code points that are no characters; CJK scripts; folding of wide letters and traditional Chinese, for comparison."""

import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Final

CHARACTERS = Path(__file__).parent / "chinese" / "characters.txt"


_BREAKS: Final = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
_NO_CHARACTERS: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    + "".join(chr(plane + last) for plane in range(0x10000, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF))
    + "]"
)
"""Control characters but tab and line ends, halves of surrogate pairs, noncharacters (Unicode, section 23.7)."""


def without_noncharacters(text: str) -> str:
    """Drop the code points that are no characters of a text; those that end a line or page become blanks."""
    if text.isprintable() or not _NO_CHARACTERS.search(text):
        return text
    return _NO_CHARACTERS.sub("", _BREAKS.sub(" ", text))


def replace_noncharacters(text: str) -> str:
    """Put U+FFFD in the place of code points that are no characters, so that all offsets stay; page breaks stay too."""
    if text.isprintable() or not _NO_CHARACTERS.search(text):
        return text
    return _NO_CHARACTERS.sub(lambda match: match[0] if _BREAKS.match(match[0]) else "\ufffd", text)


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
