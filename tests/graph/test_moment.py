import json
from datetime import UTC, datetime
from typing import Any

import pytest

from graph.moment import Person, local_time, moment_section

AT = datetime(2026, 11, 30, 17, 5, tzinfo=UTC)


def moment(time_zone: str) -> dict[str, Any]:
    text = moment_section(AT, Person("me@example.com", "Me", time_zone, ["en", "zh"]))
    return json.loads(text.removeprefix("<moment>\n").removesuffix("\n</moment>"))


def test_the_day_is_that_of_the_persons_place() -> None:
    assert moment("America/New_York")["now"] == "Monday 2026-11-30 12:05"
    assert moment("Asia/Shanghai") == {
        "now": "Tuesday 2026-12-01 01:05",
        "time_zone": "Asia/Shanghai (UTC+08:00)",
        "this_week": "2026-11-30 to 2026-12-06",
        "person": {"name": "Me", "email": "me@example.com"},
        "drive_languages": ["en", "zh"],
    }


@pytest.mark.parametrize("name", ["", "nowhere", "../../etc/passwd", "a\0b", "x" * 999])
def test_without_a_zone_it_is_the_servers(name: str) -> None:
    assert local_time(AT, name).utcoffset() == AT.astimezone().utcoffset()
    assert moment(name)["time_zone"].startswith("UTC")
