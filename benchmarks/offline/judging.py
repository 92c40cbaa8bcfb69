"""Verdicts on answers: right, not sure, confidently wrong, or something attempted that nobody asked for. Pure."""

import re
from collections.abc import Sequence
from typing import Final, Literal

from benchmarks.offline.requests import ABSENT, NONE, Request

Verdict = Literal["right", "not sure", "confidently wrong", "unasked"]
VERDICTS: Final[tuple[Verdict, ...]] = ("right", "not sure", "confidently wrong", "unasked")
_NOT_SURE: Final = re.compile(
    r"did nothing|can't|cannot|not sure|no clear answer|found nothing|nothing (?:was|to|like|called|of)"
    r"|made no(?:thing| )"
    r"|worked out nothing|changed nothing|[Ww]hich (?:file|folder|column|sheet|one|of|words|text|other)"
    r"|[Ww]hat should"
    r"|[Ww]hat is the email|With which|Into which|no (?:row|file|text|column|such|document)|does not occur|is not in"
    r"|isn't|Shall I|没有|无法|做不到|哪个|哪一|什么名字|哪些文字|不明白|不能|未找到",
)


def verdict(request: Request, answer: str, proposed: Sequence[str]) -> Verdict:
    """Return what became of a request; `proposed` are the changes, each as its tool and arguments."""
    written = "\n".join(proposed)
    if request.changes == NONE:
        if proposed:
            return "unasked"
        is_right = _NOT_SURE.search(answer) if request.expect == ABSENT else re.search(request.expect, answer)
        return "right" if is_right else _unless_sure(answer)
    if re.search(request.changes, written, re.DOTALL):
        return "right" if re.search(request.expect, answer) else _unless_sure(answer)
    return "unasked" if proposed else _unless_sure(answer)


def _unless_sure(answer: str) -> Verdict:
    return "not sure" if _NOT_SURE.search(answer) else "confidently wrong"
