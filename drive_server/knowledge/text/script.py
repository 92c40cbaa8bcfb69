"""Which writing system a text is in, as far as search and chunking must know."""

import re

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
