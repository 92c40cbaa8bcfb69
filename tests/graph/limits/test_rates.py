from datetime import timedelta

import pytest

from graph.limits import rates
from graph.limits.rates import Rate, ToolRates, parse_rate, parse_rates
from graph.settings import AgentSettings
from tests.fakes.clock import SettableClock

TWICE_A_MINUTE = Rate(2, timedelta(minutes=1))


def test_rates_are_read_as_the_settings_write_them() -> None:
    assert parse_rate("60/minute") == Rate(60, timedelta(minutes=1))
    assert parse_rate("0") is None
    assert parse_rates(" share = 5/day, trash_item=0 ,") == {"share": Rate(5, timedelta(days=1)), "trash_item": None}
    assert parse_rates("") == {}


@pytest.mark.parametrize("text", ["60", "60/week", "-1/day", "1/day,", "01/day", "一/day", "1/day\n2/day"])
def test_a_rate_that_can_not_be_read_is_refused_at_the_start(text: str) -> None:
    with pytest.raises(ValueError, match="tool_rate"):
        AgentSettings(tool_rate=text)


def test_one_call_too_many_is_refused_and_told_when_there_is_room() -> None:
    clock = SettableClock()
    limits = ToolRates(TWICE_A_MINUTE, {}, clock)
    assert limits.take("u1", "read_file", "read") is None
    clock.advance(20)
    assert limits.take("u1", "read_file", "read") is None
    reached = limits.take("u1", "read_file", "read")
    assert reached is not None
    assert reached.retry_after_seconds == 40
    clock.advance(40)
    assert limits.take("u1", "read_file", "read") is None


def test_what_is_refused_does_not_count() -> None:
    clock = SettableClock()
    limits = ToolRates(Rate(1, timedelta(minutes=1)), {}, clock)
    assert limits.take("u1", "read_file", "read") is None
    clock.advance(59)
    assert limits.take("u1", "read_file", "read") is not None
    clock.advance(1)
    assert limits.take("u1", "read_file", "read") is None


def test_one_person_and_one_tool_leave_the_others_their_room() -> None:
    limits = ToolRates(Rate(1, timedelta(minutes=1)), {}, SettableClock())
    assert limits.take("u1", "read_file", "read") is None
    assert limits.take("u1", "read_file", "read") is not None
    assert limits.take("u2", "read_file", "read") is None
    assert limits.take("u1", "list_folder", "read") is None


def test_a_rate_of_a_risk_holds_for_all_its_tools_together() -> None:
    limits = ToolRates(None, {"share": TWICE_A_MINUTE}, SettableClock())
    assert limits.take("u1", "share_item", "share") is None
    assert limits.take("u1", "create_share_link", "share") is None
    assert limits.take("u1", "share_item", "share") is not None
    assert limits.take("u1", "read_file", "read") is None


def test_a_rate_of_a_tool_takes_the_place_of_the_general_one() -> None:
    limits = ToolRates(Rate(1, timedelta(days=1)), {"read_file": None, "list_folder": TWICE_A_MINUTE}, SettableClock())
    assert [limits.take("u1", "read_file", "read") for _ in range(50)] == [None] * 50
    assert [limits.take("u1", "list_folder", "read") is None for _ in range(3)] == [True, True, False]


def test_windows_in_which_nothing_counts_any_more_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "MOST_WINDOWS", 10)
    clock = SettableClock()
    limits = ToolRates(TWICE_A_MINUTE, {}, clock)
    for number in range(10):
        limits.take(f"u{number}", "read_file", "read")
    clock.advance(2 * 86_400)
    limits.take("u10", "read_file", "read")
    assert len(limits._windows) == 1  # pyright: ignore[reportPrivateUsage] - what it keeps is what is at stake
