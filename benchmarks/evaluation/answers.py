"""Answers: the right number or words, with a citation that the service verified; a question; a refusal. Pure."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from benchmarks.evaluation.task import Answer

NUMBER = re.compile(r"(?<![\w.-])-?\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?(?![\d.]*\d)|(?<![\w.])-?\d+(?:\.\d+)?")
REFUSAL = re.compile(
    r"\b(?:can(?:no|['’])t|couldn['’]t|could not|unable|not (?:able|possible|found|sure|in|there)|nothing|none)\b"
    r"|\bno (?:\w+ )?(?:rows?|entr(?:y|ies)|data|records?|such|totals?|columns?|amounts?|categor(?:y|ies))\b"
    r"|\bno (?!file\b)\w+ (?:in|for|this|are|were|was|is)\b"
    r"|\b(?:don['’]t|do not|doesn['’]t|does not|didn['’]t|did not) (?:know|have|contain|list|find|name)\b"
    r"|没有(?!问题|为此|来源)|沒有|无法|不能|未能|没找到|找不到|做不到|算不出|不包含",
    re.IGNORECASE,
)
"""Words for what is missing or can't be done; not those with which the service remarks on an answer's citations."""
QUESTION = re.compile(r"[?？]")
DATE = re.compile(r"\b20\d\d(?:-\d\d){0,2}\b|20\d\d年")
SMALL = 100
"""Whole numbers below it may be days, lines and counts: a refusal may have them, and years."""


@dataclass(frozen=True, slots=True)
class Said:
    """The answer to the last request, with the citations that the service checked."""

    text: str = ""
    citations: Sequence[Mapping[str, Any]] = ()


def figures_in(text: str) -> set[Decimal]:
    """Return the numbers in a text, thousands and full-width digits read as people do."""
    found = NUMBER.findall(unicodedata.normalize("NFKC", text).replace("−", "-"))
    return {Decimal(re.sub("[, ]", "", number)) for number in found}


def is_refusal(said: Said, requests: Sequence[str]) -> bool:
    """Say whether an answer admits that it can't tell, and gives no number of its own."""
    known = figures_in(" ".join(requests))
    stated = (
        figure for figure in figures_in(DATE.sub("", said.text)) - known if figure != int(figure) or figure >= SMALL
    )
    return REFUSAL.search(said.text) is not None and not any(True for _ in stated)


def answer_fault(said: Said, wanted: Answer, requests: Sequence[str]) -> str | None:
    """Return the fault of the answer, None if it is right, or refuses a figure honestly."""
    return (_figure_fault(said, wanted, requests) if wanted.figure else None) or _words_fault(said, wanted)


def _figure_fault(said: Said, wanted: Answer, requests: Sequence[str]) -> str | None:
    figure = Decimal(wanted.figure)
    if is_refusal(said, requests):
        return None
    if figure not in figures_in(said.text):
        return f"the answer does not give {wanted.figure}"
    if not any(_shows(citation, figure, wanted.source) for citation in said.citations):
        return f"no verified citation of {wanted.source} has {wanted.figure}"
    return None


def _words_fault(said: Said, wanted: Answer) -> str | None:
    text = _folded(said.text)
    missing = [group for group in wanted.says if not _has_any(text, group)]
    checks = {
        f"the answer says none of {missing}": not missing,
        f"the answer says {wanted.lacks}": not _has_any(text, wanted.lacks),
        "the answer asks nothing": not wanted.asks or QUESTION.search(said.text) is not None,
        "the answer does not say that there is none": not wanted.absent or REFUSAL.search(said.text) is not None,
        f"no verified citation of {wanted.source} has these words": _is_cited(said, wanted),
    }
    return next((fault for fault, is_right in checks.items() if not is_right), None)


def _is_cited(said: Said, wanted: Answer) -> bool:
    """Say whether a verified citation of the source has one of the words; also if none is wanted."""
    if wanted.figure or not wanted.source:
        return True
    words = [one for group in wanted.says for one in group]
    of_source = (one for one in said.citations if one["verified"] and one["path"] == wanted.source)
    return any(_has_any(_folded(str(citation["quote"])), words) for citation in of_source)


def _has_any(text: str, words: Sequence[str]) -> bool:
    return any(_folded(one) in text for one in words)


def _folded(text: str) -> str:
    """Return a text without differences of width, case and spaces: PDFs break lines anywhere."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text).casefold())


def _shows(citation: Mapping[str, Any], figure: Decimal, source: str) -> bool:
    is_there = citation["verified"] and citation["path"] == source
    return is_there and figure in figures_in(str(citation["quote"]))
