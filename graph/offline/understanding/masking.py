"""Quotes, addresses, paths and file names are hidden behind one character each, so that no grammar looks into them."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

PRIVATE: Final = re.compile("[\ue000-\uf8ff]")
QUOTE_MARK, EMAIL_MARK, PATH_MARK, FILE_MARK, SUFFIX_MARK = 0xE000, 0xE400, 0xE800, 0xEC00, 0xF000
MOST_MARKS: Final = 0x3FE
DICTATION: Final = "\ue3ff"
"""Stands for a text that goes on to the end of the message; no quotation gets this mark."""

QUOTE: Final = "[\ue000-\ue3ff]"
EMAIL: Final = "[\ue400-\ue7ff]"
PATH: Final = "[\ue800-\uebff]"
FILE: Final = "[\uec00-\uf3ff]"
SUFFIX: Final = "[\uf000-\uf3ff]"
"""A file's ending after Chinese characters, which say nothing about where the name begins."""

EXTENSIONS: Final = (
    "md|markdown|txt|text|pdf|docx?|xlsx?|pptx?|csv|tsv|html?|json|ya?ml|xml|rtf|odt|ods|odp|epub|eml|log|tex|ini|"
    "toml|png|jpe?g|gif|svg|webp|heic|bmp|tiff?|mp3|mp4|m4a|mov|avi|mkv|wav|zip|tar|gz|7z|rar|py|js|ts|sh|sql|ics|"
    "key|pages|numbers|tmp|bak"
)
_QUOTED = (
    r'"(?P<straight>[^"\n]+)"'
    "|“(?P<curly>[^”\n]+)”"
    "|‘(?P<single>[^’\n]+)’(?!\\w)"
    "|「(?P<corner>[^」\n]+)」|『(?P<double_corner>[^』\n]+)』|《(?P<book>[^》\n]+)》|«(?P<angle>[^»\n]+)»"
    r"|`(?P<code>[^`\n]+)`"
    r"|(?<!\w)'(?P<apostrophe>[^'\n]+(?:'\w[^'\n]*)*)'(?!\w)"
)
_FILE_NAME: Final = re.compile(rf"[^/\n]+\.(?:{EXTENSIONS})", re.IGNORECASE)
_KINDS: Final = (
    (QUOTE_MARK, re.compile(_QUOTED)),
    (
        EMAIL_MARK,
        re.compile(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]+@(?:localhost\b|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)"),
    ),
    (
        PATH_MARK,
        re.compile(
            r"(?:(?<=[\s:：])|(?<=[\u3400-\u9fff])|^)/(?:[^\s\"'“”,，;；:：。?？!！]*[^\s\"'“”,，;；:：。?？!！.])?"
        ),
    ),
    (
        FILE_MARK,
        re.compile(
            rf"(?<![A-Za-z0-9_.()-])[A-Za-z0-9_()-][A-Za-z0-9_.()-]*\.(?:{EXTENSIONS})(?![A-Za-z0-9])", re.IGNORECASE
        ),
    ),
    (SUFFIX_MARK, re.compile(rf"(?<=[\u3400-\u9fff\ue000-\uefff])\.(?:{EXTENSIONS})(?![A-Za-z0-9])", re.IGNORECASE)),
)


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with marks in it, what each stands for (quotes without quotation marks), and what stood there."""

    text: str
    hidden: dict[str, str]
    literal: dict[str, str]

    def reveal(self, part: str) -> str:
        """Put back what stands behind the marks of a part of the text; of a quotation alone only what it quotes."""
        alone = self.hidden.get(part.strip())
        return alone if alone is not None else PRIVATE.sub(lambda match: self.literal.get(match[0], ""), part)

    def with_dictation(self, start: int) -> "Masked":
        """Return the text with all that begins at `start` behind one mark."""
        content = self.reveal(self.text[start:])
        return Masked(
            self.text[:start] + DICTATION, {**self.hidden, DICTATION: content}, {**self.literal, DICTATION: content}
        )


def mask(text: str) -> Masked:
    """Hide quotes, emails, paths and file names of a text. The text comes out in NFC with single spaces."""
    hidden: dict[str, str] = {}
    literal: dict[str, str] = {}
    masked = PRIVATE.sub("", unicodedata.normalize("NFC", text)).replace("\u00a0", " ").replace("\u3000", " ")
    for first, pattern in _KINDS:
        masked = pattern.sub(lambda match, first=first: _hide(match, first, hidden, literal), masked)
    return Masked(masked, hidden, literal)


def _hide(match: re.Match[str], first: int, hidden: dict[str, str], literal: dict[str, str]) -> str:
    named = next((group for group in match.groupdict().values() if group is not None), None)
    is_file = first == QUOTE_MARK and named is not None and _FILE_NAME.fullmatch(named) is not None
    mark = _next_mark(FILE_MARK if is_file else first, hidden)
    if not mark:
        return match[0]
    hidden[mark] = named if named is not None else match[0]
    literal[mark] = match[0]
    return mark


def _next_mark(first: int, hidden: dict[str, str]) -> str:
    taken = sum(first <= ord(mark) <= first + MOST_MARKS for mark in hidden)
    return chr(first + taken) if taken <= MOST_MARKS else ""
