"""What is to be remembered of the person, or forgotten, or listed: whole messages, in either language."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

Wish = Literal["remember", "forget", "list"]

_POLITE_EN: Final = r"(?:(?:please|hey|hi|ok|also|and|can you|could you|will you|would you|i want you to)[,\s]+)*"
_POLITE_ZH: Final = r"(?:请|麻烦你?|帮我|帮忙|你|要|，|,|\s)*"
_TABLE: Final[tuple[tuple[Wish, str], ...]] = (
    (
        "list",
        r"^what (?:do|have|did|can) you (?:still )?(?:remember(?:ed)?|know)(?: (?:about|of) me)?[?.!\s]*$",
    ),
    ("list", rf"^{_POLITE_EN}(?:list|show)(?: me)?(?: all)?(?: (?:my|your|the))? memor(?:y|ies)[?.!\s]*$"),
    (
        "list",
        r"^(?:do you (?:still )?remember (?:anything|something)(?: about me)?|what is in your memory)[?.!\s]*$",
    ),
    (
        "list",
        r"^你?(?:都|还)?(?:记得|记住了?|记了|知道)(?:关于)?我?的?(?:些|哪些)?(?:什么|哪些)(?:事|事情|内容)?[吗呢？?。\s]*$",
    ),
    (
        "list",
        rf"^{_POLITE_ZH}(?:列出|显示|看看|查看)(?:一下)?(?:你的?|我的|所有的?|全部的?)*(?:长期)?记忆[？?。\s]*$",
    ),
    ("forget", rf"^{_POLITE_EN}(?:forget|unlearn)(?: (?:the fact )?that| about)?\s+(?P<fact>\S.*)$"),
    (
        "forget",
        rf"^{_POLITE_ZH}(?:忘掉|忘记|忘了|不要再记得?|别再记得?|删除记忆)[:：,，\s]*(?:关于)?(?P<fact>\S.*)$",
    ),
    (
        "remember",
        rf"^{_POLITE_EN}(?:(?:remember|memori[sz]e|keep in mind|bear in mind|don['’]?t forget)(?: that|:)?|"
        r"(?:note|remember this)(?: that|:))\s+(?P<fact>\S.*)$",
    ),
    (
        "remember",
        rf"^{_POLITE_ZH}(?:记住|記住|记下|記下|记一下|記一下|记着|记得|記得|别忘了|別忘了|不要忘了|不要忘记)"
        r"[:：,，\s]*(?P<fact>\S.*)$",
    ),
)
_PATTERNS: Final[list[tuple[Wish, re.Pattern[str]]]] = [
    (wish, re.compile(pattern, re.IGNORECASE | re.DOTALL)) for wish, pattern in _TABLE
]
_NO_FACT: Final = re.compile(
    r"^(?:it|that|this|about it|me|everything|它|这个|那个|这件事|算了|吧)[.!。！\s]*$", re.IGNORECASE
)
_ACTIONS: Final = re.compile(r"^(?:to|要|去)\s*\S", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Personal:
    """What the message wants; `fact` is in the person's own words, empty for a list."""

    wish: Wish
    fact: str = ""


@lru_cache(maxsize=256)
def personal(text: str) -> Personal | None:
    """Return what a message wants of the long-term memory; None if it is about something else.

    "Remember to ..." asks for something to be done, and "forget it" for nothing at all.
    """
    said = " ".join(text.split())
    for wish, pattern in _PATTERNS:
        match = pattern.match(said)
        if match is None:
            continue
        fact = match["fact"].strip().rstrip(".。!！") if "fact" in pattern.groupindex else ""
        if wish == "list" or not (_NO_FACT.match(fact) or _ACTIONS.match(fact)):
            return Personal(wish, fact)
    return None
