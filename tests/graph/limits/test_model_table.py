"""Facts about models, by their names."""

from datetime import date

import pytest

from graph.limits.budget import Prices
from graph.limits.model_table import AS_OF, DEFAULT_CONTEXT, MODELS, context_in, context_of, prices_of
from graph.settings import AgentSettings


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("gpt-4.1-mini", 1_000_000),
        ("openai/gpt-4o", 128_000),
        ("openai:gpt-4o", 128_000),
        ("DeepSeek-chat", 128_000),
        ("anthropic:claude-sonnet-4-5-20250929", 200_000),
        ("qwen3:30b", 128_000),
        ("ollama:qwen3:30b", 32_768),
        ("ollama:llama3", 8_192),
        ("mine", DEFAULT_CONTEXT),
    ],
)
def test_what_a_model_can_take_is_known_by_its_name(name: str, tokens: int) -> None:
    assert context_of(name) == tokens


def test_the_longest_beginning_counts_so_that_a_small_model_has_its_own_price() -> None:
    prices = [prices_of(AgentSettings(), name) for name in ("gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano-2025-04-14")]
    assert [price.input for price in prices if price] == [2, 0.4, 0.1]


def test_the_settings_name_the_price_and_the_size_of_the_model_that_they_name() -> None:
    settings = AgentSettings(model="gpt-4.1", input_price=7, output_price=9, context_tokens=50_000)
    assert prices_of(settings, "gpt-4.1") == Prices(7, 9)
    assert prices_of(settings, "gpt-4.1-mini") == Prices(0.4, 1.6, 0.1)
    assert prices_of(settings, "a-model-of-ours") == Prices(7, 9)
    assert context_in(settings, "gpt-4.1") == 50_000
    assert context_in(settings, "gpt-4o") == 128_000


def test_a_price_that_nobody_names_is_unknown_and_a_local_model_costs_nothing() -> None:
    assert prices_of(AgentSettings(), "a-model-of-ours") is None
    assert prices_of(AgentSettings(), "claude-of-the-future") is None
    assert prices_of(AgentSettings(), "ollama:mistral-small") == Prices()


def test_the_table_has_a_date_and_no_row_that_makes_no_sense() -> None:
    assert date.fromisoformat(AS_OF)
    for name, model in MODELS.items():
        assert name == name.lower()
        assert model.context > 4_000
        if model.prices:
            assert model.prices.cached <= model.prices.input <= model.prices.output
