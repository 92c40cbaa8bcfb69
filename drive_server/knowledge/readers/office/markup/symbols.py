"""Characters of symbol fonts (Wingdings, Symbol, Webdings) as characters of Unicode.

Documents have them at their codes in the font, or at U+F000 above; without the font they are nothing or a wrong letter.
"""

from typing import Final

_PRIVATE = range(0xF000, 0xF100)
_GREEK = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"  # from 0x41
_SIGNS = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪"  # from 0xA0
_SYMBOL: Final = {
    **{0x41 + index: sign for index, sign in enumerate(_GREEK)},
    **{0xA0 + index: sign for index, sign in enumerate(_SIGNS)},
    **dict(zip((0x22, 0x24, 0x27, 0x2A, 0x2D, 0x40), "∀∃∋∗−≅", strict=True)),
    **dict(zip(range(0xF1, 0xFF), "〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭", strict=True)),
}
_WINGDINGS: Final = {
    **dict.fromkeys((0x6F, 0x70, 0x71, 0x72, 0xA8), "☐"),
    0xFE: "☑",
    **dict.fromkeys((0xFD, 0x78), "☒"),
    **dict(zip((0x6C, 0x6D, 0xA1, 0x6E, 0xA7, 0x75, 0x76, 0xFC, 0xFB), "●❍○■▪◆❖✓✗", strict=True)),
    **dict(zip(range(0xDF, 0xE7), "←→↑↓↖↗↙↘", strict=True)),
    **dict(zip(range(0xEF, 0xF3), "⇦⇨⇧⇩", strict=True)),
    **dict(zip((0xD8, 0xE8, 0xF0, 0x28, 0x2A, 0x4A, 0x4B, 0x4C), "➢➔⇨☎✉☺😐☹", strict=True)),
    **{0x80 + index: sign for index, sign in enumerate("⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿")},
}
_WINGDINGS_2: Final = {
    **dict.fromkeys((0x2A, 0x2B, 0xA3, 0x35, 0x30), "☐"),
    **dict.fromkeys((0x53, 0x54), "☒"),
    0x52: "☑",
    0x50: "✓",
    0x4F: "✗",
    0x97: "●",
}
_WEBDINGS: Final = {0x61: "✓", 0x63: "☐", 0x67: "■", 0x6E: "●", 0x72: "✗"}
_FONTS: Final = {
    "symbol": _SYMBOL,
    "wingdings": _WINGDINGS,
    "wingdings 2": _WINGDINGS_2,
    "wingdings 3": {0x74: "▲", 0x75: "▶", 0x7D: "▶", 0x7C: "◀", 0x70: "▲", 0x71: "▼"},
    "webdings": _WEBDINGS,
}
BOXES: Final = frozenset("☐☑☒✓✗✔✘")
CHECKED: Final = {True: "☑", False: "☐"}


def is_symbol_font(font: str) -> bool:
    """Return whether a font's letters are symbols."""
    return font.lower() in _FONTS


def symbol(font: str, code: int) -> str:
    """Return the character for a code of a font; empty for one that has none in Unicode."""
    plain = code & 0xFF if code in _PRIVATE else code
    known = _FONTS.get(font.lower())
    if known is not None:
        return known.get(plain, "")
    return "" if code in _PRIVATE and plain < 0x20 else chr(plain)


def symbols(font: str, text: str) -> str:
    """Return text that is set in a symbol font as the characters that it shows."""
    return "".join(symbol(font, ord(letter)) if letter.strip() else letter for letter in text)
