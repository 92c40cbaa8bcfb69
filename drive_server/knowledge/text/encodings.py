"""Detection of the encoding of bytes beyond ASCII: by likelihood, and by how plausible the words would be in each."""

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import chardet

_DECLARED = re.compile(
    rb"""<\?xml[^>]{0,100}\bencoding\s*=\s*["']([\w.-]+)|<meta[^>]{0,200}\bcharset\s*=\s*["']?([\w.-]+)"""
    rb"""|^(?:#!.*\n)?#.{0,40}?coding[:=]\s*([\w.-]+)""",
    re.IGNORECASE,
)
# Neither UTF, which was tried before, nor Latin 1, which many texts declare wrongly and no byte contradicts.
_LANGUAGE = re.compile(rb"<html[^>]{0,200}?\blang\s*=\s*[\"']?([a-z-]{2,10})", re.IGNORECASE)
_OF_LANGUAGE = {
    "ar": "cp1256",
    "cs": "cp1250 iso8859-2",
    "el": "cp1253 iso8859-7",
    "he": "cp1255",
    "hu": "cp1250 iso8859-2",
    "ja": "cp932 euc_jp",
    "ko": "cp949",
    "pl": "cp1250 iso8859-2",
    "ru": "cp1251 koi8-r cp866",
    "th": "cp874",
    "tr": "cp1254",
    "uk": "cp1251 koi8-u",
    "zh": "gb18030",
    "zh-hant": "cp950",
    "zh-hk": "cp950",
    "zh-tw": "cp950",
}
_MAX_IMPLAUSIBLE = 0.1
_RELIABLE = re.compile(r"(?:cp(?!1252)|iso8859-(?!1$)|iso2022|gb|big5|shift|euc|koi8|mac|tis|hz|johab)")
_WIDER = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "cp950",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "ks_c_5601_1987": "cp949",
    "iso8859_1": "cp1252",
}
_CANDIDATES = (  # noqa: SIM905 - a list would take twenty lines
    "gb18030 big5hkscs cp932 euc_jis_2004 cp949 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp866 cp874"
    " iso8859-2 iso8859-7 koi8-r koi8-u"
).split()
_WITH_CAPITALS = {"cp1251": 0.95, "koi8-r": 0.95, "koi8-u": 0.95, "cp866": 0.95, "cp1253": 0.7, "iso8859-7": 0.7}
"""Fewer texts are in capitals than not, and Greek capitals are the small letters of KOI8-R."""

_CAPITALS = 0.9  # of the letters beyond ASCII
_LEAST_CAPITALS = 4
_CAPITALS_SAMPLE = 1_024
_READ_AS = {"big5hkscs": "cp950", "euc_jis_2004": "euc_jp"}
_SAMPLE_BYTES = 16_384
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_MIN_KANA = 0.2
_MAX_DAMAGE = 0.01
_LATIN_WORD = "A-Za-zÀ-ÖØ-öø-ɏ"
_OTHER_LETTERS = "\u0370-\u05ff\u0620-\u06ff\u0e00-\u0e7f"
_MIXED = re.compile(f"[{_LATIN_WORD}](?=[{_OTHER_LETTERS}])|[{_OTHER_LETTERS}](?=[{_LATIN_WORD}])")
_MISPLACED_CAPITAL = re.compile("[а-яёґєіїα-ωάέήίόύώ](?=[А-ЯЁΑ-Ω])")
_UNUSUAL = frozenset(("Cc", "Cn", "Co", "Sc", "Sk", "Sm", "So"))
_COMMON_HAN = {
    "gb18030": (0xB0, 0xD7),  # level 1 of GB 2312
    "cp950": (0xA4, 0xC6),  # level 1 of Big5
    "cp932": (0x88, 0x97),  # level 1 of JIS X 0208
    "euc_jp": (0xB0, 0xCF),
}
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_IMPLAUSIBLE = 3.0
"""How fast a guess loses likelihood with the share of its characters that stand where words have none."""

_MAX_LOSS = 0.97
_LEAST = 1e-9
_NEVER_IN_TEXT = frozenset(("Cc", "Cn", "Co", "Cs"))
_BLANKS = frozenset("\t\n\r\f\b\x1b\ufeff")
_LEAST_LETTERS = 3
_COMMON_JAPANESE = frozenset((0x81, 0x82, 0x83, *range(0x87, 0x98)))
_WINDOWS_SIGNS = 0x87  # circled numbers and the like
_LEAST_WIDE = 2
_MOSTLY = 0.7
_MAX_HALVES = 3.0
_BASIC_BLOCKS = (0x00, 0x20, 0x30)
_EAST_ASIAN = ("gb2312", "big5", "shift_jis", "euc_kr")
_MIN_COHERENT = 0.95
_UNDECIDED = 0.97
"""A guess in another script that is at least this likely, relative to the best, leaves the encoding undecided."""

_DOUBTFUL = 0.6
"""From this one on the encoding is doubtful."""

_MAX_LATIN = 0.45  # of the bytes of a text in a Latin script are accented
_MIN_HANGUL = 0.95
_MAYBE_KOREAN = 0.5
_PAIRS = re.compile(rb"([\x81-\xfe])([\x40-\x7e\x80-\xfe])")


def declared_encoding(head: bytes) -> str:
    """Return the encoding that a page, XML or script declares at its beginning; empty if none or unknown."""
    found = _DECLARED.search(head)
    if not found:
        return ""
    name = next(filter(None, found.groups())).decode("ascii").lower()
    try:
        declared = codecs.lookup(name).name
    except LookupError:
        return ""
    return wider_encoding(declared) if _RELIABLE.match(declared) else ""


def wider_encoding(declared: str) -> str:
    """Return the encoding that programs mean by a name: Windows' own, which has more characters."""
    try:
        name = codecs.lookup(declared).name
    except LookupError:
        return declared
    return _WIDER.get(name.replace("-", "_"), name)


@dataclass(frozen=True, slots=True)
class _Guess:
    encoding: str
    likelihood: float
    script: str


@dataclass(frozen=True, slots=True)
class Detection:
    """An encoding, empty if it is undecided. `doubtful`: the bytes may be text in another script as well."""

    encoding: str
    doubtful: bool = False


def encodings_of_language(head: bytes) -> tuple[str, ...]:
    """Return the encodings in which pages of the language were written that a web page says it is in (`lang`)."""
    found = _LANGUAGE.search(head)
    if not found:
        return ()
    tag = found[1].decode("ascii").lower()
    return tuple(_OF_LANGUAGE.get(tag, _OF_LANGUAGE.get(tag.partition("-")[0], "")).split())


def guessed_encoding(sample: bytes, preferred: tuple[str, ...] = ()) -> Detection:
    """Return the most likely encoding of text that is not UTF-8; a `preferred` one if its words are plausible.

    chardet tells how likely each encoding is by pairs of bytes. Bytes that would be kana, or common Han beside halves
    of kana and signs of Windows, are Japanese at once; a guess loses by capitals within words, words of two scripts,
    rare Han and symbols.
    """
    sample = sample[:_SAMPLE_BYTES]
    for encoding in ("cp932", "euc_jp"):
        if _kana_share(sample, encoding) >= _MIN_KANA:
            return Detection(encoding)
    if _is_common_japanese(sample):
        return Detection("cp932")
    guesses = sorted(_guesses(sample), key=lambda guess: -guess.likelihood)
    likely = [guess.encoding for guess in guesses if guess.encoding in preferred]
    for encoding in (*likely, *preferred):
        text = _decoded(sample, encoding)
        if text and _implausible_share(text, encoding) <= _MAX_IMPLAUSIBLE:
            return Detection(encoding)
    if not guesses:
        return Detection("")
    best = _korean(guesses, sample) or guesses[0]
    other = next((guess.likelihood for guess in guesses if guess.script != best.script), 0.0) / best.likelihood
    beyond = sum(byte > 0x7F for byte in sample)
    if other >= _UNDECIDED or (best.script == "LATIN" and beyond > max(2, _MAX_LATIN * len(sample))):
        return Detection("")
    return Detection(best.encoding, doubtful=other >= _DOUBTFUL)


def wide_encoding(sample: bytes) -> str:
    """Return in which order of bytes the sample is UTF-16 without a mark; empty if it is none.

    Letters of an alphabet share their high byte with nearly all others; Han, kana and Hangul are those of East Asia's
    own sets. Other bytes give neither.
    """
    even = sample[: len(sample) // 2 * 2][:_SAMPLE_BYTES]
    found = [encoding for encoding in ("utf-16-le", "utf-16-be") if _is_text(even, encoding)]
    return max(found, key=lambda encoding: sum(one < "\u0100" for one in even.decode(encoding, "ignore")), default="")


def _is_text(sample: bytes, encoding: str) -> bool:
    text = _decoded(sample, encoding)
    if not text or any(unicodedata.category(one) in _NEVER_IN_TEXT and one not in _BLANKS for one in text):
        return False
    blocks = Counter(ord(one) >> 8 for one in text)
    basic = sum(blocks[block] for block in _BASIC_BLOCKS)
    letters = max((count for block, count in blocks.items() if block not in _BASIC_BLOCKS), default=0)
    if basic + letters >= _MIN_COHERENT * len(text):
        return basic > 0 or _is_word(text)
    east = max(len(text.encode(charset, "ignore").decode(charset)) for charset in _EAST_ASIAN)
    return east >= _MIN_COHERENT * len(text)


def _is_word(text: str) -> bool:
    """Return whether a text is letters whose high byte is a control character, which text of single bytes has not."""
    return len(text) >= _LEAST_LETTERS and all(one < "\u1000" and unicodedata.category(one)[0] in "LM" for one in text)


def _korean(guesses: list[_Guess], sample: bytes) -> _Guess | None:
    """Return the guess of Korean in place of Chinese, whose bytes may be the same: Hangul has 25 of their 40 leads."""
    korean = next((guess for guess in guesses if guess.encoding == "cp949"), None)
    if guesses[0].encoding != "gb18030" or not korean or korean.likelihood < _MAYBE_KOREAN * guesses[0].likelihood:
        return None
    leads = [lead for (lead,), _ in _PAIRS.findall(sample) if lead >= 0xB0]
    return korean if leads and sum(lead <= 0xC8 for lead in leads) >= _MIN_HANGUL * len(leads) else None


def _guesses(sample: bytes) -> Iterator[_Guess]:
    for name, confidence in _confidences(sample).items():
        encoding = _READ_AS.get(name, name)
        text = _decoded(sample, encoding) if encoding in _READ_AS.values() or encoding in _CANDIDATES else ""
        if text:
            confidence = max(confidence, _confidence_of_capitals(text, encoding))  # noqa: PLW2901 - the better one
            loss = min(_MAX_LOSS, _IMPLAUSIBLE * _implausible_share(text, encoding))
            yield _Guess(encoding, max(_LEAST, confidence * (1 - loss)), _script(text))


def _confidences(sample: bytes) -> dict[str, float]:
    """Return how likely chardet finds each encoding."""
    found = chardet.detect_all(sample, ignore_threshold=True, compat_names=False, include_encodings=_CANDIDATES)
    return {one["encoding"] or "": one["confidence"] for one in found}


def _confidence_of_capitals(text: str, encoding: str) -> float:
    """Return how likely the encoding is by the small letters of a text in capitals; 0 if it is no such text.

    chardet has learnt few pairs of capitals, which are the small letters of other encodings.
    """
    letters = [one for one in text[:_CAPITALS_SAMPLE] if one > "\x7f" and one.isalpha()]
    capitals = sum(map(str.isupper, letters))
    if encoding not in _WITH_CAPITALS or capitals < max(_LEAST_CAPITALS, _CAPITALS * len(letters)):
        return 0.0
    small = text[:_CAPITALS_SAMPLE].lower().encode(encoding, "replace")
    return _WITH_CAPITALS[encoding] * _confidences(small).get(encoding, 0.0)


def _decoded(sample: bytes, encoding: str) -> str:
    """Return the sample's text, but for a character that its end cuts; empty if the bytes are not of the encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        return decoder.decode(sample)
    except UnicodeError:
        return ""


def _implausible_share(text: str, encoding: str) -> float:
    beyond = [character for character in text if character > "\x7f"]
    if not beyond:
        return 1.0
    odd = sum(unicodedata.category(character) in _UNUSUAL for character in beyond)
    misplaced = len(_MIXED.findall(text)) + len(_MISPLACED_CAPITAL.findall(text))
    return (odd + misplaced + _rare_han(text, encoding)) / len(beyond)


def _rare_han(text: str, encoding: str) -> float:
    """Return how many Han are outside the common level of the encoding; half of them counts, as names have some."""
    han = _HAN.findall(text)
    if encoding == "cp949":
        return len(han) / 2
    if encoding not in _COMMON_HAN or not han:
        return 0
    least, most = _COMMON_HAN[encoding]
    return sum(not least <= character.encode(encoding)[0] <= most for character in han) / 2


def _script(text: str) -> str:
    """Return the script of most letters beyond ASCII; Han and kana are one."""
    if _HAN.search(text) and not _HANGUL.search(text):
        return "HAN"
    names = Counter(unicodedata.name(one, "").partition(" ")[0] for one in text if one > "\x7f" and one.isalpha())
    return names.most_common(1)[0][0] if names else "LATIN"


def _is_common_japanese(sample: bytes) -> bool:
    """Return whether the sample would be common Han, signs and halves of kana, which chardet has not learnt."""
    text = _decoded(sample, "cp932")
    beyond = [character for character in text if character > "\x7f"]
    wide = [lead for lead, *trail in (one.encode("cp932") for one in beyond) if trail]
    common = sum(lead in _COMMON_JAPANESE for lead in wide)
    is_mixed = any(lead == _WINDOWS_SIGNS for lead in wide) or any("\uff66" <= one <= "\uff9f" for one in beyond)
    if not is_mixed or len(wide) < _LEAST_WIDE or any(one < "\xa0" for one in beyond):
        return False
    return common >= _MOSTLY * len(wide) and len(beyond) <= _MAX_HALVES * len(wide)


def _kana_share(sample: bytes, encoding: str) -> float:
    """Return how much of the text beyond ASCII would be kana; nothing, if it is no such text."""
    text = codecs.getincrementaldecoder(encoding)("replace").decode(sample)
    beyond = [character for character in text if character > "\x7f"]
    if not beyond or beyond.count("\ufffd") > _MAX_DAMAGE * len(beyond):
        return 0.0
    return len(_KANA.findall(text)) / len(beyond)
