"""Recognise an answer about a person's files for which nothing was read. Pure.

A model that calls no tool knows only its request and the files read earlier in the conversation. A
sentence about files with figures, names or words beyond these is invented: about files by its own words, by those of
the request, or because the drive finds the request's words in a file.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final, Literal

from langchain_core.messages import AnyMessage, SystemMessage, ToolMessage

from graph.citations.claims import (
    ABSENT,
    ASKS_CHANGE,
    ASKS_FILES,
    CHANGED,
    COMPOSES,
    DENIES,
    GENERAL,
    IS_SO_NOW,
    LOOKED_FOR,
    NAME,
    OF_ASSISTANT,
    OF_FILES,
    OF_NAMES,
    OF_OWN_FILES,
    PERSONAL,
    TOLD,
    UNCHANGED,
    claims_in,
)
from graph.citations.sources import SOURCES
from graph.messages.turn_context import context_of
from graph.messages.written import outcome_of

Unread = Literal["unread", "unchanged", "uncalled"]
"""An answer states facts about files that were not read, tells of a change that was not made, or describes a call."""
UNREAD: Final = "unread"
"""Key in an answer's `additional_kwargs` with which of them it is."""
MOSTLY: Final = 0.34
"""The share of new words from which on a sentence says more than is known."""
FEW: Final = 2
FEW_HAN: Final = 3
HALF: Final = 0.5
_FIGURE: Final = re.compile(r"(?<![A-Za-z\d])(?:\d[\d.,:]*\d|\d)")
_SHORT_ID: Final = re.compile(r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{6,32}\b")
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_HAN: Final = re.compile(r"[\u3400-\u9fff]+")
_MOMENT: Final = re.compile(r"<(moment|language|last_run)>.*?</\1>", re.DOTALL)
_LISTING: Final = re.compile(r"<listing>(.*?)</listing>", re.DOTALL)
_COUNT: Final = re.compile(
    r"\b(\d+) (?:[\w-]+ )?(?:files?|folders?|items?|documents?|subfolders?)\b"
    r"|(\d+) ?[个份](?:[\u3400-\u9fff]{0,4})(?:文件夹|文件|项目|文档)"
)
_OF_TOOLS: Final = re.compile(r"\b(?:tools?|functions?|api|mcp)\b|工具|函数|接口", re.IGNORECASE)
_TAG: Final = re.compile(r"</?(?:listing|place|moment|last_run)>")
_PROMISE: Final = re.compile(
    r"(?:(?:sure|ok|okay|certainly|of course)[,.!]? )?(?:I(?:'ll| will| am going to)|let me) (?:now |first )?"
    r"(?:search|find|read|create|move|rename|share|delete|list|open)\b[^?\n]*$"
    r"|(?:好的?[，,。]?)?(?:我(?:将|来|会|先|马上|这就)|让我)[^？\n，。]{0,4}(?:搜索|查找|查看|读取|创建|新建|移动|删除|共享|查一下)[^？\n]*$",
    re.IGNORECASE,
)
_FIRST_PERSON: Final = re.compile(r"\b(?:my|our|i|we|us|me|mine)\b|我|咱", re.IGNORECASE)
_REFERS: Final = re.compile(
    r"\b(?:it|its|that|this|those|them|these|he|she|they|his|her|their|there|then|and|what about|same)\b"
    r"|它|这|那|其|他|她|呢|同样|上面|刚才",
    re.IGNORECASE,
)
_NUMBERS: Final = """\
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty"""
_TENS: Final = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_VALUES: Final = {word: number for number, word in enumerate(_NUMBERS.split(), 1) if number > 1} | _TENS
_NUMBER_WORD: Final = re.compile(rf"(?=[efnstEFNST])\b(?:{'|'.join(_VALUES)})\b", re.IGNORECASE)
"""The first letters come first: they rule out most places of a text at once."""
_COMMON_WORDS: Final = """\
a about after all also always an and any anything are as at be been before being big both but by called can contain
contains content contents could current currently did do document documents does done drive each every far file files
find folder folders following for found from get had has have here how i if in information inside into is it its just
know large like long look made make many may me more much my named need no none not nothing now of often old on one
only open or other our out own please same say says see should so some something soon states such sure tell than that
the their them then there these they this those to under up use very was we were what when where which while who why
will with would yes you your yours"""
_COMMON: Final = frozenset(_COMMON_WORDS.split())
_COMMON_HAN: Final = re.compile(
    "什么时候|什么|多少|多久|多长|哪里|哪个|哪些|哪年|几|吗|呢|吧|的|了|是|有|在|和|与|请|告诉|我们|我|你|您|这个|这份|那个|这|那|里面"
    "|里|中|上|个|份|多|会|要|能|到|为|把|给|谁|怎么|一下|可以|关于|根据|文件夹|文件|文档|云盘|没|不"
)
_ENDINGS: Final = ("ing", "ies", "ed", "es", "s", "e", "y")
_SHORTEST: Final = 3


@dataclass(frozen=True, slots=True)
class Known:
    """The words and figures of all that a request carried; `listed` is the number of items in the listing."""

    text: str
    words: frozenset[str]
    figures: frozenset[str]
    listed: frozenset[str]


@dataclass(frozen=True)
class Asked:
    """A request of the person, and the messages that the model was sent with it.

    `turn` are the messages since the request, `earlier` those of the thread before it. `has_document`: words of
    attachments or of the open document went along, beyond its first lines. `idle` are the tools that read nothing of
    the drive.
    """

    request: str
    sent: Sequence[AnyMessage]
    turn: Sequence[AnyMessage]
    earlier: Sequence[AnyMessage]
    has_document: bool = False
    idle: frozenset[str] = frozenset()
    _stated: dict[str, "_Stated"] = field(default_factory=dict[str, "_Stated"], init=False, compare=False)

    def stated(self, answer: str) -> "_Stated":
        """Return the claims of an answer, cached for several questions."""
        return self._stated.setdefault(answer, _Stated(answer, self))

    @cached_property
    def known(self) -> Known:
        """The words and figures that the model was sent: each sentence of its answer is compared with them."""
        return known_of(self.sent)

    def looked(self, message: AnyMessage) -> bool:
        """Say whether a message is the result of a call that was carried out, and that tells of the drive."""
        return isinstance(message, ToolMessage) and message.name not in self.idle and outcome_of(message) == "done"


@dataclass(frozen=True)
class _Stated:
    """The sentences of an answer that state something, and those of them that say more than is known."""

    answer: str
    asked: Asked

    @cached_property
    def claims(self) -> list[str]:
        return [*claims_in(self.answer)]

    @cached_property
    def new(self) -> list[str]:
        return [*_new_claims(self.claims, self.asked)]


def unread_claim(answer: str, asked: Asked) -> Unread | None:
    """Return the fault of the answer, by its words alone; None if there is none, or if only the drive can tell.

    `needs_drive` says whether the drive can.
    """
    stated = asked.stated(answer)
    if _tells_of_change(stated.claims, asked):
        return "unchanged"
    if is_read(asked) or TOLD.match(asked.request):
        return None
    new = stated.new
    of_files = OF_OWN_FILES if _is_general(asked.request) else OF_FILES
    if any(map(of_files.search, new)) and not (_is_made(asked.request, new) or OF_ASSISTANT.search(asked.request)):
        return "unread"
    return "unread" if new and _asks_files(asked.request) else None


def _is_general(request: str) -> bool:
    return GENERAL.search(request) is not None and ASKS_FILES.search(request) is None


def _asks_files(request: str) -> bool:
    """Say whether only the person's files can answer: it is about them, or about facts of the person alone."""
    if COMPOSES.search(request) or OF_ASSISTANT.search(request):
        return False
    is_personal = PERSONAL.search(request) and not (_FIGURE.search(request) or GENERAL.search(request))
    return ASKS_FILES.search(request) is not None or bool(is_personal)


def _tells_of_change(claims: Sequence[str], asked: Asked) -> bool:
    """Say whether the answer tells of a change that was not made."""
    claims = [claim for claim in claims if UNCHANGED.search(claim) is None]
    if any(map(CHANGED.search, claims)) and not _has_changed(asked, claims):
        return True
    is_asked = ASKS_CHANGE.match(asked.request) is not None and COMPOSES.search(asked.request) is None
    return is_asked and any(map(IS_SO_NOW.search, claims)) and not _may_have_changed(asked)


def describes_call(answer: str, asked: Asked, offered: frozenset[str]) -> bool:
    """Say whether an answer without a call names a tool, promises to use one, or repeats the product's tags."""
    if any(map(asked.looked, asked.turn)) or _OF_TOOLS.search(asked.request):
        return False
    named = any("_" in name and name in answer and re.search(rf"\b{re.escape(name)}\b", answer) for name in offered)
    return named or _TAG.search(answer) is not None or _PROMISE.match(answer.strip()) is not None


def needs_drive(answer: str, asked: Asked) -> bool:
    """Say whether the answer tells something new, which is about files if the drive finds the request's words."""
    if is_read(asked) or COMPOSES.search(asked.request) or GENERAL.search(asked.request):
        return False
    return bool(_terms(asked.request)) and bool(asked.stated(answer).new)


def is_asked_of(hits: Sequence[tuple[str, str]], request: str) -> bool:
    """Say whether one of the passages that the drive found for the request has its words, or its file's name is there.

    A passage has all of the words, or half of them where the person speaks of themself or in Chinese. `hits` are names
    and texts.
    """
    wanted = _terms(request)
    names = (_terms(name.rpartition(".")[0] or name) for name, _ in hits)
    if any(name and name <= wanted for name in names):
        return True
    needed = HALF if _FIRST_PERSON.search(request) or _HAN.search(request) else 1.0
    return bool(wanted) and any(
        len(wanted & _all_terms(f"{name}\n{text}")) >= needed * len(wanted) for name, text in hits
    )


def is_read(asked: Asked) -> bool:
    """Say whether something was read for the answer, went along with the request, or was read before for the like."""
    if asked.has_document or any(map(asked.looked, asked.turn)):
        return True
    if not has_sources(asked.earlier):
        return False
    before = known_of(asked.earlier)
    return _REFERS.search(asked.request) is not None or _terms(asked.request) <= before.words


def has_sources(messages: Sequence[AnyMessage]) -> bool:
    """Say whether files were searched or read among the messages."""
    return any(SOURCES in message.additional_kwargs for message in messages)


def known_of(messages: Sequence[AnyMessage]) -> Known:
    """Return the words and figures of messages, without system messages and answers that had no source."""
    texts = [
        _MOMENT.sub(" ", str(message.text))
        for message in messages
        if not isinstance(message, SystemMessage) and not message.additional_kwargs.get(UNREAD)
    ]
    text = _SHORT_ID.sub(" ", "\n".join(texts))
    listing = [line for found in _LISTING.finditer(text) for line in found[1].strip().splitlines()]
    folders = sum(line.endswith("/") for line in listing)
    counts = frozenset(map(str, (len(listing), folders, len(listing) - folders))) if listing else frozenset[str]()
    return Known(text.casefold(), frozenset(_all_terms(text)), frozenset(_figures(text)), counts)


def _has_changed(asked: Asked, claims: Sequence[str]) -> bool:
    """Say whether a change that is told of may have been made, or is none of the assistant's."""
    # A report of a file's text may have the words of a change; then it tells more than the request.
    return _may_have_changed(asked) or COMPOSES.search(asked.request) is not None or not any(map(_is_own_act, claims))


def _may_have_changed(asked: Asked) -> bool:
    """Say whether a call was made that may have changed something: in this turn, or earlier by the context."""
    if any(map(asked.looked, asked.turn)):
        return True
    has_before = any(asked.looked(message) and SOURCES not in message.additional_kwargs for message in asked.earlier)
    return has_before or any(
        context_of(message).find("<last_") >= 0 or "<summary" in context_of(message) for message in asked.sent
    )


def _is_own_act(claim: str) -> bool:
    return re.search(r"\bI\b|\bI've\b|has been|have been|is now|are now|已|成功|刚刚|好了|完成", claim) is not None


def _is_made(request: str, claims: Sequence[str]) -> bool:
    """Say whether the answer is a text that the person asked for, and names no file of theirs."""
    return COMPOSES.search(request) is not None and not any(map(NAME.search, claims))


def _new_claims(claims: Sequence[str], asked: Asked) -> Iterator[str]:
    tried = any(isinstance(message, ToolMessage) for message in asked.turn)
    for claim in claims:
        is_absent = (ABSENT.search(claim) or DENIES.search(claim)) is not None
        if (not tried and _is_unsearched(claim)) if is_absent else _is_new(claim, asked.known):
            yield claim


def _is_unsearched(claim: str) -> bool:
    """Say whether a sentence denies something that only a search can find; a listing shows names."""
    return (LOOKED_FOR.search(claim) or DENIES.search(claim)) is not None and OF_NAMES.search(claim) is None


def _is_new(claim: str, known: Known) -> bool:
    """Say whether a sentence has a figure, a file's name, or many words that are not known."""
    if any(name.casefold() not in known.text for name in NAME.findall(claim)):
        return True
    counted = _COUNT.sub(lambda found: "" if (found[1] or found[2]) in known.listed else found[0], _with_digits(claim))
    if _digits_in(counted) - known.figures:
        return True
    words, parts = _latin_terms(claim), _han_terms(claim)
    new_words, new_parts = words - known.words, parts - known.words
    return _exceeds(new_words, words, FEW) or _exceeds(new_parts, parts, FEW_HAN)


def _exceeds(new: set[str], terms: set[str], few: int) -> bool:
    return len(new) >= few and len(new) > MOSTLY * len(terms)


def _with_digits(text: str) -> str:
    return _NUMBER_WORD.sub(lambda found: str(_VALUES[found[0].casefold()]), text)


def _figures(text: str) -> set[str]:
    return _digits_in(_with_digits(text))


def _digits_in(text: str) -> set[str]:
    return {found.replace(",", "") for found in _FIGURE.findall(text)}


def _terms(text: str) -> set[str]:
    return _latin_terms(text) | _han_terms(text)


def _all_terms(text: str) -> set[str]:
    """Return the terms of a text, in Chinese also those across particles: they are there to be found."""
    return _latin_terms(text) | _pairs(text)


def _latin_terms(text: str) -> set[str]:
    words = (word for word in _WORD.findall(_HAN.sub(" ", text.casefold())) if word not in _COMMON)
    return {_stem(word) for word in words}


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    ending = next((one for one in _ENDINGS if word.endswith(one) and len(word) - len(one) >= _SHORTEST), "")
    return word.removesuffix(ending)


def _han_terms(text: str) -> set[str]:
    return _pairs(_COMMON_HAN.sub(" ", text))


def _pairs(text: str) -> set[str]:
    return {run[at : at + 2] for run in _HAN.findall(text) for at in range(len(run) - 1)}
