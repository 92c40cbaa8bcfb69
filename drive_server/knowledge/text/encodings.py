"""Detection of the encoding of bytes beyond ASCII, by the characters that they would be in each."""

import codecs
import re

_MIN_COMMON = 0.6
_MIN_KANA = 0.2
_MIN_HANGUL = 0.95
_MIN_TRADITIONAL = 0.95
_MIN_CYRILLIC = 0.9
_MAX_ACCENTS = 0.25
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_CYRILLIC = re.compile("[\u0410-\u044f\u0401\u0451]")
_ONLY_CYRILLIC_BYTES = bytes(range(0xFB, 0x100))  # the last five small letters; of other alphabets in few words
_WORDS_BEYOND = re.compile(rb"[\x80-\xff]{3,}")  # letters of Latin scripts beyond ASCII stand between ASCII
_MIN_IN_WORDS = 0.7
_SMALL_THEN_CAPITAL = re.compile(rb"[\xe0-\xff][\xc0-\xdf]")  # where Greek, read as Cyrillic, has its accents
_MAX_MISPLACED = 0.02
_DECLARED = re.compile(
    rb"""<\?xml[^>]{0,100}\bencoding\s*=\s*["']([\w.-]+)|<meta[^>]{0,200}\bcharset\s*=\s*["']?([\w.-]+)"""
    rb"""|^(?:#!.*\n)?#.{0,40}?coding[:=]\s*([\w.-]+)""",
    re.IGNORECASE,
)
# Neither UTF, which was tried before, nor Latin 1, which many texts declare wrongly and no byte contradicts.
_RELIABLE = re.compile(r"(?:cp(?!1252)|iso8859-(?!1$)|iso2022|gb|big5|shift|euc|koi8|mac|tis|hz|johab)")
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "big5": "cp950", "shift_jis": "cp932", "euc_kr": "cp949"}
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
    return _WIDER.get(declared.replace("-", "_"), declared) if _RELIABLE.match(declared) else ""


def guessed_encoding(sample: bytes) -> str:
    """Return the encoding of text that is not UTF-8, empty if it is unclear."""
    for encoding in ("cp932", "euc_jp"):
        if _share(_KANA, sample, encoding) >= _MIN_KANA:
            return encoding
    if _is_chinese(sample):
        return "cp949" if _is_korean(sample) else "gb18030"
    if _is_traditional(sample):
        return "cp950"
    if _is_cyrillic(sample):
        return "cp1251"
    return "cp1252" if sum(byte > 0x7F for byte in sample) <= _MAX_ACCENTS * len(sample) else ""


def _is_chinese(sample: bytes) -> bool:
    """Judge by how many double bytes are of level 1 of GB 2312 or its punctuation."""
    text = sample.decode("gb18030", errors="replace")
    pairs = [encoded for character in text if (encoded := _double_byte(character))]
    common = sum(1 for lead, trail in pairs if (0xA1 <= lead <= 0xA3 or 0xB0 <= lead <= 0xD7) and trail >= 0xA1)
    return bool(pairs) and common >= _MIN_COMMON * len(pairs)


def _double_byte(character: str) -> bytes | None:
    encoded = character.encode("gb18030")
    return encoded if len(encoded) == 2 else None


def _is_korean(sample: bytes) -> bool:
    """Judge what may be Chinese by its leads: Hangul has 25 of the 40 of common Han, and hardly any other."""
    leads = [lead for (lead,), _ in _PAIRS.findall(sample) if lead >= 0xB0]
    return bool(leads) and sum(lead <= 0xC8 for lead in leads) >= _MIN_HANGUL * len(leads)


def _is_traditional(sample: bytes) -> bool:
    """Judge by how many double bytes are common Han (level 1 of Big5) or its punctuation."""
    leads = [lead for (lead,), _ in _PAIRS.findall(sample)]
    return bool(leads) and sum(0xA1 <= lead <= 0xC6 for lead in leads) >= _MIN_TRADITIONAL * len(leads)


def _share(letters: "re.Pattern[str]", sample: bytes, encoding: str) -> float:
    """Return how much of the text beyond ASCII would be these letters; nothing, if it is no such text."""
    text = sample.decode(encoding, errors="replace")
    beyond = [character for character in text if character > "\x7f"]
    if not beyond or beyond.count("\ufffd") > 0.01 * len(beyond) + 1:
        return 0.0
    return len(letters.findall(text)) / len(beyond)


def _is_cyrillic(sample: bytes) -> bool:
    beyond = sum(byte > 0x7F for byte in sample)
    if sum(map(len, _WORDS_BEYOND.findall(sample))) < _MIN_IN_WORDS * beyond:
        return False
    if len(_SMALL_THEN_CAPITAL.findall(sample)) > _MAX_MISPLACED * beyond:
        return False
    endings = sum(byte in _ONLY_CYRILLIC_BYTES for byte in sample)
    return endings > 0 and _share(_CYRILLIC, sample, "cp1251") >= _MIN_CYRILLIC
