"""The part of a text that belongs to the thing whose number a question names: one invoice of several, one order."""

import re

from graph.offline.understanding.grammar import word

_VALUE = re.compile(r"(?m)^([^\d\n]{2,40}?)[:：]?\s*\d")


def named_number(question: str) -> str:
    """Return the number of the invoice, order or the like that a question names, in small letters; empty if none."""
    match = word("identified").search(question.casefold())
    return _number(match) if match else ""


def _number(match: re.Match[str]) -> str:
    return next(filter(None, match.groups()), "").strip("-/")


def parts_of(text: str, number: str, called: str) -> list[tuple[int, int]]:
    """Return where the parts of a text begin and end that belong to the thing with a number; none if that is not clear.

    A part begins where a label with the number is set on its own, such as "Invoice number 7" at the beginning of a line
    or with a capital, and ends at the label of another thing. If a value like those of the things stands before the
    first label, labels stand below what is theirs. A text without labels whose name `called` has the number is its own.
    """
    small = text.lower() if len(text.lower()) == len(text) else text
    marks = [(one.start(), _number(one)) for one in word("identified").finditer(small) if _stands_alone(text, one)]
    own, others = ([at for at, one in marks if (one == number) is same] for same in (True, False))
    if not others:
        whole = own or (not marks and re.search(rf"(?<![\da-z]){re.escape(number)}(?![\da-z])", called.casefold()))
        return [(0, len(text))] if whole else []
    first = marks[0][0]
    if set(_VALUE.findall(text[:first])) & set(_VALUE.findall(text[first:])):
        return []
    ends = [*others, len(text)]
    starts = [at for at in own if not any(before < at and not _between(others, before, at) for before in own)]
    return [(at, next(end for end in ends if end > at)) for at in starts]


def _between(places: list[int], low: int, high: int) -> bool:
    return any(low < at < high for at in places)


def _stands_alone(text: str, match: re.Match[str]) -> bool:
    """Say whether a label is no word in a sentence: it begins with a capital, or after a blank in Chinese."""
    return not text[match.start()].islower() and not text[match.start() - 1 : match.start()].strip()
