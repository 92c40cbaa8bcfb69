"""How much of a tool's result a model gets to see, and how many rounds of calls a turn may take."""

from collections.abc import Mapping
from typing import Any, Final

from graph.prompts import compact
from graph.state import Language

ROUNDS_OVER: Final[Mapping[Language, str]] = {
    "en": "I stopped here: this turn used all of its {rounds} rounds of tool calls. What was done stays done. "
    "Tell me to go on, or ask for a smaller part.",
    "zh": "我先停在这里：本轮已用完 {rounds} 轮工具调用。已完成的操作会保留。你可以让我继续，或者缩小请求的范围。",
}
CUT: Final = "\n[Cut: {shown} of {total} characters. {pointer}]"
POINTER: Final = "Ask for a smaller part: a range, a limit, a cursor, or a narrower query."


def rounds_over(rounds: int, language: Language) -> str:
    """Return the sentence that ends a turn at its limit."""
    return ROUNDS_OVER[language].format(rounds=rounds)


def result_text(text: str, structured: Mapping[str, Any] | None, limit: int) -> str:
    """Return a tool's short text followed by its data as JSON, at most about `limit` characters.

    A file's text is cut inside the data, with the position to go on from; anything else is cut at the end.
    """
    if structured is None:
        return _cut(text, limit)
    whole = f"{text}\n{compact(structured)}".strip()
    if len(whole) <= limit:
        return whole
    body = structured.get("text")
    if isinstance(body, str) and len(body) > len(whole) - limit:
        return _with_shorter_text(text, structured, body, len(body) - (len(whole) - limit))
    return _cut(whole, limit)


def _with_shorter_text(text: str, structured: Mapping[str, Any], body: str, room: int) -> str:
    kept = body[:room]
    following = structured.get("start", 0) + len(kept)
    shorter = {**structured, "text": kept, "end": following, "truncated": True}
    note = CUT.format(shown=len(kept), total=len(body), pointer=f"Go on with start={following}.")
    return f"{text}\n{compact(shorter)}{note}".strip()


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return text[:limit] + CUT.format(shown=limit, total=len(text), pointer=POINTER)
