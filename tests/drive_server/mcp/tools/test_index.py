from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from drive_server.access import Scope
from drive_server.mcp.tools.index import MAX_WAIT_SECONDS
from tests.drive_server.actors import with_scopes
from tests.drive_server.hosts import ProgressLog, host_of, text_of

if TYPE_CHECKING:
    from drive_server.access import Actor
    from drive_server.drive import Drive

PATIENCE = 30
NOTES = 12


async def add_notes(drive: Drive, actor: Actor, count: int = NOTES) -> None:
    for number in range(count):
        await drive.documents.create(actor, "root", f"笔记 {number}.md", f"# 第 {number} 章\n\nNothing but noodles.")


async def test_an_empty_drive_has_nothing_to_wait_for(drive: Drive, alice: Actor) -> None:
    async with host_of(drive, alice) as host:
        with anyio.fail_after(PATIENCE):
            status = await host.call("get_index_status", wait_seconds=MAX_WAIT_SECONDS)

    assert status["counts"] == {}
    assert set(status["summary"].values()) == {0}


async def test_who_waits_hears_how_far_it_is_and_is_answered_when_all_can_be_searched(
    drive: Drive, alice: Actor
) -> None:
    heard = ProgressLog()
    async with host_of(drive, alice) as host:
        await add_notes(drive, alice)
        with anyio.fail_after(PATIENCE):
            answer = await host.session.call_tool(
                "get_index_status", {"wait_seconds": MAX_WAIT_SECONDS}, progress_callback=heard
            )

    assert answer.structuredContent is not None
    assert answer.structuredContent["counts"] == {"ready": NOTES}
    assert text_of(answer) == f"Files: {NOTES} indexed."
    assert heard.steps[-1][0] == heard.steps[-1][1]
    assert [done for done, _ in heard.steps] == sorted({done for done, _ in heard.steps})


async def test_what_can_not_be_read_is_named_with_the_reason(drive: Drive, alice: Actor) -> None:
    await drive.documents.create(alice, "root", "猫\u0430cat.bin", bytes(range(256)))
    await drive.ingester.drain()
    async with host_of(drive, alice) as host:
        answer = await host.result("get_index_status")

    assert answer.structuredContent is not None
    assert answer.structuredContent["summary"]["skipped"] == 1
    (problem,) = answer.structuredContent["problems"]
    assert problem["state"] == "unsupported"
    assert problem["reason"] in text_of(answer)
    assert "\\u{430}" in text_of(answer)


async def test_others_files_do_not_count_and_a_key_without_read_is_refused(
    drive: Drive, alice: Actor, bob: Actor
) -> None:
    await add_notes(drive, bob, 2)
    async with host_of(drive, alice) as host:
        assert (await host.call("get_index_status"))["counts"] == {}
    async with host_of(drive, with_scopes(alice, Scope.WRITE)) as host:
        assert (await host.refused("get_index_status"))["code"] == "missing_scope"


async def test_nobody_waits_for_ever(drive: Drive, alice: Actor) -> None:
    async with host_of(drive, alice) as host:
        refused = await host.refused("get_index_status", wait_seconds=MAX_WAIT_SECONDS + 1)

    assert refused["code"] == "invalid_argument"
