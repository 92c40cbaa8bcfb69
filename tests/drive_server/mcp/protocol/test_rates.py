"""How many calls fit into a minute."""

from __future__ import annotations

import pytest

from drive_server.errors import RateLimitError
from drive_server.mcp.protocol.rates import KEYS_BEFORE_A_SWEEP, CallRates


class Clock:
    """Seconds, moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def refusal(rates: CallRates, key: str) -> RateLimitError:
    with pytest.raises(RateLimitError) as raised:
        rates.take(key)
    return raised.value


def test_no_minute_holds_more_calls_than_the_limit_whenever_it_begins() -> None:
    clock = Clock()
    rates = CallRates(3, clock)
    rates.take("key")
    clock.now += 40
    rates.take("key")
    rates.take("key")

    error = refusal(rates, "key")
    assert error.details == {"limit": 3, "unit": "calls per minute", "retry_after_seconds": 20}
    assert "20 seconds" in error.hint

    clock.now += 20
    rates.take("key")
    assert refusal(rates, "key").details["retry_after_seconds"] == 40


def test_refused_calls_do_not_count() -> None:
    clock = Clock()
    rates = CallRates(1, clock)
    rates.take("key")
    for _ in range(5):
        clock.now += 10
        refusal(rates, "key")
    clock.now += 10
    rates.take("key")


def test_each_key_has_a_minute_of_its_own() -> None:
    rates = CallRates(1, Clock())
    rates.take("one")
    rates.take("two")
    refusal(rates, "one")


def test_keys_that_are_not_used_any_more_are_forgotten() -> None:
    clock = Clock()
    rates = CallRates(5, clock)
    for number in range(KEYS_BEFORE_A_SWEEP):
        rates.take(f"old {number}")
    clock.now += 61
    rates.take("new")

    assert len(rates) == 1
