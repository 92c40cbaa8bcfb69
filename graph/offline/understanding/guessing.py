"""What no pattern covers: a question is looked up, a bare name is searched for, a verb alone decides little."""

import re
from functools import cache
from typing import Final

from graph.offline.understanding.grammar import macros
from graph.offline.understanding.intents import GUESS, LIKELY, Intent, Kind
from graph.offline.understanding.language import terms
from graph.offline.understanding.masking import EMAIL, FILE, PATH, QUOTE, SUFFIX, Masked
from graph.offline.understanding.references import IT, Ref, parse_reference
from graph.offline.understanding.slots import role_in
from graph.state import Language

_QUESTION: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(
        r"\?\s*$|^(?:what|when|where|who|whom|whose|which|why|how|is|are|was|were|am|do|does|did|can|could|may|"
        r"should|will|would|has|have)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"[?？]\s*$|什么|几|多少|哪|谁|怎么|怎样|如何|为什么|是否|吗|多久|多长|何时|能不能|可不可以|有没有|是不是|"
        r"多大|多远|要不要|需不需要"
    ),
}
_ONE_ADDRESS = re.compile(rf"(?:with|to|for|给|和)?\s*(?P<emails>{EMAIL}(?:[\s,、和与and]*{EMAIL})*)", re.IGNORECASE)
_CHOICE: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(
        r"(?:the |number |no\.? ?|#|option )*(?P<which>\d+|first|second|third|fourth|fifth|last|1st|2nd|3rd|one|"
        r"two|three)(?: one| file| folder| document| option)?",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:第|选|选择|要|就)*(?P<which>\d+|[一二两三四五六七八九]|最后)(?:个|份|项|条|一个)?(?:文件|文档|文件夹)?"
    ),
}
MOST_NAME_WORDS: Final = 6
SHORT_QUESTION: Final = 4


def guess(clause: str, asked: str, masked: Masked, language: Language, *, by_verb: bool = True) -> Intent | None:
    """Return the likeliest intent of a clause that no pattern matches; None if there is none worth acting on.

    Without `by_verb` it only says what the clause is about, as of "I deleted plan.md".
    """
    said = masked.reveal(clause).strip()
    return (
        _selection(asked, masked, language, said)
        or (by_verb and _by_address(asked, masked, language, said))
        or (by_verb and _by_verb(asked, masked, language, said))
        or _question(clause, language, said)
        or _named(asked, masked, language, said)
        or None
    )


def _selection(asked: str, masked: Masked, language: Language, said: str) -> Intent | None:
    addresses = _ONE_ADDRESS.fullmatch(asked)
    if addresses:
        emails = tuple(masked.reveal(mark) for mark in re.findall(EMAIL, addresses["emails"]))
        return Intent("address", said=said, emails=emails, confidence=LIKELY)
    choice = _CHOICE[language].fullmatch(asked)
    if choice:
        return Intent("choose", said=said, query=choice["which"].lower(), confidence=LIKELY)
    if re.fullmatch(PATH, asked):
        return Intent("choose", said=said, target=parse_reference(asked, masked, language), confidence=LIKELY)
    return None


_TAKING = re.compile(
    r"\b(?:remove|revoke|no longer|not|n't|stop|without|block|unshare|withdraw|any ?more)\b|取消|撤销|停止|不|收回|"
    r"移除",
    re.IGNORECASE,
)
_GIVING = re.compile(
    r"\b(?:shar\w*|give|grant|send|invite|access|edit|view|see|collaborat\w*|let)\b|共享|分享|发|给|权限|编辑|查看|"
    r"邀请",
    re.IGNORECASE,
)


def _by_address(asked: str, masked: Masked, language: Language, said: str) -> Intent | None:
    """A request with an address in it is about access."""
    emails = tuple(dict.fromkeys(masked.reveal(mark) for mark in re.findall(EMAIL, asked)))
    if not emails or not _GIVING.search(asked):
        return None
    target = _marked(asked, masked, language) or IT
    if _TAKING.search(asked):
        return Intent("revoke", said=said, target=target, emails=emails, confidence=GUESS)
    return Intent("share", said=said, target=target, emails=emails, role=role_in(asked) or "viewer", confidence=GUESS)


_BEFORE_NAME = re.compile(
    r".*(?:看到|看见|看得到|访问|打开|编辑|查看|再有|没有|拥有|关于|的|对|把|将|给|看|在)", re.DOTALL
)


def _marked(text: str, masked: Masked, language: Language) -> Ref | None:
    """Return the first item that is quoted or has a suffix; where a Chinese name begins is a guess."""
    found = re.search(f"(?P<han>[\u3400-\u9fff]*){SUFFIX}|{QUOTE}|{FILE}|{PATH}", text)
    if not found:
        return None
    name = _BEFORE_NAME.sub("", found["han"]) if found["han"] else ""
    return parse_reference((name + found[0][-1]) if found["han"] else found[0], masked, language)


def _question(clause: str, language: Language, said: str) -> Intent | None:
    only_marked = len(said.split()) < SHORT_QUESTION and not _QUESTION[language].search(clause.rstrip(" ?？呢"))
    if _QUESTION[language].search(clause) and terms(said) and not only_marked:
        return Intent("ask", said=said, query=said, confidence=LIKELY)
    return None


def _by_verb(asked: str, masked: Masked, language: Language, said: str) -> Intent | None:
    for kind, pattern in _verbs(language):
        match = pattern.search(asked)
        target = _marked(asked, masked, language)
        if match and target:
            return Intent(kind, said=said, target=target, confidence=GUESS)
    return None


@cache
def _verbs(language: Language) -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    kinds: tuple[Kind, ...] = ("trash", "restore", "summarise", "read")
    edge = r"\b" if language == "en" else ""
    return tuple((kind, re.compile(f"{edge}(?:{macros(language)[kind]}){edge}", re.IGNORECASE)) for kind in kinds)


_SUBJECT: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(
        r"(?P<subject>\S.*?) (?:is|are|was|were|has|isn't|looks|seems|contains|got|needs)\b", re.IGNORECASE
    ),
    "zh": re.compile(r"(?P<subject>.+?)(?:里|里面|中)?(?:全是|都是|太|很|有点|已经|这个名字|放错)"),
}
"""Of a statement that asks for nothing, what it is about: the next sentence may speak of it."""


def _named(asked: str, masked: Masked, language: Language, said: str) -> Intent | None:
    words = terms(masked.reveal(asked))
    if not words or len(asked.split()) > MOST_NAME_WORDS or (language == "zh" and len(asked) > 3 * MOST_NAME_WORDS):
        return None
    subject = _SUBJECT[language].match(asked)
    target = parse_reference(subject["subject"] if subject else asked, masked, language)
    if target is None or target.form not in {"name", "path", "about"}:
        return None
    return Intent("find", said=said, target=target, query=target.text, confidence=GUESS)
