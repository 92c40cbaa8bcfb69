"""Characters that can't be seen, and letters that pass for others. After Unicode's UTS #39, as far as names need it."""

import unicodedata
from functools import lru_cache
from typing import Final

ZERO_WIDTH_NON_JOINER: Final = "\u200c"
ZERO_WIDTH_JOINER: Final = "\u200d"
JOINERS: Final = frozenset({ZERO_WIDTH_NON_JOINER, ZERO_WIDTH_JOINER})
KEYCAP: Final = "\u20e3"
LATIN: Final = "LATIN"
# Letters and symbols that show as nothing, or as a space.
BLANKS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
# Scripts in which a joiner between two letters changes how these look.
_JOINING = (
    "ARABIC SYRIAC MONGOLIAN DEVANAGARI BENGALI GURMUKHI GUJARATI ORIYA TAMIL TELUGU KANNADA MALAYALAM "
    "SINHALA MYANMAR KHMER TIBETAN NKO"
)
JOINING_SCRIPTS: Final = frozenset(_JOINING.split())
# Alphabets with letters that a reader takes for Latin ones. Chinese, Arabic, Hebrew, Thai and so on have none.
_LIKE_LATIN = (
    "CYRILLIC GREEK COPTIC ARMENIAN GEORGIAN CHEROKEE LISU DESERET OSAGE TIFINAGH GOTHIC OLD CARIAN "
    "LYCIAN LYDIAN ELBASAN CAUCASIAN WARANG VITHKUQI VAI BAMUM CANADIAN MIAO RUNIC OGHAM SHAVIAN "
    "MEDEFAIDRIN ADLAM OL MRO"
)
LATIN_LOOK_ALIKES: Final = frozenset(_LIKE_LATIN.split())
LETTERLIKE: Final = ("MATHEMATICAL ", "DOUBLE-STRUCK ", "BLACK-LETTER ", "SCRIPT ")


def is_visible(char: str) -> bool:
    """Return whether the character is visible by itself: neither space nor format character nor combining mark."""
    return unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Mn", "Me", "Zs", "Zl", "Zp"} and not is_blank(char)


def is_blank(char: str) -> bool:
    """Return whether it counts as a letter or symbol, and shows as nothing."""
    return char in BLANKS


def is_joined(text: str, place: int) -> bool:
    """Return whether the joiner at the place joins something: two letters that are written joined, or two emoji."""
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if not before or not after:
        return False
    if script_of(before) in JOINING_SCRIPTS and script_of(after) in JOINING_SCRIPTS:
        return True
    return text[place] == ZERO_WIDTH_JOINER and _ends_emoji(before) and unicodedata.category(after) == "So"


def is_selector(char: str) -> bool:
    """Return whether it chooses how the character before it looks."""
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def is_selecting(text: str, place: int) -> bool:
    """Return whether the selector at the place follows a symbol or an ideograph, or is part of a keycap such as 1️⃣."""
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if not before or is_selector(before):
        return False
    is_symbol = not before.isascii() and unicodedata.category(before) in {"So", "Sm", "Po"}
    return after == KEYCAP or is_symbol or script_of(before) == "CJK"


def passes_for_ascii(char: str) -> bool:
    """Return whether it is a letter of mathematics, which is a Latin or Greek letter in another typeface."""
    return char > "\u2000" and unicodedata.name(char, "").startswith(LETTERLIKE)


def letters_of_another_script(word: str) -> frozenset[str]:
    """Return the letters of a word that pass for those of the script that most of it is in; Latin, if that is open."""
    scripts = [script for char in word if (script := script_of(char)) in LATIN_LOOK_ALIKES or script == LATIN]
    if len(set(scripts)) < 2:
        return frozenset()
    home = max(sorted(set(scripts)), key=lambda script: (scripts.count(script), script == LATIN))
    return frozenset(char for char in word if script_of(char) in set(scripts) - {home})


@lru_cache(maxsize=4096)
def script_of(char: str) -> str:
    """Return the script that a letter or mark belongs to, by the first word of its name: LATIN, CYRILLIC, CJK, ..."""
    if unicodedata.category(char)[0] not in "LM":
        return ""
    script = unicodedata.name(char, "").partition(" ")[0]
    return "" if script in {"COMBINING", "MODIFIER", "VARIATION"} else script


def _ends_emoji(char: str) -> bool:
    return unicodedata.category(char) in {"So", "Sk"} or is_selector(char)
