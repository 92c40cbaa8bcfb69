"""The tokens and the price that a run has spent on its models, as the service reports them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage

PER_MILLION: Final = 1_000_000
COUNTED: Final = ("input_tokens", "output_tokens", "total_tokens")
CACHED: Final = "cached_tokens"
ESTIMATED: Final = "estimated_tokens"
"""Counted here, because the service did not say: about a token for three bytes, rather too many than too few."""
BYTES_PER_TOKEN: Final = 3
COST: Final = "cost_micros"
"""Cost of the models, in millionths of the currency of their prices: each call at the prices of its own model."""

Usage = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of a million tokens, in the currency of the limit. All 0: the cost is unknown."""

    input: float = 0
    output: float = 0
    cached: float = 0
    """Price of cached input; 0: as other input."""


@dataclass(slots=True)
class Spending:
    """The usage of several calls of a model; with `estimates`, usage that a service does not report is estimated."""

    estimates: bool
    prices: Prices = Prices()
    usage: Counter[str] = field(default_factory=Counter[str])

    def add(self, answer: AIMessage, asked: Sequence[BaseMessage], prices: Prices | None = None) -> dict[str, int]:
        """Count the usage of one answer to the `asked` messages, and return it; `prices` are those of another model."""
        used = usage_of(answer, asked if self.estimates else None)
        cost = round(cost_of(used, prices or self.prices) * PER_MILLION)
        used = {**used, COST: cost} if cost else used
        self.usage.update(used)
        return used

    @property
    def update(self) -> dict[str, Any]:
        """Return the state update that counts it; empty if no model was called."""
        return {"turn": {"usage": dict(self.usage)}} if self.usage else {}


def usage_of(answer: AIMessage, asked: Sequence[BaseMessage] | None = None) -> dict[str, int]:
    """Return the usage of an answer. If the service reports none, estimate it from the `asked` messages, if given."""
    reported: Mapping[str, Any] = answer.usage_metadata or {}
    usage = {key: int(reported[key]) for key in COUNTED if key in reported}
    if not any(usage.values()) and asked is not None:
        return {ESTIMATED: _estimate([*asked, answer])}
    details: Mapping[str, Any] = reported.get("input_token_details") or {}
    cached = int(details.get("cache_read") or 0)
    return {**usage, CACHED: cached} if cached else usage


def tokens_of(usage: Usage) -> int:
    """Return how many tokens that is."""
    stated = usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
    return max(stated, usage.get("total_tokens", 0)) + usage.get(ESTIMATED, 0)


def cost_of(usage: Usage, prices: Prices) -> float:
    """Return the cost of that usage: as it was counted call by call, else by these prices.

    Estimated tokens count as the dearer kind.
    """
    if COST in usage:
        return usage[COST] / PER_MILLION
    cached = min(usage.get(CACHED, 0), usage.get("input_tokens", 0))
    spent = (
        (usage.get("input_tokens", 0) - cached) * prices.input
        + cached * (prices.cached or prices.input)
        + usage.get("output_tokens", 0) * prices.output
        + usage.get(ESTIMATED, 0) * max(prices.input, prices.output)
    )
    return spent / PER_MILLION


def _estimate(messages: Sequence[BaseMessage]) -> int:
    return sum(_bytes(message) for message in messages) // BYTES_PER_TOKEN + 1


def _bytes(message: BaseMessage) -> int:
    calls = [*message.tool_calls, *message.invalid_tool_calls] if isinstance(message, AIMessage) else []
    texts = [message.text, *(str(call["args"]) for call in calls)]
    return sum(len(text.encode(errors="replace")) for text in texts)
