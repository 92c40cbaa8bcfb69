import pytest
from langchain_core.messages import AIMessage, HumanMessage

from graph.limits.budget import Prices, cost_of, tokens_of, usage_of


def answer(**usage: object) -> AIMessage:
    return AIMessage("hello", usage_metadata=usage)  # pyright: ignore[reportArgumentType] - as services report it


def test_what_a_service_reports_is_what_counts() -> None:
    usage = usage_of(
        answer(input_tokens=7, output_tokens=3, total_tokens=10, input_token_details={"cache_read": 5}),
        [HumanMessage("x" * 1000)],
    )
    assert usage == {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10, "cached_tokens": 5}
    assert tokens_of(usage) == 10


def test_what_a_service_does_not_report_is_estimated_only_where_it_matters() -> None:
    silent = AIMessage("四十五天")
    assert usage_of(silent) == {}
    usage = usage_of(silent, [HumanMessage("x" * 300)])
    assert usage["estimated_tokens"] >= 100
    assert tokens_of(usage) == usage["estimated_tokens"]


def test_arguments_of_calls_count_in_an_estimate() -> None:
    call = {"name": "write_file", "args": {"content": "y" * 3_000}, "id": "1"}
    assert tokens_of(usage_of(AIMessage("", tool_calls=[call]), [])) >= 1_000


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({}, 0),
        ({"input_tokens": 1_000_000}, 2),
        ({"output_tokens": 1_000_000}, 8),
        ({"input_tokens": 1_000_000, "cached_tokens": 500_000}, 1.25),
        ({"estimated_tokens": 1_000_000}, 8),
        ({"cached_tokens": 1_000_000}, 0),
    ],
)
def test_a_cost_is_the_tokens_at_their_prices(usage: dict[str, int], cost: float) -> None:
    assert cost_of(usage, Prices(input=2, output=8, cached=0.5)) == pytest.approx(cost)


def test_cached_input_costs_the_same_unless_it_has_a_price() -> None:
    assert cost_of({"input_tokens": 1_000_000, "cached_tokens": 1_000_000}, Prices(input=2)) == pytest.approx(2)
