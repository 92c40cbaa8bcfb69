"""Detect corrections: messages that say the last action should have been another ("no, make it 11 days")."""

import re
from typing import Final

from graph.routing.intents import READ_CHARACTERS
from graph.routing.wording import prepare

LONGEST: Final = 160
MAX_BARE: Final = 48

_OPENING: Final = (
    r"(?:(?:no|nope|wait|sorry|oops|whoops|actually|wrong|correction|my mistake|not (?:that|this|quite|right)"
    r"|that ?(?:'s|is|was) (?:wrong|not (?:right|it|what i \w+))|you mis\w+(?: me)?)\b[\s,.!;:—–-]*)+"
)
_INSTEAD: Final = (
    r"(?:please |rather |just )?(?:(?:make|change|set|turn|put|switch|move|call|name|rename|share|write|give|let)\s+"
    r"(?:it|that|this|them)\b|i (?:meant|said|wanted)\b|(?:it|that|this|they)(?:'s| is)? (?:should|must|has to"
    r"|ought to|was supposed to|supposed to)\b|it(?:'s| is) (?:called|spelled)?|use\b|rather\b|not\b.+[,;]|should be\b)"
)
_ENGLISH: Final = re.compile(
    rf"{_OPENING}{_INSTEAD}|(?:please )?(?:make|call|name|change) (?:it|that|this|them)\b.*\b(?:instead|rather)$"
    r"|(?:please )?make (?:it|that|this) .*\d|i meant\b|it should (?:be|say|read|have been)\b"
)
_CHINESE_OPENING: Final = (
    r"(?:(?:不对|不是(?:的)?|不|错了|弄错了|搞错了|写错了|等等|等一下|抱歉|对不起|更正)[，,。！!、\s]*(?:了[，,]?)?)+"
)
_CHINESE_INSTEAD: Final = (
    r"(?:还是|请|应该|要|把?(?:它|这个|那个|名字|名称|日期|时间|内容))*"
    r"(?:改成|改为|改叫|改到|换成|应该是|应为|叫做?|命名为|放到|放在|移到|写成|用|是|要|我说的是|我指的是|我的意思是|我是说)"
)
_CHINESE: Final = re.compile(
    rf"{_CHINESE_OPENING}{_CHINESE_INSTEAD}|(?:改成|改为|换成|应该是|应为|我说的是|我指的是|我的意思是|我是说)"
)
_BARE: Final = re.compile(rf"(?:{_OPENING}|{_CHINESE_OPENING})(?=.*[\d一二两三四五六七八九十]).+")
_QUESTION: Final = re.compile(
    r".*[?？]\s*$|.*(?:吗|呢|么)$"
    r"|(?:\w+[,\s]+)?(?:what|who|which|where|when|why|how|is|are|was|were|do|does|did|can|could)\b"
)
_STOP: Final = re.compile(
    r".*\b(?:undo|take \w+ back|do(?:n't| not)|stop|never mind|forget it|leave it)\b|.*(?:撤销|别|不要|不用|算了)"
)


_CHANGES: Final = re.compile(
    r"\b(?:make|change|set|call|name|rename|move|put)\s+(?:it|that|this)\b|改成|改为|改叫|换成|叫|放到|移到"
)


def asks_for_change(text: str) -> bool:
    """Say whether a correction names the wanted action: it may be of something before the last turn, too."""
    return _CHANGES.search(text.lower()) is not None


def is_correction(text: str) -> bool:
    """Say whether the message corrects the last action, and is no question and no undo."""
    if len(text) > min(LONGEST, READ_CHARACTERS):
        return False
    said = prepare(text).strip(" .!。！~～")
    if not said or _QUESTION.match(text.strip().lower()) or _STOP.match(said):
        return False
    if _ENGLISH.match(said) or _CHINESE.match(said):
        return True
    return len(said) <= MAX_BARE and _BARE.match(said) is not None


_VALUE: Final = re.compile(
    rf"^\s*(?:{_OPENING})?(?:please |rather |just )*(?:(?:make|change|set|turn|call|name|rename|write)\s+"
    r"(?:it|that|this)(?:\s+(?:to|into|be))?|i (?:meant|said|wanted)|(?:it|that|this) should (?:be|say|read|have been)"
    r"|use|should be)?\s+"
    r"(?P<value>[^\s].*?)(?:\s+(?:instead|rather|please))?[\s.!]*$",
    re.IGNORECASE,
)
_CHINESE_VALUE: Final = re.compile(
    rf"^\s*(?:{_CHINESE_OPENING})?(?:{_CHINESE_INSTEAD}|{_CHINESE_INSTEAD}?(?=\d))"
    r"\s*(?P<value>.+?)\s*(?:吧|才对)?[\s。！!.]*$"
)


def corrected_value(text: str) -> str:
    """Return the value that a correction wants instead; empty if it is none."""
    if not is_correction(text):
        return ""
    match = _CHINESE_VALUE.match(text) or _VALUE.match(f" {text}")
    return match["value"].strip("“”\"'「」 ") if match else ""
