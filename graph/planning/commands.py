"""The commands that a person can give a running plan in the chat, in English and Chinese."""

import re
from collections.abc import Mapping
from typing import Final, Literal

PlanCommand = Literal["run", "pause", "stop"]

_POLITE: Final = r"(?:please |ok(?:ay)?,? |now |can you |could you )*"
_PLAN: Final = r"(?: (?:the|this|my|your) (?:plan|steps|run))?"
_POLITE_ZH: Final = "(?:请|麻烦|好的?[,，]?|先|你?可以)*"
_PLAN_ZH: Final = "(?:这个|该|当前)?(?:计划|步骤|任务)"
_END_ZH: Final = "(?:一下|吧|了)?"

PATTERNS: Final[Mapping[PlanCommand, tuple[re.Pattern[str], ...]]] = {
    "pause": (
        re.compile(rf"{_POLITE}(?:pause|hold|suspend){_PLAN}(?: please)?", re.IGNORECASE),
        re.compile(rf"{_POLITE_ZH}(?:暂停(?:{_PLAN_ZH})?|把{_PLAN_ZH}(?:先)?暂停){_END_ZH}"),
    ),
    "run": (
        re.compile(rf"{_POLITE}(?:continue|resume|go on|carry on)(?: with)?{_PLAN}(?: please)?", re.IGNORECASE),
        re.compile(rf"{_POLITE_ZH}(?:(?:继续|恢复)(?:执行|进行)?(?:{_PLAN_ZH})?|把{_PLAN_ZH}继续){_END_ZH}"),
    ),
    "stop": (
        re.compile(rf"{_POLITE}(?:stop|end|abort|cancel){_PLAN}(?: please)?", re.IGNORECASE),
        re.compile(
            rf"{_POLITE_ZH}(?:(?:停止|终止|取消|结束|停下)(?:{_PLAN_ZH})?|把{_PLAN_ZH}(?:停|停止|停下|取消)){_END_ZH}"
        ),
    ),
}


def command_of(text: str) -> PlanCommand | None:
    """Return the command of a message; None if the message has anything else in it."""
    words = " ".join(text.split()).strip(" .!?。！？~～")
    for command, patterns in PATTERNS.items():
        if any(pattern.fullmatch(words) for pattern in patterns):
            return command
    return None
