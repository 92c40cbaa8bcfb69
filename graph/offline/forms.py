"""Answers of a shape that a program asks for: a title in the words of the conversation, and nothing else."""

import re
from collections.abc import Mapping
from typing import Any, Final

TITLE: Final = "title"
MAX_WORDS: Final = 5
MAX_CHARACTERS: Final = 40
_FIRST_MESSAGE: Final = re.compile(r"^\W*(?:user|human|用户)\s*[:：]\s*(?P<said>\S.*)$", re.IGNORECASE | re.MULTILINE)


def filled(form: Mapping[str, Any], asked: str) -> dict[str, Any] | None:
    """Return an object for a form that needs a title alone; None for any other, or without a conversation to name."""
    properties: Mapping[str, Any] = form.get("properties") or {}
    wanted = form.get("required") or [*properties]
    first = _FIRST_MESSAGE.search(asked)
    if wanted != [TITLE] or properties.get(TITLE, {}).get("type") != "string" or first is None:
        return None
    return {TITLE: " ".join(first["said"].split()[:MAX_WORDS])[:MAX_CHARACTERS]}
