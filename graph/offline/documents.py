"""Sentences of a document with where they stand, and those that say most or answer a question.

When the drive has the model read many files, it answers with sentences of the file itself, and nothing else.
"""

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from drive_server.kernel.text.sentences import sentence_spans
from graph.offline.understanding.grammar import has_han, named_in, respelt, table, terms, word
from graph.offline.wording import in_all_languages, say

LONGEST: Final = 600
TABLE, SEPARATOR = "\x1f", " | "
"""Mark the heading of a sentence that is a row of a table: it is the names of its columns."""
_HEADING: Final = re.compile(r"^\s{0,3}(?:#{1,6}\s+(?P<marked>.+?)\s*#*|[=\-_*]{3,}|(?:```|~~~).*)\s*$")
_BULLET: Final = re.compile(r"^\s*(?:[-*+•·]|\d{1,3}[.)、]|[(（]\d{1,3}[)）])\s+")
_ENTRY: Final = re.compile(r"^\s*\||^[^|.!?。]*\s\|\s|^[^,.!?。]+(?:,[^,\s][^,]*)+$|^\s*[^.!?。:：\n]{1,30}[:：]\s*\S")
"""A row of a table, or a name and its value: a line of its own."""
_RULE: Final = re.compile(r"^[\s|:+-]+$")
_VALUE: Final = re.compile(r"(?m)^([^\d\n]{2,40}?)[:：]?\s*\d")
_MARKUP: Final = re.compile(r"\*\*|__|`|^\s*>\s?")


class Sentence(NamedTuple):
    """One sentence. `start` and `end` are offsets, `heading` is the one above it."""

    text: str
    start: int
    end: int
    heading: str

    @property
    def is_row(self) -> bool:
        """Say whether it is a row of a table."""
        return self.heading.startswith(TABLE)


def first_heading(text: str) -> str:
    """Return the text's first heading, empty if it begins with none."""
    match = _HEADING.match(text.strip().partition("\n")[0])
    return _plain(match["marked"]) if match and match["marked"] else ""


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub("", text).split())


def read_sentences(text: str, begin: int = 0, stop: int | None = None) -> list[Sentence]:
    """Return the sentences of text[begin:stop] in order. Headings are none; a list item or a table row is one."""
    found: list[Sentence] = []
    for start, end, heading in _units(text[begin:stop]):
        row = heading.startswith(TABLE)
        own = begin + start, begin + start + len(text[begin + start : begin + end].rstrip())
        for first, last in [own] if row else sentence_spans(text, *own):
            plain = _plain(_BULLET.sub("", text[first:last]).strip("| "))
            if any(char.isalnum() for char in plain):
                found.append(Sentence(plain[:LONGEST], first, last, heading))
    return found


def cells_of(line: str) -> list[str]:
    """Return the cells of a line that is a row of a table: between bars, or of comma- or tab-separated values."""
    piped = " | " in line or line.lstrip().startswith("|")
    mark = "|" if piped else "\t" if "\t" in line else ","
    if mark not in line or (mark == "," and not _ENTRY.match(line)):
        return []
    return [_plain(one) for one in next(csv.reader([line.strip().strip("|" * piped)], delimiter=mark))]


def _table_heads(lines: Sequence[str]) -> dict[int, int]:
    """Return for each row of a table in the lines the line of its head: the first of those with as many cells."""
    heads, head, width = dict[int, int](), -1, 0
    for at, line in enumerate(lines):
        if _RULE.match(line) or not line.strip():
            continue
        count = len(cells_of(line))
        if count != width:
            head, width = at, count
        elif count:
            heads[at] = head
    return {at: head for at, head in heads.items() if not re.search(r"\d", lines[head])}


def _units(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield runs of lines that read on: a heading ends one, a list item and an entry are one each."""
    heading, at, begin = "", 0, -1
    lines = text.splitlines(keepends=True)
    heads = _table_heads(lines)
    for number, line in enumerate(lines):
        row, marked = number in heads, _HEADING.match(line)
        alone = bool(row or number in heads.values() or marked or not line.strip())
        if begin >= 0 and (alone or _BULLET.match(line) or _ENTRY.match(line)):
            yield begin, at, heading
            begin = -1
        if row:
            yield at, at + len(line), TABLE + SEPARATOR.join(cells_of(lines[heads[number]]))
        elif marked and marked["marked"]:
            heading = _plain(marked["marked"])
        elif begin < 0 and not alone and not _RULE.match(line):
            begin = at
        at += len(line)
    if begin >= 0:
        yield begin, at, heading


MOST, MAX_QUOTED, MAX_SENTENCES = 6, 3, 2_000
SURE_ENOUGH, OWN_ENOUGH, ABSENT, ACROSS = 0.55, 0.5, 0.75, 0.3
_KINDS: Final = [(re.compile(asks, re.IGNORECASE), kind) for asks, kind in table("kind")]
"""Patterns that an answer has to match, by how the question asks."""


def kind_of(question: str) -> re.Pattern[str] | None:
    """Return the kind of value that alone answers a question: a number, a date, a time; None for any words."""
    return next((kind for asks, kind in _KINDS if asks.search(question)), None)


class Passage(NamedTuple):
    """Sentences that answer a question. `fit` is how much of the question they and the file's name speak of, 0 to 1."""

    sentences: tuple[Sentence, ...]
    fit: float
    own: float = 1.0

    @property
    def is_sure(self) -> bool:
        """Say whether they speak of enough of the question to be called an answer."""
        return self.fit >= SURE_ENOUGH and self.own >= OWN_ENOUGH


def key_sentences(sentences: Sequence[Sentence], topic: str = "") -> list[Sentence]:
    """Return the sentences that say most of a text or of a topic in it, in order: a few, of each section one."""
    considered = sentences[:MAX_SENTENCES]
    if len(considered) <= MOST + 2 and not topic:
        return list(considered)
    bags, wanted = [set(terms(f"{one.heading} {one.text}")) for one in considered], set(terms(topic))
    common, firsts = Counter(term for bag in bags for term in bag), dict[str, int]()
    for at, one in enumerate(considered):
        firsts.setdefault(one.heading, at)

    def rank(at: int) -> tuple[float, ...]:
        central = sum(math.log1p(common[term]) for term in bags[at]) / (len(bags[at]) + 4)
        return -len(wanted & bags[at]), not wanted and at != firsts[considered[at].heading], -central, at

    chosen = sorted(range(len(considered)), key=rank)[:MOST]
    on_topic = [at for at in chosen if wanted & bags[at]]
    return [considered[at] for at in sorted(on_topic or chosen)]


def best_passage(sentences: Sequence[Sentence], question: str, context: str = "") -> Passage | None:
    """Return the sentence that speaks of most of a question, with others where it asks for several things."""
    considered, kind = sentences[:MAX_SENTENCES], kind_of(question)
    bags, above = [set(terms(one.text)) for one in considered], set(terms(context))
    wanted = respelt(terms(question), set[str]().union(above, *bags))
    typed = [kind is None or kind.search(one.text) is not None for one in considered]
    if not wanted or not considered:
        # "How much is it?" asks for the only figure that there is.
        only = [one for one, fits in zip(considered, typed, strict=True) if kind and fits]
        return Passage((only[0],), 1.0) if len(only) == 1 else None
    # A row of a table answers only for its own names: the names of its columns fit every row.
    headings = [
        set(terms(one.heading)) if bag & wanted or not one.is_row else set[str]()
        for bag, one in zip(bags, considered, strict=True)
    ]
    rarity = _rarity(wanted, bags, above.union(*headings))
    scored = [
        fits
        + sum(weight * (1 if term in bag else 0.5) for term, weight in rarity.items() if term in bag | head - above)
        for bag, head, fits in zip(bags, headings, typed, strict=True)
    ]
    best = max(range(len(considered)), key=lambda at: (scored[at], -at))
    if scored[best] <= typed[best] and not (kind and typed[best] and wanted & above):
        return None
    if not considered[best].is_row and (alike := _speaking_alike(bags, best, rarity)):
        return Passage(tuple(considered[at] for at in alike), 1.0, 0.0)
    chosen = _covering(bags, set(rarity) - bags[best], best) if word("several").search(question) else [best]
    said = set[str]().union(*(bags[at] | headings[at] for at in chosen))
    fit = sum(weight for one, weight in rarity.items() if one in said | above) / sum(rarity.values())
    rest = sum(weight for one, weight in rarity.items() if one not in above)
    own = sum(weight for one, weight in rarity.items() if one in said - above) / rest if rest else 1.0
    alone = rest or kind is None or sum(typed) == 1
    return Passage(tuple(considered[at] for at in sorted(chosen)), fit, own if typed[best] and alone else 0.0)


def _covering(bags: Sequence[set[str]], missing: set[str], best: int) -> list[int]:
    chosen = [best]
    while len(chosen) < MAX_QUOTED:
        other = max(range(len(bags)), key=lambda at: (len(bags[at] & missing), -at))
        if not bags[other] & missing:
            break
        chosen.append(other)
        missing = missing - bags[other]
    return chosen


def _speaking_alike(bags: Sequence[set[str]], best: int, rarity: dict[str, float]) -> list[int]:
    """Return the few sentences between which a question can't choose, as it has but one word in common with them."""
    known = [one for one in rarity if any(one in bag for bag in bags)]
    if len(known) != 1 or known[0] not in bags[best]:
        return []
    speaking = [at for at, bag in enumerate(bags) if known[0] in bag]
    return speaking if 1 < len(speaking) <= MAX_QUOTED else []


def _rarity(wanted: set[str], bags: Sequence[set[str]], elsewhere: set[str]) -> dict[str, float]:
    """Return how much each term tells: the rarer, the more. Pairs of characters across two words tell nothing."""
    counts = {one: sum(one in bag for bag in bags) for one in wanted}
    present = {one for one, count in counts.items() if count} | (wanted & elsewhere)
    absent = ABSENT * (1.0 + math.log(len(bags) + 1))
    found: dict[str, float] = {}
    for one, count in sorted(counts.items()):
        across = has_han(one) and any(other[-1] == one[0] or other[0] == one[-1] for other in present)
        found[one] = 1.0 + math.log((len(bags) + 1) / (1 + count)) if one in present else ACROSS if across else absent
    return found


def named_number(question: str) -> str:
    """Return the number of the invoice, order or the like that a question names, in small letters; empty if none."""
    return named_in("identified", question.casefold()).strip("-/")


def parts_of(text: str, number: str, called: str) -> list[tuple[int, int]]:
    """Return where the parts of a text begin and end that belong to the thing with a number; none if that is not clear.

    A part begins where a label with the number is set on its own, such as "Invoice number 7" at the beginning of a line
    or with a capital, and ends at the label of another thing. If a value like those of the things stands before the
    first label, labels stand below their values. A text without labels whose name `called` has the number is its own.
    """
    small = text.lower() if len(text.lower()) == len(text) else text
    found = [(one.start(), named_number(one[0])) for one in word("identified").finditer(small)]
    # A label is no word in a sentence: it begins with a capital, or after a blank in Chinese.
    marks = [(at, one) for at, one in found if not text[at].islower() and not text[at - 1 : at].strip()]
    if {one for _, one in marks} <= {number}:
        whole = marks or (re.search(rf"(?<![\da-z]){re.escape(number)}(?![\da-z])", called.casefold()))
        return [(0, len(text))] if whole else []
    first = marks[0][0]
    if set(_VALUE.findall(text[:first])) & set(_VALUE.findall(text[first:])):
        return []
    runs = [(mine, next(run)[0]) for mine, run in groupby(marks, key=lambda mark: mark[1] == number)]
    ends = [at for _, at in runs[1:]] + [len(text)]
    return [(at, end) for (mine, at), end in zip(runs, ends, strict=True) if mine]


NOTHING: Final = "NOTHING"
MAX_LISTED, MAX_SAID = 200, 160
_TASK: Final = re.compile(r"\A<task>\n(?P<task>.*?)\n</task>", re.DOTALL)
_FILE: Final = re.compile(r"^<file path=\"[^\n]*?\"[^\n>]*>\n(?P<text>.*)\n</file>\Z", re.DOTALL | re.MULTILINE)
_ANSWER: Final = re.compile(r"(?ms)^<answer file=\"(?P<file>[^\n]*?)\">\n(?P<text>.*?)\n</answer>$")
_MENTIONED: Final = re.compile(r"[“\"「]([^”\"」]+)[”\"」]")


def lent_answer(text: str) -> str | None:
    """Return the answer to a request of the drive about a file, or about many answers; None if the text is no such."""
    task = _TASK.match(text)
    if task is None:
        return None
    if (file := _FILE.search(text, task.end())) is not None:
        content = _unescaped(file["text"])
        chosen = _about(task["task"], read_sentences(content))
        quote = content[chosen[0].start : chosen[0].end] if chosen else ""
        return f"{_joined([one.text for one in chosen])}\nQUOTE: {quote}" if chosen else NOTHING
    answers = [(answer["file"], _unescaped(answer["text"])) for answer in _ANSWER.finditer(text, task.end())]
    if any(file.startswith("part ") for file, _ in answers):
        return _joined([said.split("\n")[0] for _, said in answers[:MAX_QUOTED]])
    lines = [_line(file, said) for file, said in answers[:MAX_LISTED]]
    return "\n".join([*lines, "", say("zh" if has_han(task["task"]) else "en", "quoted_by")]) if answers else None


def _about(asked: str, sentences: Sequence[Sentence]) -> list[Sentence]:
    named = [set(terms(name)) for name in _MENTIONED.findall(asked)]
    if named:
        said = [(one, set(terms(f"{one.heading} {one.text}"))) for one in sentences]
        return [one for one, held in said if all(name and name <= held for name in named)][:MAX_QUOTED]
    if word("summarising").search(asked) or not terms(asked):
        return key_sentences(sentences)[:MAX_QUOTED]
    passage = best_passage(sentences, asked)
    return list(passage.sentences) if passage is not None and passage.fit >= SURE_ENOUGH else []


def _line(file: str, text: str) -> str:
    if file.startswith("group "):
        for lead in in_all_languages("quoted_by"):
            text = text.replace(lead, "")
        return text.strip()
    said = " ".join(text.split())
    return f"- {_unescaped(file)}: {said if len(said) <= MAX_SAID else said[: MAX_SAID - 1] + '…'}"


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<")


def _joined(parts: Sequence[str]) -> str:
    return ("" if parts and has_han(parts[0]) else " ").join(parts)
