"""Words in quotation marks that are a translation or a summary: not the file's, and no false quotation either."""

import re
from typing import Final

from graph.events.answers import CitationView, WhyUnverified

REWORDED: Final = frozenset[WhyUnverified]({"translation", "summary"})
_TRANSLATE: Final = re.compile(
    r"\btranslat|\bin (?:english|chinese|german|french|spanish)\b|翻译|译成|译为|用(?:中|英)文", re.IGNORECASE
)
_SUMMARISE: Final = re.compile(
    r"\bsummar|\bsum up\b|\bin short\b|\btl;?dr\b|\bgist\b|\boutline\b|\bparaphras|\bin (?:your|other) words\b"
    r"|总结|概括|概述|归纳|摘要|大意|换句话",
    re.IGNORECASE,
)
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LETTER: Final = re.compile(r"[^\W\d_]")
MOSTLY: Final = 0.2
"""The share of Chinese letters from which on a text is a Chinese one: results of tools name their fields in English."""


def marked_as_reworded(citation: CitationView, request: str, read: str) -> CitationView:
    """Return the citation; words that were not found are a translation or a summary if that was asked for, or is plain.

    It is plain of words in another script than all that was read.
    """
    if citation["reason"] != "absent":
        return citation
    if _TRANSLATE.search(request) or _is_in_other_script(citation["quote"], read):
        return {**citation, "reason": "translation"}
    return {**citation, "reason": "summary"} if _SUMMARISE.search(request) else citation


def _is_in_other_script(quote: str, read: str) -> bool:
    if not read or not _LETTER.search(quote):
        return False
    return _share_of_han(read) == 0 if _HAN.search(quote) else _share_of_han(read) >= MOSTLY


def _share_of_han(text: str) -> float:
    return len(_HAN.findall(text)) / max(1, len(_LETTER.findall(text)))
