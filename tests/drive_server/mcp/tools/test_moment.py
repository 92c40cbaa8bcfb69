"""The person's day and zone in `whoami`, and times in words as arguments."""

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from drive_server.connect import ALL_SCOPES, Actor, DriveSettings, in_process_session, open_drive
from drive_server.kernel.context import META_TIME_ZONE


@pytest.fixture
async def session(tmp_path: Any) -> Any:
    settings = DriveSettings(data_dir=tmp_path, embedding_model="none", time_zone="Asia/Shanghai")
    async with open_drive(settings) as drive:
        owner, _ = await drive.identity.ensure_local_user()
        admin = Actor(replace(await drive.identity.principal_for(owner.id, ALL_SCOPES), is_admin=True))
        user, _ = await drive.identity.create_user(admin, "ann.lee@example.com")
        principal = await drive.identity.principal_for(user.id, ALL_SCOPES)
        async with in_process_session(drive, principal) as session:
            yield session


async def called(session: Any, tool: str, zone: str = "", **args: Any) -> dict[str, Any]:
    result = await session.call_tool(tool, args, meta={META_TIME_ZONE: zone} if zone else {})
    assert not result.isError, result
    return result.structuredContent


async def test_whoami_tells_the_day_where_the_person_is(session: Any) -> None:
    await called(session, "create_file", folder_id="root", name="租房合同.md", content="x")
    me = await called(session, "whoami")
    assert (me["name"], me["email"], me["languages"]) == ("Ann Lee", "ann.lee@example.com", ["zh"])
    assert (me["time_zone"], me["time"][-5:]) == ("Asia/Shanghai", "+0800")
    assert me["today"].endswith("day)")
    assert (await called(session, "whoami", "Asia/Tokyo"))["time"].endswith("+0900")
    assert (await called(session, "whoami", "no zone"))["time_zone"] == "Asia/Shanghai"


async def test_today_is_the_day_of_the_clock_that_the_drive_was_opened_with(tmp_path: Any) -> None:
    settings = DriveSettings(data_dir=tmp_path, embedding_model="none", time_zone="Asia/Shanghai")
    async with open_drive(settings, lambda: datetime(2026, 11, 19, 22, 30, tzinfo=UTC)) as drive:
        owner, _ = await drive.identity.ensure_local_user()
        principal = await drive.identity.principal_for(owner.id, ALL_SCOPES)
        async with in_process_session(drive, principal) as session:
            me = await called(session, "whoami")
    assert me["today"] == "2026-11-20 (Friday)"


@pytest.mark.parametrize(
    ("since", "until", "count"), [("今天", "今天", 1), ("last week", "last week", 0), ("7天前", None, 1)]
)
async def test_times_in_words_find_what_was_changed_then(
    session: Any, since: str, until: str | None, count: int
) -> None:
    await called(session, "create_file", folder_id="root", name="a.md", content="x")
    changes = await called(session, "list_changes", since=since, until=until)
    assert len(changes["changes"]) == count
    found = await called(session, "search_files", query="a.md", modified_after=since, modified_before=until)
    assert len(found["hits"]) == count


async def test_what_is_no_time_is_refused(session: Any) -> None:
    result = await session.call_tool("list_changes", {"since": "soon"})
    assert "invalid" in result.structuredContent["code"]


async def test_files_are_organized_by_the_days_where_the_person_is(session: Any) -> None:
    await called(session, "create_file", folder_id="root", name="a.md", content="x")
    paths = [
        (await called(session, "organize_items", zone, folders="{date}", folder_id="root", preview=True))["items"][0]
        for zone in ("Pacific/Kiritimati", "Etc/GMT+12")
    ]
    east, west = (date.fromisoformat(one["path"].split("/")[1]) for one in paths)
    assert 1 <= (east - west).days <= 2
