"""Sizes and prices of common models, by the beginning of their names; settings take precedence.

Prices are in US dollars for a million tokens, as the providers listed them on `AS_OF`. Where a price rises with the
length of a request, it is that of the shorter ones.
"""

from functools import lru_cache
from typing import Final, NamedTuple

from graph.limits.budget import Prices
from graph.settings import OFFLINE, AgentSettings, split_model

AS_OF: Final = "2026-11-22"
"""The day on which the prices were looked up."""
DEFAULT_CONTEXT: Final = 32_768
LOCAL_PROVIDERS: Final = frozenset({"ollama"})
LOCAL_CONTEXT: Final = 32_768
"""Tokens that a local service is asked to make room for, even if the model could read more: they cost its memory."""
FREE: Final = Prices()


class KnownModel(NamedTuple):
    """A model: tokens that it reads and writes together, and its prices if it has any that are the same everywhere."""

    context: int
    prices: Prices | None = None


def _hosted(context: int, given: float, cached: float, written: float) -> KnownModel:
    return KnownModel(context, Prices(input=given, output=written, cached=cached))


MODELS: Final[dict[str, KnownModel]] = {
    OFFLINE: KnownModel(128_000, FREE),
    "gpt-3.5": _hosted(16_385, 0.5, 0, 1.5),
    "gpt-4": _hosted(8_192, 30, 0, 60),
    "gpt-4-turbo": _hosted(128_000, 10, 0, 30),
    "gpt-4.1": _hosted(1_000_000, 2, 0.5, 8),
    "gpt-4.1-mini": _hosted(1_000_000, 0.4, 0.1, 1.6),
    "gpt-4.1-nano": _hosted(1_000_000, 0.1, 0.025, 0.4),
    "gpt-4o": _hosted(128_000, 2.5, 1.25, 10),
    "gpt-4o-mini": _hosted(128_000, 0.15, 0.075, 0.6),
    "gpt-5": _hosted(400_000, 1.25, 0.125, 10),
    "gpt-5-mini": _hosted(400_000, 0.25, 0.025, 2),
    "gpt-5-nano": _hosted(400_000, 0.05, 0.005, 0.4),
    "gpt-5-pro": _hosted(400_000, 15, 0, 120),
    "gpt-5.1-codex-mini": _hosted(400_000, 0.25, 0.025, 2),
    "gpt-5.2": _hosted(400_000, 1.75, 0.175, 14),
    "gpt-5.2-pro": _hosted(400_000, 21, 0, 168),
    "gpt-5.4": _hosted(400_000, 2.5, 0.25, 15),
    "gpt-5.4-mini": _hosted(400_000, 0.75, 0.075, 4.5),
    "gpt-5.4-nano": _hosted(400_000, 0.2, 0.02, 1.25),
    "gpt-5.4-pro": _hosted(400_000, 30, 0, 180),
    "gpt-5.5": _hosted(400_000, 5, 0.5, 30),
    "gpt-5.5-pro": _hosted(400_000, 30, 0, 180),
    "gpt-6": KnownModel(400_000),
    "o1": _hosted(200_000, 15, 7.5, 60),
    "o1-pro": _hosted(200_000, 150, 0, 600),
    "o3": _hosted(200_000, 2, 0.5, 8),
    "o3-mini": _hosted(200_000, 1.1, 0.55, 4.4),
    "o3-pro": _hosted(200_000, 20, 0, 80),
    "o4-mini": _hosted(200_000, 1.1, 0.275, 4.4),
    "claude": KnownModel(200_000),
    "claude-3-haiku": _hosted(200_000, 0.25, 0.025, 1.25),
    "claude-3-opus": _hosted(200_000, 15, 1.5, 75),
    "claude-3-5-haiku": _hosted(200_000, 0.8, 0.08, 4),
    "claude-3-5-sonnet": _hosted(200_000, 3, 0.3, 15),
    "claude-3-7-sonnet": _hosted(200_000, 3, 0.3, 15),
    "claude-haiku-4-5": _hosted(200_000, 1, 0.1, 5),
    "claude-sonnet-4": _hosted(200_000, 3, 0.3, 15),
    "claude-sonnet-5": _hosted(200_000, 2, 0.2, 10),
    "claude-opus-4": _hosted(200_000, 15, 1.5, 75),
    "claude-opus-4-5": _hosted(200_000, 5, 0.5, 25),
    "claude-opus-4-6": _hosted(200_000, 5, 0.5, 25),
    "claude-opus-4-7": _hosted(200_000, 5, 0.5, 25),
    "claude-opus-4-8": _hosted(200_000, 5, 0.5, 25),
    "claude-opus-5": _hosted(200_000, 5, 0.5, 25),
    "claude-opus-5-5": _hosted(200_000, 4, 0.2, 20),
    "gemini": KnownModel(1_000_000),
    "gemini-2.0-flash": _hosted(1_000_000, 0.1, 0, 0.4),
    "gemini-2.5-pro": _hosted(1_000_000, 1.25, 0.125, 10),
    "gemini-2.5-flash": _hosted(1_000_000, 0.3, 0.03, 2.5),
    "gemini-2.5-flash-lite": _hosted(1_000_000, 0.1, 0.01, 0.4),
    "gemini-3-pro": _hosted(1_000_000, 2, 0, 12),
    "gemini-3-flash": _hosted(1_000_000, 0.5, 0, 3),
    "gemini-3.5-flash": _hosted(1_000_000, 1.5, 0.15, 9),
    "gemini-3.5-flash-lite": _hosted(1_000_000, 0.3, 0.03, 2.5),
    "deepseek": KnownModel(64_000),
    "deepseek-chat": _hosted(128_000, 0.28, 0.028, 0.42),
    "deepseek-reasoner": _hosted(128_000, 0.28, 0.028, 0.42),
    "qwen": KnownModel(32_768),
    "qwen2.5": KnownModel(32_768),
    "qwen3": KnownModel(128_000),
    "qwen3.6-plus": _hosted(256_000, 0.5, 0, 3),
    "glm-4": KnownModel(128_000),
    "glm-4.5": _hosted(128_000, 0.6, 0.11, 2.2),
    "glm-4.5-air": _hosted(128_000, 0.2, 0.03, 1.1),
    "glm-4.6": _hosted(200_000, 0.6, 0.11, 2.2),
    "glm-4.7": _hosted(200_000, 0.6, 0.11, 2.2),
    "glm-5": _hosted(200_000, 1, 0.2, 3.2),
    "kimi": KnownModel(128_000),
    "kimi-k2": _hosted(128_000, 0.6, 0.15, 2.5),
    "kimi-k2.6": _hosted(256_000, 0.95, 0.16, 4),
    "moonshot": KnownModel(128_000),
    "mistral": KnownModel(32_768),
    "mistral-small": _hosted(128_000, 0.1, 0, 0.3),
    "mistral-medium": _hosted(128_000, 0.4, 0, 2),
    "mistral-large": _hosted(128_000, 2, 0, 6),
    "llama": KnownModel(8_192),
    "llama-3.1": KnownModel(128_000),
    "llama3.1": KnownModel(128_000),
    "llama-4": KnownModel(128_000),
}
"""The longest beginning that fits counts. Open models without a price: each service has its own."""


@lru_cache(maxsize=256)
def find_model(model: str) -> KnownModel | None:
    """Return the entry of a model, by its name with or without its provider; None for an unknown one."""
    name = split_model(model)[1].rpartition("/")[2].lower()
    fitting = [start for start in MODELS if name.startswith(start)]
    return MODELS[max(fitting, key=len)] if fitting else None


def context_of(model: str) -> int:
    """Return how many tokens the model reads and writes together; a careful guess for one that is not known."""
    known = find_model(model)
    context = known.context if known else DEFAULT_CONTEXT
    return min(context, LOCAL_CONTEXT) if split_model(model)[0] in LOCAL_PROVIDERS else context


def context_in(settings: AgentSettings, model: str) -> int:
    """Return the same by the settings, which name the size of `AGENT_MODEL` only."""
    own = settings.context_tokens if model == settings.resolved_model else 0
    return own or context_of(model)


def prices_of(settings: AgentSettings, model: str) -> Prices | None:
    """Return the prices of a model; None if they are unknown.

    The settings name the prices of `AGENT_MODEL`, and stand in for models that are not in the table.
    """
    named = Prices(settings.input_price, settings.output_price, settings.cached_input_price)
    if named != FREE and model == settings.resolved_model:
        return named
    if split_model(model)[0] in LOCAL_PROVIDERS:
        return FREE
    known = find_model(model)
    if known and known.prices:
        return known.prices
    return named if named != FREE else None
