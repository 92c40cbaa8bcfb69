"""A message cut into requests: "create X, move it there and share it" has three."""

import re
from functools import cache
from typing import Final

from graph.offline.understanding.lexicon_en import POLITE_END as ENGLISH_END
from graph.offline.understanding.lexicon_en import POLITE_START as ENGLISH_START
from graph.offline.understanding.lexicon_zh import ADVERBS, CLAUSE_STARTS
from graph.offline.understanding.lexicon_zh import POLITE_END as CHINESE_END
from graph.offline.understanding.lexicon_zh import POLITE_START as CHINESE_START
from graph.offline.understanding.masking import EMAIL
from graph.offline.understanding.verbs_en import ACTIONS as ENGLISH_ACTIONS
from graph.offline.understanding.verbs_zh import ACTIONS as CHINESE_ACTIONS
from graph.state import Language

_HAN: Final = "\u3400-\u9fff"
_SPACE_BESIDE_HAN = re.compile(rf"(?<=[{_HAN}，。：；！？、])[ \t]+|[ \t]+(?=[{_HAN}，。：；！？、])")
_WIDTHS = str.maketrans("，：；！？（）’", ",:;!?()'")
_END_MARKS: Final = " \t\n.,;:!?。、~…"

_JOINTS: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(
        r"(?:\s*[,;.!?\n]+\s*|\s+[-–—]+\s+|\s+)(?:(?:and|then|also|plus|afterwards|after that|finally|next|as well "
        r"as|followed by|but|so|lastly)\b[\s,]*)*",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"[,;。、!?\n\s]*(?:然后|接着|随后|之后|最后|并且|同时|顺便|另外|而且|还要|以及|并|再|后|且|和)*"),
}
_OPEN_LEFT: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(
        r"(?:^|\b)(?:in|inside|into|under|within|to|from|of|with|by|instead of|after|below|before|at|according to|"
        r"based on|per|the|a|should|must|can|how|who|what|which|where|not|n't|don't|never|for|as|if)$|^(?:in|"
        r"inside|within|under|instead of|after|below|at|according to|based on|per|on|as per|wherever|everywhere|"
        r"each time|every time|whenever|if|when)\b(?:(?![,]).)*$",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:不要|别|不|不想|停止|不再|可以|能|怎么|如何|谁|的|把|将|给|让|在|从|应该|要|没有|是否|能不能)$|^(?:在|"
        r"从|根据|按照|往)[^,]*$"
    ),
}
_ENGLISH_FOLLOWERS: Final = "|".join(
    (
        "(?:he|she|they) (?:can|may|should|must)",
        "as (?:an? )?(?:editor|viewer)",
        "what|who|where|how",
        "i'd like|i would like|i want|i need|we need|we want",
        "you can|please|can you|could you",
    )
)


def tidy(masked_text: str, language: Language) -> str:
    """Bring spaces and punctuation of a masked text to one form, without changing its length afterwards."""
    joined = _SPACE_BESIDE_HAN.sub("", masked_text) if language == "zh" else re.sub(r"[ \t]+", " ", masked_text)
    return joined.strip().translate(_WIDTHS)


def split_clauses(text: str, language: Language) -> list[str]:
    """Cut a tidy masked text where a new request begins."""
    clauses: list[str] = []
    start = 0
    for joint in _JOINTS[language].finditer(text):
        left, right = text[start : joint.start()], text[joint.end() :]
        if _is_joint(joint[0], left, language) and _begins_request(right, joint[0], language):
            clauses.append(left)
            start = joint.end()
    return [clause for clause in (*clauses, text[start:]) if clause.strip(_END_MARKS)]


def _is_joint(joint: str, left: str, language: Language) -> bool:
    if not joint.strip() or not left.strip(_END_MARKS):
        return False
    return not _OPEN_LEFT[language].search(left.strip())


def _begins_request(right: str, joint: str, language: Language) -> bool:
    right = strip_polite_start(right, language)
    if language == "en":
        return _english_request().match(right) is not None
    word = re.search(f"[{_HAN}]", joint) is not None
    return _chinese_request().match(right) is not None or (
        not word and right.startswith(CLAUSE_STARTS) and not right.startswith(("写上", "写着", "写入"))
    )


@cache
def _english_request() -> re.Pattern[str]:
    actions = "|".join(sorted(map(re.escape, ENGLISH_ACTIONS), key=len, reverse=True))
    inside = r"(?:(?:in|inside|into) (?:it|there|that folder|this folder),? )?"
    return re.compile(rf"{inside}(?:(?:{actions})(?:\s+\S|$)|(?:{_ENGLISH_FOLLOWERS})\b)", re.IGNORECASE)


@cache
def _chinese_request() -> re.Pattern[str]:
    actions = "|".join(sorted(map(re.escape, CHINESE_ACTIONS), key=len, reverse=True))
    return re.compile(rf"(?:{actions}|名字叫|取名|命名为|叫(?!做)|把|将(?!来)|给{EMAIL}|让)")


def strip_polite_start(clause: str, language: Language) -> str:
    """Take "could you please" and the like off the front; what would leave nothing stays."""
    pattern = _polite_start(language)
    while True:
        rest = pattern.sub("", clause, count=1)
        if rest == clause or not rest.strip(_END_MARKS):
            return clause
        clause = rest


def is_only_polite(clause: str, language: Language) -> bool:
    """Return whether nothing but polite words is in a clause."""
    pattern = _polite_start(language)
    rest = f"{clause.strip(_END_MARKS)} "
    while pattern.match(rest):
        rest = pattern.sub("", rest, count=1)
    return not rest.strip(_END_MARKS)


def strip_polite_end(clause: str, language: Language) -> str:
    """Take "please", "thanks" and end marks off the back."""
    pattern = _polite_end(language)
    while True:
        rest = pattern.sub("", clause.rstrip(_END_MARKS), count=1)
        if rest == clause or not rest.strip(_END_MARKS):
            return clause.rstrip(_END_MARKS)
        clause = rest


@cache
def _polite_start(language: Language) -> re.Pattern[str]:
    if language == "en":
        phrases = "|".join(sorted(ENGLISH_START.split("|"), key=len, reverse=True))
        return re.compile(rf"^(?:\s|[,;:.!-])*(?:{phrases})(?=[\s,:;.!?-])[\s,:;.!?-]*", re.IGNORECASE)
    words = sorted((word for word in CHINESE_START.split("|") if word.strip()), key=len, reverse=True)
    long = "|".join(re.escape(word) for word in words if len(word) > 1)
    short = "|".join(re.escape(word) for word in (*ADVERBS, *words) if len(word) == 1 or word in ADVERBS)
    follows = "|".join(re.escape(word) for word in (*sorted(CHINESE_ACTIONS), *CLAUSE_STARTS, *words))
    return re.compile(
        rf"^[\s,;:。、!]*(?:(?:{long})|(?:{short})(?=[\s,]*(?:{follows}|总|概|请|帮|改|换|变)))[\s,;:。、!]*"
    )


@cache
def _polite_end(language: Language) -> re.Pattern[str]:
    if language == "en":
        phrases = "|".join(sorted(ENGLISH_END.split("|"), key=len, reverse=True))
        return re.compile(rf"(?<=\S)(?:\s|[,;:.!?-])+(?:{phrases})$", re.IGNORECASE)
    words = sorted((word for word in CHINESE_END.split("|") if word.strip() and word != "\\?"), key=len, reverse=True)
    return re.compile(rf"(?<=\S)[\s,;:。、!?~]*(?:{'|'.join(map(re.escape, words))})$")
