from __future__ import annotations

from typing import TYPE_CHECKING

from tests.drive_server.actors import purging, with_scopes
from tests.drive_server.protocol.listener import listening, settled

if TYPE_CHECKING:
    import pytest
    from mcp import ClientSession

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


async def conflict(session: ClientSession) -> None:
    await session.call_tool("create_folder", {"name": "A"})


async def test_a_conflict_is_told_with_its_tool_and_its_code(drive: Drive, alice: Actor) -> None:
    async with listening(drive, alice) as (session, heard):
        await conflict(session)
        await conflict(session)
        await settled(drive, heard)

    (message,) = heard.messages
    assert (message.level, message.logger) == ("notice", "drive.create_folder")
    assert message.data == {
        "event": "refused",
        "tool": "create_folder",
        "code": "name_conflict",
        "message": "'A' is in the folder already.",
    }


async def test_nothing_below_the_level_is_told_and_each_session_has_its_own(drive: Drive, alice: Actor) -> None:
    async with listening(drive, alice) as (session, heard), listening(drive, alice) as (other, others):
        await session.set_logging_level("warning")
        for host in (session, other, session):
            await conflict(host)
        await session.set_logging_level("notice")
        await conflict(session)
        await settled(drive, heard, others)

    assert [message.level for message in heard.messages] == ["notice"]
    assert [message.level for message in others.messages] == ["notice"]


async def test_a_lacking_right_is_a_warning_and_a_slip_is_nothing(drive: Drive, alice: Actor) -> None:
    async with listening(drive, with_scopes(alice)) as (session, heard):
        await session.set_logging_level("debug")
        await session.call_tool("create_folder", {"name": "A"})
        await session.call_tool("create_folder", {"name": ""})
        await session.call_tool("create_folder", {"nome": "x"})
        await settled(drive, heard)

    assert [(message.level, message.data["code"]) for message in heard.messages if "code" in message.data][:1] == [
        ("warning", "missing_scope")
    ]
    assert "invalid_argument" not in str(heard.messages)


async def test_a_failure_is_told_without_what_it_was(
    drive: Drive, alice: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("/home/alice/secret")

    monkeypatch.setattr(drive.files, "create_folder", broken)
    async with listening(drive, alice) as (session, heard):
        await conflict(session)
        await settled(drive, heard)

    (message,) = heard.messages
    assert (message.level, message.data["code"]) == ("error", "internal")
    assert "secret" not in str(message)


async def test_the_beginning_and_the_end_of_what_may_take_long_are_told(drive: Drive, alice: Actor) -> None:
    async with listening(drive, purging(alice)) as (session, heard):
        await session.call_tool("empty_trash", {})
        await session.call_tool("list_folder", {})
        await settled(drive, heard)

    assert [(message.level, message.logger, message.data["event"]) for message in heard.messages] == [
        ("info", "drive.empty_trash", "started"),
        ("info", "drive.empty_trash", "done"),
    ]
