"""Further ways to read a clause that no row fits as it is: without a beginning, a place, or a misspelling."""

import re
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from typing import Final

from graph.offline.understanding.grammar import macros
from graph.offline.understanding.intents import LIKELY, Intent
from graph.offline.understanding.lexicon_en import FUNCTION_WORDS
from graph.offline.understanding.masking import EMAIL, FILE, PATH, QUOTE, Masked
from graph.offline.understanding.references import parse_reference
from graph.offline.understanding.rows import first_match
from graph.offline.understanding.slots import role_in
from graph.offline.understanding.verbs_en import ACTIONS
from graph.state import Language

SHORTEST_MISSPELT: Final = 4
MOST_DROPPED: Final = 9
_EDITS: Final = frozenset({"replace", "insert", "rename"})
_VAGUE: Final = frozenset({"role_hint", "find", "read", "insert", "replace", "restore", "undo", "rename"})
_CHANGES: Final = frozenset({"move", "trash", "create_folder", "create_file", "share", "revoke", "save_summary"})
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
_ROLE_TAIL = re.compile(
    r"[,;]?\s*(?:权限是|权限为|但|而且)?(?:他|她|他们)?(?:只能|仅能|只可|仅可|仅限|可以|可|能|允许)(?P<role>查看|"
    r"编辑|修改|阅读|看|读)[它一下]*$"
)


def located(clause: str, masked: Masked, language: Language) -> Intent | None:
    """Try an edit of a document that the clause names at its start or end ("... in this document")."""
    for pattern in _places(language):
        match = pattern.search(clause)
        if not match:
            continue
        rest = (clause[: match.start()] + clause[match.end() :]).strip(" ,")
        intent = first_match("requests", rest, masked, language) if rest else None
        if intent and intent.kind in _EDITS and not (intent.kind == "rename" and not intent.edits):
            return replace(intent, target=parse_reference(match["place"], masked, language), said=masked.reveal(clause))
    return None


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


def shared(clause: str, masked: Masked, language: Language) -> Intent | None:
    """Try a sharing whose role comes after a comma: 给 E 计划.md 的权限,只能看."""
    tail = _ROLE_TAIL.search(clause) if language == "zh" and re.search(EMAIL, clause) else None
    intent = first_match("requests", clause[: tail.start()], masked, language) if tail and tail.start() else None
    if not tail or not intent or intent.kind != "share":
        return None
    return replace(intent, role=role_in(tail["role"]) or intent.role)


def unprefixed(clause: str, masked: Masked, language: Language) -> Intent | None:
    """Try what follows "tell me", "I wonder" and the like."""
    rest = _PREFIXES[language].sub("", clause, count=1)
    if not rest or rest == clause:
        return None
    return (
        first_match("requests", rest, masked, language)
        or first_match("loose", rest, masked, language)
        or first_match("last", rest, masked, language)
    )


def respelt(clause: str, masked: Masked, language: Language) -> Intent | None:
    """Try again with the verb that a misspelt first word most likely is."""
    first, _, rest = clause.partition(" ")
    if language != "en" or not rest or len(first) < SHORTEST_MISSPELT or first.lower() in ACTIONS | FUNCTION_WORDS:
        return None
    meant = get_close_matches(first.lower(), sorted(ACTIONS), n=1, cutoff=0.8)
    return first_match("requests", f"{meant[0]} {rest}", masked, language) if meant else None


def ending(clause: str, masked: Masked, language: Language) -> Intent | None:
    """Try what is left when words are taken off the front: "I'd be glad about a summary of plan.md"."""
    for rest in _endings(clause, language):
        intent = first_match("requests", rest, masked, language)
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
