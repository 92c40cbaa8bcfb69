from __future__ import annotations

import pytest

from drive_server.errors import RateLimitError
from drive_server.http.throttle import FAILURES, MOST_ADDRESSES, LoginThrottle
from tests.fakes.clock import Seconds


def exhausted(address: str) -> tuple[LoginThrottle, Seconds]:
    clock = Seconds()
    throttle = LoginThrottle(clock)
    for _ in range(FAILURES):
        throttle.check(address)
        throttle.failed(address)
    return throttle, clock


def test_after_ten_wrong_tokens_an_address_waits_for_the_rest_of_the_minute() -> None:
    throttle, clock = exhausted("192.0.2.1")
    clock.now = 15.5

    with pytest.raises(RateLimitError) as caught:
        throttle.check("192.0.2.1")
    assert caught.value.details == {"limit": 10, "retry_after_seconds": 45}
    clock.now = 60
    throttle.check("192.0.2.1")
    throttle.failed("192.0.2.1")
    throttle.check("192.0.2.1")


def test_other_addresses_do_not_wait() -> None:
    throttle, _ = exhausted("192.0.2.1")

    throttle.check("192.0.2.2")
    throttle.check("")


@pytest.mark.parametrize(
    ("address", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("", ""),
        ("not an address", "not an address"),
    ],
)
def test_one_persons_addresses_count_as_one(address: str, same: str) -> None:
    throttle, _ = exhausted(address)

    with pytest.raises(RateLimitError):
        throttle.check(same)


def test_a_neighbouring_network_is_somebody_else() -> None:
    throttle, _ = exhausted("2001:db8::1")

    throttle.check("2001:db8:0:1::1")


def test_what_is_remembered_is_bounded_and_the_newest_stay() -> None:
    throttle, _ = exhausted("192.0.2.1")
    for number in range(MOST_ADDRESSES - 1):
        throttle.failed(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    with pytest.raises(RateLimitError):
        throttle.check("192.0.2.1")

    throttle.failed("198.51.100.1")
    throttle.check("192.0.2.1")
