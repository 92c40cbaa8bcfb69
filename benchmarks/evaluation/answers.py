"""Numbers in answers: the right one with a citation that the service verified, or an honest refusal. Pure."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from benchmarks.evaluation.task import Answer

NUMBER = re.compile(r"(?<![\w.-])-?\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?(?![\d.]*\d)|(?<![\w.])-?\d+(?:\.\d+)?")
REFUSAL = re.compile(
    r"\b(?:can(?:no|'|’)t|couldn['’]t|unable|not|no|none|nothing)\b|没有|沒有|无法|不能|未能|没法|找不到|做不到",
    re.IGNORECASE,
)
SMALL = 100
"""Whole numbers below it may be days, lines and counts: a refusal may have them."""


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
    stated = (figure for figure in figures_in(said.text) - known if figure != int(figure) or figure >= SMALL)
    return REFUSAL.search(said.text) is not None and not any(True for _ in stated)


def answer_fault(said: Said, wanted: Answer, requests: Sequence[str]) -> str | None:
    """Return what is wrong with the answer, None if it is right or refuses honestly."""
    figure = Decimal(wanted.figure)
    if is_refusal(said, requests):
        return None
    if figure not in figures_in(said.text):
        return f"the answer does not give {wanted.figure}"
    if not any(_shows(citation, figure, wanted.source) for citation in said.citations):
        return f"no verified citation of {wanted.source} has {wanted.figure}"
    return None


def _shows(citation: Mapping[str, Any], figure: Decimal, source: str) -> bool:
    is_there = citation["verified"] and citation["path"] == source
    return is_there and figure in figures_in(str(citation["quote"]))
