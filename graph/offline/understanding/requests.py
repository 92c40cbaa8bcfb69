"""Text -> intents: the rules of both languages, tried clause by clause."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from graph.offline.understanding.attempts import ending, located, respelt, shared, unprefixed
from graph.offline.understanding.clauses import (
    is_only_polite,
    split_clauses,
    strip_polite_end,
    strip_polite_start,
    tidy,
)
from graph.offline.understanding.guessing import guess
from graph.offline.understanding.intents import CHANGING, LIKELY, Intent
from graph.offline.understanding.joining import join
from graph.offline.understanding.language import detect, has_han
from graph.offline.understanding.many import many
from graph.offline.understanding.masking import EMAIL, Masked, mask
from graph.offline.understanding.mood import Mood, mood_of
from graph.offline.understanding.rows import first_match
from graph.state import Language

LONGEST: Final = 1_200
"""Characters of a message that are looked at, once what it quotes or dictates is taken out. Of a longer one nothing is
done that changes anything: the end may say more."""

PRONOUNS_OF_PEOPLE: Final = frozenset({"", "him", "her", "them", "he", "she", "they", "他", "她", "他们", "她们"})
_DICTATED: Final = re.compile(
    r"(?P<lead>\b(?:content|contents|text|containing|saying|says|reading|reads|body)\b\s*[:：]\s*|"
    r"^(?!.*\bfolders?\b)(?:.*\b)?(?:add|append|insert|write|put|save|store|note)\b[^:：\n]{0,60}[:：]\s*|(?:内容|"
    r"写着?|正文|文字)(?:是|为)?[:：]\s*|^(?!.*文件夹).*?(?:添加|加上|追加|插入|补充|写上|写入|加入|补|加|写)[^:："
    r"\n]{0,20}[:：]\s*)(?P<content>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)


_DICTATED_AT_LENGTH: Final = re.compile(
    r"(?:with (?:the )?(?:content|text)|that says|containing|saying|内容是|内容为|写上|写入)\s*(?P<content>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)


def understand(text: str, *, file_open: bool = False) -> tuple[Intent, ...]:
    """Return what a message asks for, in order; empty if it can't be told.

    `file_open` says that the person has a document open, so that "change A to B" is about its text.
    """
    return _remembered(text, file_open) if len(text) <= LONGEST else _read(text, file_open)


def _read(text: str, file_open: bool) -> tuple[Intent, ...]:
    masked = _hide_dictation(mask(text))
    spoken = detect(masked.text)
    intents = _understand(masked, spoken, file_open=file_open)
    if _is_sure(intents) or not has_han(masked.text):
        return intents
    others = _understand(masked, "en" if spoken == "zh" else "zh", file_open=file_open)
    return others if _is_sure(others) else intents or others


_remembered = lru_cache(maxsize=256)(_read)
"""The model reads the same message again in every round of a turn."""


def _is_sure(intents: Sequence[Intent]) -> bool:
    return any(intent.confidence > LIKELY for intent in intents)


def _hide_dictation(masked: Masked) -> Masked:
    """Treat what follows "with the content:" as one quotation, however long it is."""
    match = _DICTATED.search(masked.text)
    if match is None and len(masked.text) > LONGEST:
        match = _DICTATED_AT_LENGTH.search(masked.text)
    return masked.with_dictation(match.start("content")) if match and len(match["content"]) > 1 else masked


def _understand(masked: Masked, language: Language, *, file_open: bool) -> tuple[Intent, ...]:
    text = tidy(masked.text, language)
    clauses = split_clauses(text[:LONGEST], language)
    found = [_clause(clause, masked, language) for clause in clauses]
    if len(text) > LONGEST:
        found = [intent for intent in found if intent and intent.kind not in CHANGING]
    emails = tuple(masked.hidden[mark] for mark in re.findall(EMAIL, masked.text))
    return tuple(_addressed(intent, emails) for intent in join([one for one in found if one], file_open=file_open))


def _addressed(intent: Intent, emails: tuple[str, ...]) -> Intent:
    """Give "share it with her" the address that another sentence of the message has."""
    known = intent.kind in {"share", "revoke"} and not intent.emails and intent.person.lower() in PRONOUNS_OF_PEOPLE
    return replace(intent, emails=tuple(dict.fromkeys(emails)), person="") if known and emails else intent


def _clause(clause: str, masked: Masked, language: Language) -> Intent | None:
    asked = strip_polite_end(strip_polite_start(clause, language), language)
    whole = clause.strip(" ,.;:!?。、~…\n\t")
    for spoken in dict.fromkeys((whole, strip_polite_end(clause, language), asked)):
        talk = first_match("talk", spoken, masked, language)
        if talk:
            return talk
    if is_only_polite(clause, language):
        return None
    mood = mood_of(clause, asked, language)
    intent = (
        many(asked, masked, language)
        or located(asked, masked, language)
        or shared(asked, masked, language)
        or first_match("requests", asked, masked, language)
        or unprefixed(asked, masked, language)
        or respelt(asked, masked, language)
        or first_match("loose", asked, masked, language)
        or first_match("last", asked, masked, language)
        or ending(asked, masked, language)
        or guess(clause, asked, masked, language)
    )
    if mood == "wish" or intent is None or not _would_change(intent, mood):
        return intent
    return _instead(mood, clause, asked, masked, language)


def _would_change(intent: Intent, mood: Mood) -> bool:
    """Say whether the intent changes something, other than what such a mood asks for: "don't let Bob see it"."""
    meant: dict[Mood, str] = {"negated": "revoke", "statement": "restore"}
    return intent.kind in CHANGING and meant.get(mood) != intent.kind


def _instead(mood: Mood, clause: str, asked: str, masked: Masked, language: Language) -> Intent | None:
    said = masked.reveal(clause).strip()
    if mood == "negated":
        return Intent("decline", said=said)
    if mood == "question":
        return Intent("ask", said=said, query=said, confidence=LIKELY)
    return guess(clause, asked, masked, language, by_verb=False)
