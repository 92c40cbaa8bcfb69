from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from drive_server.kernel.moments import LONGEST, Edge, server_zone, to_iso, zone_of

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 11, 25, 9, 30, tzinfo=SHANGHAI)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "edge", "day"),
    [
        ("today", "start", "2026-11-25"),
        ("today", "end", "2026-11-26"),
        ("until Friday", "end", "2026-11-28"),
        ("before Friday", "end", "2026-11-27"),
        ("Friday", "start", "2026-11-20"),
        ("since Wednesday", "start", "2026-11-25"),
        ("last tuesday", "start", "2026-11-17"),
        ("next Friday", "end", "2026-12-05"),
        ("This week", "start", "2026-11-23"),
        ("this week", "end", "2026-11-30"),
        ("last month", "start", "2026-10-01"),
        ("last month", "end", "2026-11-01"),
        ("next year", "start", "2027-01-01"),
        ("the past 3 days", "start", "2026-11-22"),
        ("2 weeks ago", "start", "2026-11-11"),
        ("上个月", "start", "2026-10-01"),
        ("上个月", "end", "2026-11-01"),
        ("本周", "start", "2026-11-23"),
        ("这个星期", "end", "2026-11-30"),
        ("去年", "start", "2025-01-01"),
        ("昨天", "start", "2026-11-24"),
        ("最近3个月", "start", "2026-08-25"),
        ("3天前", "start", "2026-11-22"),
        ("到周五为止", "end", "2026-11-28"),
        ("上周五", "start", "2026-11-20"),
        ("下星期天", "start", "2026-12-06"),
        ("周五之前", "end", "2026-11-27"),
        ("after last month", "start", "2026-11-01"),
        ("2001", "end", "2002-01-01"),
        ("May 2020", "start", "2020-05-01"),
        ("in December of 2020", "end", "2021-01-01"),
    ],
)
def test_words_are_the_edge_of_their_days_where_the_person_is(text: str, edge: Edge, day: str) -> None:
    assert to_iso(text, NOW, edge) == f"{day}T00:00:00+08:00"


def test_a_time_without_a_zone_is_the_persons() -> None:
    assert to_iso("2026-11-05", NOW, "start") == "2026-11-05T00:00:00+08:00"
    assert to_iso("2026-11-05T14:30:00+01:00", NOW, "start") == "2026-11-05T14:30:00+01:00"
    assert to_iso("now", NOW, "end") == NOW.isoformat()
    assert to_iso(None, NOW, "start") is None


@pytest.mark.parametrize("text", ["", "soon", "Fried", "9999 years ago", "周", "下下", "x" * (LONGEST + 1), "until"])
def test_what_is_no_time_stays_for_the_refusal(text: str) -> None:
    assert to_iso(text, NOW, "start") == text


def test_a_month_ends_on_its_last_day() -> None:
    assert to_iso("1 month ago", datetime(2026, 3, 31, tzinfo=SHANGHAI), "start") == "2026-02-28T00:00:00+08:00"


@pytest.mark.parametrize("name", ["", "nowhere", "../../etc/passwd", "a\0b", "x" * 999])
def test_a_zone_that_is_none_is_refused(name: str) -> None:
    assert zone_of(name) is None


def test_the_servers_zone_is_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", ":Asia/Tokyo")
    assert server_zone() == "Asia/Tokyo"
    monkeypatch.setenv("TZ", "nonsense")
    assert server_zone() in {"", "Etc/UTC"} or zone_of(server_zone())
