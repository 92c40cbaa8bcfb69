"""Numbers of lists as programs for documents write them: letters, Roman, Chinese and other numerals."""

from collections.abc import Callable, Mapping
from typing import Final

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x")),
    *((9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_MAX_ROMAN = 4000
_MAX_REPEATED = 30
_DIGITS = "〇一二三四五六七八九"
_LEGAL_DIGITS = "零壹贰叁肆伍陆柒捌玖"
_UNITS, _LEGAL_UNITS = ("", "十", "百", "千"), ("", "拾", "佰", "仟")
_MAX_COUNTED = 10_000
_STEMS, _BRANCHES = "甲乙丙丁戊己庚辛壬癸", "子丑寅卯辰巳午未申酉戌亥"
_CYRILLIC = "абвгдежзиклмнопрстуфхцчшщыэюя"
_IROHA = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン"
_AIUEO = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
_HEBREW = "אבגדהוזחטיכלמנסעפצקרשת"
_KOREAN, _KOREAN_LETTERS = "가나다라마바사아자차카타파하", "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"


def letters(number: int) -> str:
    """Return a, b, ... z, aa, bb, ... as Word and LibreOffice count with letters."""
    times, index = divmod(number - 1, 26)
    return chr(ord("a") + index) * min(times + 1, _MAX_REPEATED) if number > 0 else str(number)


def roman(number: int) -> str:
    """Return a Roman numeral in lower case; plain digits for a number without one."""
    if not 0 < number < _MAX_ROMAN:
        return str(number)
    numeral = ""
    for value, sign in _ROMAN:
        times, number = divmod(number, value)
        numeral += sign * times
    return numeral


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd, 4th."""
    teens = range(11, 14)
    suffix = "th" if number % 100 in teens else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def chinese(number: int) -> str:
    """Return a number as it is counted: 一, 十, 十一, 二十, 一百零二."""
    counted = _counted(number, "零" + _DIGITS[1:], _UNITS)
    return counted.removeprefix("一") if 10 <= number < 20 else counted


def _counted(number: int, digits: str, units: tuple[str, ...]) -> str:
    if not 0 < number < _MAX_COUNTED:
        return digits[0] if number == 0 else str(number)
    words = ""
    for place, digit in enumerate(reversed(str(number))):
        words = (digits[int(digit)] + units[place] if digit != "0" else digits[0]) + words
    zero = digits[0]
    while zero * 2 in words:
        words = words.replace(zero * 2, zero)
    return words.rstrip(zero)


def in_series(signs: str) -> Callable[[int], str]:
    """Return the numerals that are the signs of a series, plain digits after its end."""
    return lambda number: signs[number - 1] if 0 < number <= len(signs) else str(number)


def _digit_by_digit(number: int) -> str:
    return "".join(_DIGITS[int(digit)] if digit.isdecimal() else digit for digit in str(number))


def _sexagenary(number: int) -> str:
    return _STEMS[(number - 1) % 10] + _BRANCHES[(number - 1) % 12]


def _legal(number: int) -> str:
    return _counted(number, _LEGAL_DIGITS, _LEGAL_UNITS)


def _full_width(number: int) -> str:
    return "".join(chr(ord(digit) + 0xFEE0) if digit.isdecimal() else digit for digit in str(number))


def zero_padded(width: int) -> Callable[[int], str]:
    """Return decimal numbers of at least so many digits."""
    return lambda number: str(number).zfill(width)


_COUNTED = (
    "chineseCounting chineseCountingThousand taiwaneseCounting taiwaneseCountingThousand japaneseCounting"
    " koreanCounting koreanDigital2"
)
_DIGITAL = "ideographDigital taiwaneseDigital japaneseDigitalTenThousand koreanDigital"
_WORDS: Final[Mapping[str, Callable[[int], str]]] = {
    "lowerLetter": letters,
    "upperLetter": lambda number: letters(number).upper(),
    "lowerRoman": roman,
    "upperRoman": lambda number: roman(number).upper(),
    "decimalZero": zero_padded(2),
    "ordinal": ordinal,
    "chineseLegalSimplified": _legal,
    "ideographLegalTraditional": _legal,
    "japaneseLegal": _legal,
    "ideographTraditional": in_series(_STEMS),
    "ideographZodiac": in_series(_BRANCHES),
    "ideographZodiacTraditional": _sexagenary,
    "russianLower": in_series(_CYRILLIC),
    "russianUpper": in_series(_CYRILLIC.upper()),
    "iroha": in_series(_IROHA),
    "irohaFullWidth": in_series(_IROHA),
    "aiueo": in_series(_AIUEO),
    "aiueoFullWidth": in_series(_AIUEO),
    "hebrew2": in_series(_HEBREW),
    "ganada": in_series(_KOREAN),
    "chosung": in_series(_KOREAN_LETTERS),
    "decimalEnclosedCircle": in_series(_CIRCLED),
    "decimalEnclosedCircleChinese": in_series(_CIRCLED),
    "ideographEnclosedCircle": in_series("㊀㊁㊂㊃㊄㊅㊆㊇㊈㊉"),
    "decimalEnclosedParen": lambda number: f"({number})",
    "decimalEnclosedFullstop": lambda number: f"{number}.",
    "decimalFullWidth": _full_width,
    "decimalFullWidth2": _full_width,
    "numberInDash": lambda number: f"- {number} -",
    "hex": lambda number: f"{number:X}",
    "none": lambda _: "",
    "bullet": lambda _: "",
    **dict.fromkeys(_COUNTED.split(), chinese),
    **dict.fromkeys(_DIGITAL.split(), _digit_by_digit),
}


def numeral(number: int, form: str) -> str:
    """Return a number in a form of ECMA-376 part 1, section 17.18.59; decimal for the forms that are not known."""
    write = _WORDS.get(form)
    return write(number) if write else str(number)
