"""CJK scripts, and forms of letters that searching takes for the same: to compare texts, never to show them."""

import re
import unicodedata
from functools import cache
from pathlib import Path

CHARACTERS = Path(__file__).parent / "chinese" / "characters.txt"

APOSTROPHES = "\u2018\u2019\u201b\u02b9\u02bb\u02bc\u02bd\u2032\u00b4\uff07\ua78c`"
"""Signs that stand for an apostrophe between two letters."""

_APOSTROPHE = re.compile(rf"(?<=[^\W\d_])[{APOSTROPHES}](?=[^\W\d_])")
_PLAIN_LETTERS = str.maketrans(
    {
        "ß": "ss",
        "ẞ": "SS",
        "æ": "ae",
        "Æ": "AE",
        "œ": "oe",
        "Œ": "OE",
        "þ": "th",
        "Þ": "TH",
        "ĳ": "ij",
        "ø": "o",
        "Ø": "O",
        "ł": "l",
        "Ł": "L",
        "đ": "d",
        "Đ": "D",
        "ð": "d",
        "Ð": "D",
        "ħ": "h",
        "Ħ": "H",
        "آ": "ا",
        "أ": "ا",
        "إ": "ا",
        "ŧ": "t",
        "Ŧ": "T",
        "ı": "i",
        "ς": "σ",
        "Σ": "σ",
        "ё": "е",
        "Ё": "Е",
        "ѐ": "е",
        "Ѐ": "Е",
        "ѝ": "и",
        "Ѝ": "И",
    }
)
_MARKED = re.compile("[\u00c0-\u024f\u0370-\u03ff\u1e00-\u1fff]+")
"""Latin and Greek letters: in other scripts a mark makes another letter (й, が), or a vowel (Thai, Devanagari)."""

_MARKS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]")


def fold(text: str) -> str:
    """Return a text in compatibility form (NFKC, Unicode Standard Annex 15), in simplified characters, with `'`.

    Accents stay: this is the form in which phrases are compared.
    """
    if text.isascii() and "`" not in text:
        return text
    folded = unicodedata.normalize("NFKC", _APOSTROPHE.sub("'", text))
    return folded if folded.isascii() else folded.translate(_simplified())


def fold_case(text: str) -> str:
    """Return a text for comparison letter by letter: folded, in one case, with single spaces."""
    return " ".join(fold(fold(text).casefold()).split())


def fold_letters(text: str) -> str:
    """Return a folded text without accents and points, in its own case: the form in which words are compared.

    Latin and Greek letters lose their marks; `ß`, `ø`, `ł` and their like become plain letters; points of Hebrew and
    Arabic and the stress of Cyrillic go. Marks that make another letter stay, as in `й` and `が`, but for `ё`.
    """
    folded = fold(text)
    if folded.isascii():
        return folded
    plain = folded.translate(_PLAIN_LETTERS)
    return _MARKS.sub("", _MARKED.sub(lambda found: unicodedata.normalize("NFD", found[0]), plain))


def fold_words(text: str) -> str:
    """Return a text for comparison word by word: without accents, in one case, with single spaces."""
    if text.isascii() and "`" not in text:
        return " ".join(text.casefold().split())
    return " ".join(fold_letters(fold_case(text)).split())


def fold_places(text: str) -> tuple[str, list[int]]:
    """Return a text as `fold_words` compares it, blanks as they are, and for each of its characters its place."""
    if text.isascii():
        return text.casefold(), list(range(len(text)))
    parts = [fold_letters(fold_letters(character).casefold()) for character in _APOSTROPHE.sub("'", text)]
    places = [place for place, part in enumerate(parts) for _ in part]
    return "".join(parts), places


@cache
def _simplified() -> str:
    """Return a text with the simplified form of character n at place n, by OpenCC's table (README.md beside it)."""
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
