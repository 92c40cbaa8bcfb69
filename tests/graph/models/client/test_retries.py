from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from graph.models.client.retries import is_worth_again, pause, seconds_asked_for


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_a_service_may_say_when(headers: dict[str, str], seconds: float | None) -> None:
    assert seconds_asked_for(headers) == seconds


def test_it_may_say_so_by_a_date() -> None:
    seconds = seconds_asked_for({"retry-after": formatdate(time.time() + 60, usegmt=True)})
    assert seconds is not None
    assert 50 < seconds < 61


@pytest.mark.parametrize(("status", "again"), [(400, False), (401, False), (404, False), (422, False), (408, True)])
def test_the_persons_fault_is_not_tried_again(status: int, *, again: bool) -> None:
    assert is_worth_again(status, {}) is again


@pytest.mark.parametrize("status", [409, 429, 500, 502, 503, 529])
def test_what_may_pass_is_tried_again_unless_the_service_says_no_or_not_for_long(status: int) -> None:
    assert is_worth_again(status, {})
    assert not is_worth_again(status, {"x-should-retry": "false"})
    assert not is_worth_again(status, {"retry-after": "600"})


def test_pauses_grow_to_eight_seconds_and_obey_the_service() -> None:
    assert 0.375 <= pause(0, {}) <= 0.5
    assert 3 <= pause(3, {}) <= 4
    assert 6 <= pause(1000, {}) <= 8
    assert pause(5, {"retry-after": "0.01"}) == 0.01
