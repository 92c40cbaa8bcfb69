from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
from mcp.types import ResourceUpdatedNotification, ResourceUpdatedNotificationParams, ServerNotification
from pydantic import AnyUrl

from drive_server.mcp.protocol import sessions as module
from tests.drive_server.hosts import host_of
from tests.drive_server.protocol.listener import END, listening, settled

if TYPE_CHECKING:
    import pytest

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.mcp.protocol.sessions import DriveSession


def updated(uri: str) -> ServerNotification:
    return ServerNotification(ResourceUpdatedNotification(params=ResourceUpdatedNotificationParams(uri=AnyUrl(uri))))


def only(drive: Drive) -> DriveSession:
    (session,) = drive.server.sessions
    return session


async def test_sessions_are_known_while_they_are_open(drive: Drive, alice: Actor) -> None:
    assert len(drive.server.sessions) == 0
    async with host_of(drive, alice), host_of(drive, alice):
        assert len(drive.server.sessions) == 2
        assert {session.opened_by for session in drive.server.sessions} == {alice.principal}
    assert len(drive.server.sessions) == 0


async def test_calls_made_at_once_are_all_answered_and_a_session_that_ended_takes_no_more(
    drive: Drive, alice: Actor
) -> None:
    answers: list[str] = []
    async with host_of(drive, alice) as host:
        session = only(drive)

        async def ask(name: str) -> None:
            answers.append((await host.call("create_folder", name=name))["name"])

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(ask, str(number))

        assert session.takes is not None

    assert sorted(answers, key=int) == [str(number) for number in range(20)]
    assert session.takes is None


async def test_what_is_posted_arrives_in_its_order(drive: Drive, alice: Actor) -> None:
    async with listening(drive, alice) as (_, heard):
        for number in range(50):
            only(drive).post(f"a://{number % 2}", updated(f"a://{number}"))
        await settled(drive, heard)

    assert heard.updated == [f"a://{number}" for number in range(50)]


async def test_when_too_much_waits_each_thing_is_told_once(
    drive: Drive, alice: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_WAITING", 4)
    async with listening(drive, alice) as (_, heard):
        session = only(drive)
        for number in range(10):
            session.post(f"a://{number % 2}", updated(f"a://{number % 2}"))
        for number in range(10):
            session.post(f"b://{number}", updated(f"b://{number}"))
        await heard.until(lambda heard: len(heard.updated) >= 4)
        await settled(drive, heard)

    assert heard.updated == ["a://0", "a://1", "b://0", "b://1"]


async def test_what_is_withdrawn_is_not_told(drive: Drive, alice: Actor) -> None:
    async with listening(drive, alice) as (_, heard):
        for uri in ("a://1", "a://2", "a://1"):
            only(drive).post(uri, updated(uri))
        only(drive).withdraw("a://1")
        await settled(drive, heard)

    assert heard.updated == ["a://2"]
    assert END not in heard.updated
