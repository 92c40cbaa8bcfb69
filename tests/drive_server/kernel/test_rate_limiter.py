from __future__ import annotations

import pytest

from drive_server.kernel.errors import RateLimitError
from drive_server.kernel.messages import Message
from drive_server.kernel.rate_limiter import RateLimiter
from tests.fakes.clock import Seconds


def limiter(limit: int, clock: Seconds | None = None, most_keys: int = 10) -> RateLimiter:
    return RateLimiter(limit, "Too many.", {"unit": "calls"}, clock=clock or Seconds(), most_keys=most_keys)


def refusal(rates: RateLimiter, key: str) -> RateLimitError:
    with pytest.raises(RateLimitError) as raised:
        rates.take(key)
    return raised.value


def test_no_minute_holds_more_than_the_limit_whenever_it_begins() -> None:
    clock = Seconds()
    rates = limiter(3, clock)
    rates.take("key")
    clock.now += 40
    rates.take("key")
    rates.take("key")

    error = refusal(rates, "key")
    assert error.details == {"limit": 3, "unit": "calls", "retry_after_seconds": 20}
    assert "20 seconds" in error.hint

    clock.now += 20
    rates.take("key")
    assert refusal(rates, "key").details["retry_after_seconds"] == 40


def test_refused_events_do_not_count() -> None:
    clock = Seconds()
    rates = limiter(1, clock)
    rates.take("key")
    for _ in range(5):
        clock.now += 10
        refusal(rates, "key")
    clock.now += 10
    rates.take("key")


def test_each_key_has_a_minute_of_its_own() -> None:
    rates = limiter(1)
    rates.take("one")
    rates.take("two")
    refusal(rates, "one")


def test_an_event_that_is_given_back_does_not_count() -> None:
    rates = limiter(1)
    rates.take("key")
    rates.give_back("key")
    rates.take("key")
    refusal(rates, "key")


def test_the_keys_counted_last_are_remembered() -> None:
    rates = limiter(1, most_keys=2)
    rates.take("one")
    rates.take("two")
    refusal(rates, "one")
    rates.take("three")
    rates.take("one")


@pytest.mark.parametrize(
    "code", ["too_many_wrong_keys", "too_many_wrong_passwords", "too_many_forgotten", "too_many_link_guesses"]
)
def test_who_has_to_wait_is_told_for_how_long_in_their_own_language(code: str) -> None:
    clock = Seconds()
    rates = RateLimiter(1, Message.of(code), clock=clock)
    rates.take("key")
    clock.now += 59

    assert refusal(rates, "key").texts("en")[1] == "Try again in 1 second."
    assert refusal(rates, "key").texts("zh")[1] == "请在 1 秒后重试。"
