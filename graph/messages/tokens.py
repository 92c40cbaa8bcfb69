"""Estimate the tokens of a text without a tokenizer.

The estimate is made by rules, from counts of characters of each kind: no file has to be fetched, and it holds for
English and Chinese alike. It is on the safe side of the common tokenizers; the usage that models report corrects it
(`corrected_scale`).
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage

from graph.prompts import compact
from graph.settings import split_model

SEEING: Final = [
    "gpt-4o",
    "gpt-4.1",
    "gpt-4-turbo",
    "gpt-5",
    "gpt-6",
    "o1",
    "o3",
    "o4",
    "claude",
    "gemini",
    "llama-4",
    "llava",
    "pixtral",
    "gemma-3",
    "gemma3",
    "mistral-small-3",
    "mistral-medium-3",
    "qwen-vl",
    "qwen2-vl",
    "qwen2.5-vl",
    "qwen2.5vl",
    "qwen3-vl",
    "glm-4v",
    "glm-4.5v",
    "kimi-vl",
    "minicpm-v",
]
"""Models that take pictures, by the beginning of their names."""
BLIND: Final = ("o1-mini", "o1-preview", "o3-mini", "gemma-3-1b", "gemma3:1b", "gemma-3-270m", "gemma3:270m")
"""Models of these families that don't."""

MESSAGE_TOKENS: Final = 6
"""Tokens of a message beside its text."""
CALL_TOKENS: Final = 12
MARGIN: Final = 1.1
LOWEST_SCALE: Final = 0.5
HIGHEST_SCALE: Final = 3.0
MINIMUM_SAMPLE_TOKENS: Final = 500
"""Shorter requests say little about how well texts are estimated."""

_LETTERS: Final = bytes(range(ord("a"), ord("z") + 1)) + bytes(range(ord("A"), ord("Z") + 1)) + b" "
_DIGITS: Final = b"0123456789"
_CONTINUING: Final = bytes(range(0x80, 0xC0))
_TWO: Final = bytes(range(0xC2, 0xE0))
_THREE: Final = bytes(range(0xE0, 0xF0))
_FOUR: Final = bytes(range(0xF0, 0xF5))


def sees_pictures(model: str) -> bool:
    """Say whether the model is known to take pictures."""
    name = split_model(model)[1].rpartition("/")[2].lower()
    return name.startswith(tuple(SEEING)) and not name.startswith(BLIND)


@lru_cache(maxsize=1_024)
def tokens_of(text: str) -> int:
    """Estimate the tokens of a text from its letters, digits, signs and characters of several bytes."""
    data = text.encode("utf-8", "surrogatepass")
    size = len(data)
    if not size:
        return 0
    letters, digits = _count(data, _LETTERS), _count(data, _DIGITS)
    several = size - letters - digits
    two, three, four = _count(data, _TWO), _count(data, _THREE), _count(data, _FOUR)
    signs = several - two - three - four - _count(data, _CONTINUING)
    return round(MARGIN * (letters / 4 + digits / 2 + signs * 0.6 + two * 0.7 + three * 1.05 + four * 2.5)) + 1


def tokens_of_message(message: BaseMessage) -> int:
    """Estimate the tokens of a message with its calls."""
    total = MESSAGE_TOKENS + tokens_of(message.text)
    if isinstance(message, AIMessage):
        calls = [*message.tool_calls, *message.invalid_tool_calls]
        total += sum(CALL_TOKENS + tokens_of(f"{call['name']}{_text(call['args'])}") for call in calls)
    return total


def tokens_of_messages(messages: Iterable[BaseMessage]) -> int:
    """Estimate the tokens of several messages."""
    return sum(tokens_of_message(message) for message in messages)


def corrected_scale(scale: float, estimated: int, reported: int) -> float:
    """Return the factor for estimates after a model's report; it moves half-way, as one report may be odd."""
    if estimated < MINIMUM_SAMPLE_TOKENS or reported <= 0:
        return scale
    seen = min(max(reported / estimated, LOWEST_SCALE), HIGHEST_SCALE)
    return round((scale + seen) / 2, 3)


def _count(data: bytes, kinds: bytes) -> int:
    return len(data) - len(data.translate(None, kinds))


def _text(args: object) -> str:
    return args if isinstance(args, str) else compact(args)
