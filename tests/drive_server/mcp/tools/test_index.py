from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import pytest
from sqlalchemy import select, update

from drive_server.kernel.access import Scope
from drive_server.mcp.tools.index import MAX_WAIT_SECONDS
from drive_server.storage.tables.index import IndexEntryRow
from drive_server.storage.tables.items import NodeRow
from tests.drive_server.actors import with_scopes
from tests.drive_server.hosts import WHOLE, ProgressLog, host_of, text_of

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

PATIENCE = 30
NOTES = 12


async def add_notes(drive: Drive, actor: Actor, count: int = NOTES) -> None:
    for number in range(count):
        await drive.documents.create(actor, "root", f"笔记 {number}.md", f"# 第 {number} 章\n\nNothing but noodles.")


async def test_an_empty_drive_has_nothing_to_wait_for(drive: Drive, alice: Actor) -> None:
    async with host_of(drive, alice) as host:
        with anyio.fail_after(PATIENCE):
            status = await host.call("get_index_status", WHOLE, wait_seconds=MAX_WAIT_SECONDS)

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
    assert answer.structuredContent["summary"] == {"indexed": NOTES}
    assert text_of(answer) == f"Files: {NOTES} indexed."
    assert heard.steps[-1][0] == heard.steps[-1][1]
    assert [done for done, _ in heard.steps] == sorted({done for done, _ in heard.steps})


async def test_what_can_not_be_read_is_named_with_the_reason(drive: Drive, alice: Actor) -> None:
    await drive.documents.create(alice, "root", "猫\u0430cat.bin", bytes(range(256)))
    await drive.ingester.drain()
    async with host_of(drive, alice) as host:
        answer = await host.result("get_index_status", WHOLE)

    assert answer.structuredContent is not None
    assert answer.structuredContent["summary"]["skipped"] == 1
    (problem,) = answer.structuredContent["problems"]
    assert problem["state"] == "unsupported"
    assert problem["reason"] in text_of(answer)
    assert problem["reason_zh"] == "该文件不是文本，或其编码未知。"
    assert "\\u{430}" in text_of(answer)


async def test_others_files_do_not_count_and_a_key_without_read_is_refused(
    drive: Drive, alice: Actor, bob: Actor
) -> None:
    await add_notes(drive, bob, 2)
    async with host_of(drive, alice) as host:
        assert (await host.call("get_index_status", WHOLE))["counts"] == {}
    async with host_of(drive, with_scopes(alice, Scope.WRITE)) as host:
        assert (await host.refused("get_index_status"))["code"] == "missing_scope"


async def test_nobody_waits_for_ever(drive: Drive, alice: Actor) -> None:
    async with host_of(drive, alice) as host:
        refused = await host.refused("get_index_status", wait_seconds=MAX_WAIT_SECONDS + 1)

    assert refused["code"] == "invalid_argument"


@pytest.fixture
async def two_folders(drive: Drive, alice: Actor) -> dict[str, str]:
    """Two folders, of which one has a folder inside, with a file in each; all are read."""
    ids = dict[str, str]()
    for path, parent in (("Leases", "root"), ("Old", "/Leases"), ("Menus", "root")):
        ids[path] = (await drive.files.create_folder(alice, parent, path)).value.id
        await drive.documents.create(alice, ids[path], f"{path}.md", "Thirty days of notice.")
    await drive.ingester.drain()
    return ids


async def states(drive: Drive) -> dict[str, str]:
    async with drive.database.read() as session:
        rows = await session.execute(
            select(NodeRow.name, IndexEntryRow.state).join(IndexEntryRow, IndexEntryRow.file_id == NodeRow.id)
        )
    return {name.removesuffix(".md"): state for name, state in rows.all()}


async def set_state(drive: Drive, state: str, reason: str = "") -> None:
    async with drive.database.write() as session:
        await session.execute(update(IndexEntryRow).values(state=state, reason=reason))


async def test_the_status_of_a_folder_counts_what_is_below_it(
    drive: Drive, alice: Actor, two_folders: dict[str, str]
) -> None:
    async with host_of(drive, alice) as host:
        counted = [
            (await host.call("get_index_status", WHOLE, folder_id=folder))["counts"]
            for folder in ("/Leases", two_folders["Old"], "/Menus", "root")
        ]
        assert counted == [{"ready": 2}, {"ready": 1}, {"ready": 1}, {"ready": 3}]
        assert (await host.refused("get_index_status", folder_id="/Nowhere"))["code"] == "not_found"
        assert (await host.refused("get_index_status", folder_id="/Menus/Menus.md"))["code"] == "invalid_argument"


@pytest.mark.usefixtures("two_folders")
async def test_a_folder_is_read_anew_with_all_below_it_and_nothing_else(drive: Drive, alice: Actor) -> None:
    await set_state(drive, "failed", "It broke.")
    async with host_of(drive, alice) as host:
        assert (await host.call("get_index_status", WHOLE, folder_id="/Leases"))["problems"][0]["reason"] == "It broke."
        answer = await host.result("reindex", folder_id="/Leases")
        with anyio.fail_after(PATIENCE):
            status = await host.call("get_index_status", WHOLE, folder_id="/Leases", wait_seconds=MAX_WAIT_SECONDS)

    assert text_of(answer).startswith("2 files to be read anew.")
    assert status["counts"] == {"ready": 2}
    assert await states(drive) == {"Leases": "ready", "Old": "ready", "Menus": "failed"}


@pytest.mark.usefixtures("two_folders")
async def test_what_waits_to_be_read_is_not_made_to_wait_again(drive: Drive, alice: Actor) -> None:
    await set_state(drive, "indexing")

    assert await drive.folder_index.rebuild(alice, "root") == 0


@pytest.mark.usefixtures("two_folders")
async def test_who_may_only_read_a_shared_folder_sees_its_index_and_who_may_edit_it_rebuilds_it(
    drive: Drive, alice: Actor, bob: Actor
) -> None:
    await drive.sharing.share(alice, "/Leases/Old", bob.principal.email, "viewer")
    await set_state(drive, "failed", "It broke.")
    async with host_of(drive, bob) as host:
        status = await host.call("get_index_status", WHOLE, folder_id="/Shared with me/Old")
        assert (await host.refused("reindex", folder_id="/Shared with me/Old"))["code"] == "forbidden"
        assert (await host.refused("get_index_status", folder_id="/Leases"))["code"] == "not_found"
        assert (await host.refused("reindex", folder_id="/Leases"))["code"] == "not_found"
    assert [one["path"] for one in status["problems"]] == ["/Shared with me/Old/Old.md"]
    assert set((await states(drive)).values()) == {"failed"}

    await drive.sharing.share(alice, "/Leases/Old", bob.principal.email, "editor")
    assert await drive.folder_index.rebuild(bob, "/Shared with me/Old") == 1


@pytest.mark.usefixtures("two_folders")
async def test_a_rehearsal_and_a_key_without_write_rebuild_nothing(drive: Drive, alice: Actor) -> None:
    assert await drive.folder_index.rebuild(replace(alice, dry_run=True), "root") == 0
    async with host_of(drive, with_scopes(alice, Scope.READ)) as host:
        assert (await host.refused("reindex", folder_id="root"))["code"] == "missing_scope"

    assert set((await states(drive)).values()) == {"ready"}
