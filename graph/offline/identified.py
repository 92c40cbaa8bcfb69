"""The part of a text that belongs to the thing whose number a question names: one invoice of several, one order."""

import re
from collections.abc import Sequence

from graph.offline.documents import Sentence
from graph.offline.understanding.grammar import word

_DIGITS = re.compile(r"\d+")


def named_number(question: str) -> str:
    """Return the number of the invoice, order or the like that a question names, in small letters; empty if none."""
    match = word("identified").search(question.casefold())
    return next(filter(None, match.groups()), "").strip("-/") if match else ""


def cut_at_numbers(sentences: Sequence[Sentence], text: str) -> list[Sentence]:
    """Return the sentences, each cut before a label with a number, such as "Invoice number 7", that is set on its own.

    Lines of a laid-out page may run on in one line: "Amount due: 5 EUR Invoice number 7". A label counts that begins
    with a capital, or after a blank in Chinese, and that stands there with other numbers, too.
    """
    numbers: dict[str, set[str]] = {}
    starts: dict[str, list[int]] = {}
    for match in word("identified").finditer(_in_small_letters(text)):
        number = next(filter(None, match.groups()), "")
        label = match[0].removesuffix(number).strip(" :：#-")
        numbers.setdefault(label, set()).add(number)
        if not text[match.start()].islower() and not text[match.start() - 1 : match.start()].strip():
            starts.setdefault(label, []).append(match.start())
    cuts = sorted(at for label, found in starts.items() if len(numbers[label]) > 1 for at in found)
    return [part for one in sentences for part in _cut(one, text, [at for at in cuts if one.start < at < one.end])]


def _cut(sentence: Sentence, text: str, cuts: Sequence[int]) -> list[Sentence]:
    if not cuts:
        return [sentence]
    parts: list[Sentence] = []
    for start, end in zip([sentence.start, *cuts], [*cuts, sentence.end], strict=True):
        written = text[start:end].rstrip()
        line = sentence.line + text.count("\n", sentence.start, start)
        last_line = line + written.count("\n")
        words = " ".join(written.split())
        parts.append(
            sentence._replace(text=words, start=start, end=start + len(written), line=line, last_line=last_line)
        )
    return parts


def _in_small_letters(text: str) -> str:
    small = text.lower()
    return small if len(small) == len(text) else text


def belonging(sentences: Sequence[Sentence], number: str, called: str) -> list[Sentence]:
    """Return the sentences that belong to the thing with the number; empty if none do, or if that can't be told.

    A section below a heading with the number is the thing's. Else its part begins where its number stands as those of
    other things stand in their parts, and ends where the next one begins; that can't be told if a value like those
    of the things stands before the first number, as numbers then stand below. A text with no such numbers, or whose
    name `called` has the number, is about the one thing.
    """
    own = _whole(number)
    below = [one for one in sentences if own.search(one.heading.casefold())]
    if below:
        return below
    marks = [at for at, one in enumerate(sentences) if own.search(one.text.casefold())]
    others = {at for mark in marks for at in _siblings(sentences, mark, own)}
    if not others:
        whole = _is_alone(sentences, own) if marks else own.search(called.casefold()) is not None
        mentions = [sentences[at] for at in marks]
        # Lines that read on may be of another thing that only refers to this one.
        return list(sentences) if whole else [one for one in mentions if one.line == one.last_line]
    begun = [mark for mark in marks if _siblings(sentences, mark, own)]
    if _stand_below(sentences, min([*others, *begun])):
        return []
    return [sentences[at] for mark in begun for at in range(mark, _end(mark, sorted(others), len(sentences)))]


def _whole(number: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\da-z.,/-]){re.escape(number)}(?![\da-z/-]|[.,]\d)")


def _siblings(sentences: Sequence[Sentence], mark: int, own: re.Pattern[str]) -> list[int]:
    """Return the places of sentences that differ from a marked one in nothing but the numbers."""
    shape = _shape(sentences[mark].text)
    return [
        at
        for at, one in enumerate(sentences)
        if at != mark and not own.search(one.text.casefold()) and _shape(one.text) == shape
    ]


def _shape(text: str) -> str:
    """Return a line such as "Invoice number: 0, 0 May" without its digits; what follows the number may differ."""
    first = _DIGITS.search(text)
    return f"{text[: first.start()].casefold().strip()}0" if first else text.casefold()


def _stand_below(sentences: Sequence[Sentence], first: int) -> bool:
    """Say whether a value like those of the things stands before the first of their numbers."""
    labels = {shape[:-1] for one in sentences[:first] if (shape := _shape(one.text)).endswith("0")}
    after = " ".join(one.text.casefold() for one in sentences[first:])
    return any(label and label in after for label in labels)


def _end(mark: int, others: Sequence[int], count: int) -> int:
    return next((at for at in others if at > mark), count)


def _is_alone(sentences: Sequence[Sentence], own: re.Pattern[str]) -> bool:
    """Say whether no other sentence names a thing with a number of its own."""
    texts = (f"{one.heading} {one.text}".casefold() for one in sentences)
    named = (match for text in texts for match in word("identified").finditer(text))
    return all(own.fullmatch(next(filter(None, match.groups()), "").strip("-/")) for match in named)
