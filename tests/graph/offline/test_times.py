import pytest

from graph.offline.wording import moment


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("Asia/Shanghai (UTC+08:00)", "2026-11-22 01:30 (Asia/Shanghai)"),
        ("America/New_York (UTC-05:00)", "2026-11-21 12:30 (America/New_York)"),
        ("", "2026-11-21 17:30 (UTC)"),
    ],
)
def test_times_are_local_and_say_where(zone: str, shown: str) -> None:
    assert moment("2026-11-21T17:30:00+00:00", zone) == shown


def test_what_is_no_time_is_shown_as_it_is() -> None:
    assert moment(None) == "?"
    assert moment("soon", "Asia/Shanghai") == "soon"
