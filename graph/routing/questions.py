"""Questions of the assistant that wait for the person."""

import re
from typing import Final

_CLOSING_MARKS: Final = " \t\r\n*_`\"'”’」』）)]"
_OFFER: Final = re.compile(
    r"\b(?:anything else|something else|(?:would|do) you (?:like|want) (?:me|anything)|shall i (?:also|go on)"
    r"|(?:can|may) i help)\b|还有(?:什么|其他|别的)|需要我(?:再|继续|帮)|还需要",
    re.IGNORECASE,
)
_ALTERNATIVES: Final = re.compile(r"\bor\b|还是|或者", re.IGNORECASE)
_CHOICE: Final = re.compile(r"\s*(?:[-*•–]|[(（]?(?:\d{1,2}|[a-z])[.)、）:：])\s*\S", re.IGNORECASE)


def asks(text: str) -> bool:
    """Say whether an answer ends in a question that waits for the person, or in one and the choices.

    An offer of more help is none, unless it names alternatives.
    """
    lines = [line for line in text.splitlines() if line.strip(_CLOSING_MARKS)]
    while len(lines) > 1 and _CHOICE.match(lines[-1]):
        del lines[-1]
    last = lines[-1].rstrip(_CLOSING_MARKS) if lines else ""
    is_offer = _OFFER.search(last) and not _ALTERNATIVES.search(last)
    return last.endswith(("?", "？")) and not is_offer
