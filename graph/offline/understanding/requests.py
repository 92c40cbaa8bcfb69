"""Text -> intents: the rules of both languages, tried clause by clause."""

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Final

from graph.offline.understanding.building import build
from graph.offline.understanding.clauses import (
    is_only_polite,
    split_clauses,
    strip_polite_end,
    strip_polite_start,
    tidy,
)
from graph.offline.understanding.grammar import compile_pattern, macros
from graph.offline.understanding.guessing import guess
from graph.offline.understanding.intents import CHANGING, LIKELY, Intent
from graph.offline.understanding.joining import join
from graph.offline.understanding.language import detect
from graph.offline.understanding.lexicon_en import FUNCTION_WORDS
from graph.offline.understanding.masking import EMAIL, FILE, PATH, QUOTE, Masked, mask
from graph.offline.understanding.mood import Mood, mood_of
from graph.offline.understanding.patterns import LAST, LOOSE, REQUESTS, TALK
from graph.offline.understanding.patterns.row import Row
from graph.offline.understanding.references import Ref, parse_reference
from graph.offline.understanding.slots import role_in
from graph.offline.understanding.verbs_en import ACTIONS
from graph.state import Language

LONGEST: Final = 1_200
"""Characters of a message that are looked at, once what it quotes or dictates is taken out."""

SHORTEST_MISSPELT: Final = 4
MOST_DROPPED: Final = 9
_VAGUE: Final = frozenset({"role_hint", "find", "read", "insert", "replace", "restore", "undo", "rename"})
_CHANGES: Final = frozenset({"move", "trash", "create_folder", "create_file", "share", "revoke", "save_summary"})
PRONOUNS_OF_PEOPLE: Final = frozenset({"", "him", "her", "them", "he", "she", "they", "他", "她", "他们", "她们"})
Compiled = tuple[tuple[Row, re.Pattern[str]], ...]
_DICTATED: Final = re.compile(
    r"(?P<lead>\b(?:content|contents|text|containing|saying|says|reading|reads|body)\b\s*[:：]\s*|"
    r"^(?!.*\bfolders?\b)(?:.*\b)?(?:add|append|insert|write|put|save|store|note)\b[^:：\n]{0,60}[:：]\s*|(?:内容|"
    r"写着?|正文|文字)(?:是|为)?[:：]\s*|^(?!.*文件夹).*?(?:添加|加上|追加|插入|补充|写上|写入|加入|补|加|写)[^:："
    r"\n]{0,20}[:：]\s*)(?P<content>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_EDITS: Final = frozenset({"replace", "insert", "rename"})


@lru_cache(maxsize=256)
def understand(text: str, *, file_open: bool = False, language: Language | None = None) -> tuple[Intent, ...]:
    """Return what a message asks for, in order; empty if it can't be told.

    `file_open` says that the person has a document open, so that "change A to B" is about its text.
    """
    masked = _hide_dictation(mask(text))
    spoken = language or detect(masked.text)
    intents = _understand(masked, spoken, file_open=file_open)
    if _is_sure(intents) or not _has_han(masked.text):
        return intents
    others = _understand(masked, "en" if spoken == "zh" else "zh", file_open=file_open)
    return others if _is_sure(others) else intents or others


def _is_sure(intents: Sequence[Intent]) -> bool:
    return any(intent.confidence > LIKELY for intent in intents)


def _has_han(text: str) -> bool:
    return re.search("[\u3400-\u9fff]", text) is not None


def _hide_dictation(masked: Masked) -> Masked:
    """Treat what follows "with the content:" as one quotation, however long it is."""
    match = _DICTATED.search(masked.text)
    if not match or len(match["content"]) < 2:
        return masked
    content = masked.reveal(match["content"])
    hidden = dict(masked.hidden)
    mark = chr(0xE3FF)
    hidden[mark] = content
    return Masked(masked.text[: match.start("content")] + mark, hidden)


def _understand(masked: Masked, language: Language, *, file_open: bool) -> tuple[Intent, ...]:
    text = tidy(masked.text, language)[:LONGEST]
    clauses = split_clauses(text, language)
    found = [_clause(clause, masked, language) for clause in clauses]
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
        talk = _match(TALK, spoken, masked, language)
        if talk:
            return talk
    if is_only_polite(clause, language):
        return None
    mood = mood_of(clause, asked, language)
    intent = (
        _located(asked, masked, language)
        or _shared(asked, masked, language)
        or _match(REQUESTS, asked, masked, language)
        or _unprefixed(asked, masked, language)
        or _respelt(asked, masked, language)
        or _match(LOOSE, asked, masked, language)
        or _match(LAST, asked, masked, language)
        or _ending(asked, masked, language)
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


_ROLE_TAIL = re.compile(
    r"[,;]?\s*(?:权限是|权限为|但|而且)?(?:他|她|他们)?(?:只能|仅能|只可|仅可|仅限|可以|可|能|允许)(?P<role>查看|"
    r"编辑|修改|阅读|看|读)[它一下]*$"
)


def _shared(clause: str, masked: Masked, language: Language) -> Intent | None:
    """Try a sharing whose role comes after a comma: 给 E 计划.md 的权限,只能看."""
    tail = _ROLE_TAIL.search(clause) if language == "zh" and re.search(EMAIL, clause) else None
    intent = _match(REQUESTS, clause[: tail.start()], masked, language) if tail and tail.start() else None
    if not tail or not intent or intent.kind != "share":
        return None
    return replace(intent, role=role_in(tail["role"]) or intent.role)


def _match(tables: dict[Language, tuple[Row, ...]], clause: str, masked: Masked, language: Language) -> Intent | None:
    for row, pattern in _compiled(_TABLE_NAMES[id(tables)], language):
        match = pattern.fullmatch(clause)
        intent = build(row, _filled(match), clause, masked, language) if match else None
        if intent:
            return intent
    return None


_TABLES: Final = {"talk": TALK, "requests": REQUESTS, "loose": LOOSE, "last": LAST}
_TABLE_NAMES: Final = {id(tables): name for name, tables in _TABLES.items()}


@cache
def _compiled(table: str, language: Language) -> Compiled:
    return tuple((row, compile_pattern(row.pattern, language)) for row in _TABLES[table][language])


def _filled(match: re.Match[str]) -> dict[str, str]:
    return {name: value for name, value in match.groupdict().items() if value}


def _unprefixed(clause: str, masked: Masked, language: Language) -> Intent | None:
    rest = _PREFIXES[language].sub("", clause, count=1)
    if not rest or rest == clause:
        return None
    return (
        _match(REQUESTS, rest, masked, language)
        or _match(LOOSE, rest, masked, language)
        or _match(LAST, rest, masked, language)
    )


def _ending(clause: str, masked: Masked, language: Language) -> Intent | None:
    """Try what is left when words are taken off the front: "I'd be glad about a summary of plan.md"."""
    for rest in _endings(clause, language):
        intent = _match(REQUESTS, rest, masked, language)
        if intent and intent.kind not in _VAGUE and _is_definite(rest, intent):
            return replace(intent, said=masked.reveal(clause).strip(), confidence=LIKELY)
    return None


def _endings(clause: str, language: Language) -> list[str]:
    if language == "en":
        words = clause.split(" ")
        return [" ".join(words[start:]) for start in range(1, min(len(words) - 1, MOST_DROPPED))]
    return [clause[start:] for start in range(1, min(len(clause) - 2, MOST_DROPPED))]


def _is_definite(rest: str, intent: Intent) -> bool:
    """A change of the drive is only read from the end of a sentence if the thing is named without doubt."""
    return intent.kind not in _CHANGES or re.search(f"{QUOTE}|{FILE}|{PATH}", rest) is not None


def _respelt(clause: str, masked: Masked, language: Language) -> Intent | None:
    """Try again with the verb that a misspelt first word most likely is."""
    first, _, rest = clause.partition(" ")
    if language != "en" or not rest or len(first) < SHORTEST_MISSPELT or first.lower() in ACTIONS | FUNCTION_WORDS:
        return None
    meant = get_close_matches(first.lower(), sorted(ACTIONS), n=1, cutoff=0.8)
    return _match(REQUESTS, f"{meant[0]} {rest}", masked, language) if meant else None


_PREFIXES: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(
        r"^(?:tell me|know|show me|do you know|let me know|i wonder|i'm wondering|i want to know|i'd like to know|"
        r"i would like to know|any idea|check|see|find out|i want|i'd like|i need|it would be nice to|how about|"
        r"what about|why don't you|i think you should|you might|i think)[\s,:]+(?:if |whether |me )?",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"^(?:告诉我|你知道|知道|我想知道|想知道|看看|看一下|查一下|说说|问一下|想问|我想问|想问一下|我觉得|我认为|"
        r"给我|是不是|是否|有没有)[,:]?"
    ),
}


def _located(clause: str, masked: Masked, language: Language) -> Intent | None:
    """Try an edit of a document that the clause names at its start or end ("... in this document")."""
    for pattern in _places(language):
        match = pattern.search(clause)
        if not match:
            continue
        rest = (clause[: match.start()] + clause[match.end() :]).strip(" ,")
        intent = _match(REQUESTS, rest, masked, language) if rest else None
        if intent and intent.kind in _EDITS and not (intent.kind == "rename" and not intent.edits):
            return replace(intent, target=_place(match["place"], masked, language), said=masked.reveal(clause))
    return None


def _place(phrase: str, masked: Masked, language: Language) -> Ref | None:
    return parse_reference(phrase, masked, language)


@cache
def _places(language: Language) -> tuple[re.Pattern[str], ...]:
    current = macros(language)["current_file"]
    if language == "en":
        named = f"(?:the (?:file|document|note) )?[^,;]{{0,40}}?(?:{FILE}|{PATH})|the (?:file|document|note) {QUOTE}"
        doc = f"(?P<place>{current}|{named})"
        return (
            re.compile(
                rf",? (?:in|inside|within|throughout|across|all over|everywhere in|from|of|to|into) {doc}$",
                re.IGNORECASE,
            ),
            re.compile(r"(?<=\S) (?:in )?(?P<place>here)$", re.IGNORECASE),
            re.compile(rf"^(?:in|inside|within|throughout|for) {doc},? ", re.IGNORECASE),
        )
    named = f"[^,把将在]{{0,20}}?(?:{FILE}|{PATH}|{QUOTE}(?=里|中|内|的))"
    inside = "(?:里面|里头|里|中|内|上|当中)?"
    return (
        re.compile(rf"(?:在|于|往|给)?(?P<place>{current}){inside}的?"),
        re.compile(
            rf"(?:(?<=把)|(?<=将)|(?<=在)|^|(?<=删除)|(?<=删掉)|(?<=去掉))(?:在)?(?P<place>{named})(?:里面|里|中|"
            rf"内|上)的?"
        ),
    )
