"""Check that the person's own words ask the assistant to remember or to forget a fact. Pure.

What a file says can make a model call a tool, but it can't write the person's message.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

SHORTEST: Final = 2

_REMEMBER: Final = re.compile(
    r"\b(?:remember|note|memori[sz]e|keep in mind|bear in mind|don['’]?t forget|do not forget|never forget)\b"
    r"|记住|記住|记下|記下|记一下|記一下|记着|记得|記得|请记|請記|帮我记|幫我記|别忘|別忘|不要忘|勿忘",
    re.IGNORECASE,
)
_NOT_REMEMBER: Final = re.compile(
    r"\b(?:don['’]?t|do not|never|no need to|needn['’]?t|stop)\s+(?:\w+\s+){0,2}"
    r"(?:remember|not(?:e|ing)|memori[sz]e|keep)"
    r"|(?:不要|别|別|不用|不必|无需|無需|不许|不許|勿|停止)\s*(?:再)?(?:帮我)?(?:记|記)",
    re.IGNORECASE,
)
_FORGET: Final = re.compile(
    r"\b(?:forget|unlearn)\b|\b(?:delete|remove|erase|clear)\b.{0,40}\b(?:memor|fact|remember)"
    r"|忘掉|忘记|忘記|忘了|不要再记|別再記|别再记|(?:删除|刪除|清除|删掉).{0,12}(?:记忆|記憶|记住|记录)",
    re.IGNORECASE,
)
_NOT_FORGET: Final = re.compile(
    r"\b(?:don['’]?t|do not|never|not)\s+(?:\w+\s+){0,2}forget|(?:不要|别|別|不许|不許|勿|千万别)\s*忘", re.IGNORECASE
)
_SIGNS: Final = re.compile(r"[\W_]+")


def asks_to_remember_it(args: Mapping[str, Any], said: str) -> bool:
    """Say whether `said`, the newest message, asks to remember a call's fact, which has to stand in it literally."""
    fact = _plain(str(args.get("fact", "")))
    return len(fact) >= SHORTEST and asks_to_remember(said) and not args.get("file_id") and fact in _plain(said)


def asks_to_forget_it(args: Mapping[str, Any], said: str) -> bool:
    """Say whether the person's newest message asks to forget something."""
    del args
    return asks_to_forget(said)


def names_it(args: Mapping[str, Any], said: str) -> bool:
    """Say whether the name of what a call makes stands in the person's message, with its suffix or without."""
    name = str(args.get("name", ""))
    stem = _plain(name.rpartition(".")[0] or name)
    return len(stem) >= SHORTEST and stem in _plain(said)


def asks_to_remember(said: str) -> bool:
    """Say whether a message asks to remember something."""
    return _REMEMBER.search(said) is not None and _NOT_REMEMBER.search(said) is None


def asks_to_forget(said: str) -> bool:
    """Say whether a message asks to forget something."""
    return _FORGET.search(said) is not None and _NOT_FORGET.search(said) is None


def _plain(text: str) -> str:
    return _SIGNS.sub("", unicodedata.normalize("NFKC", text).casefold())
