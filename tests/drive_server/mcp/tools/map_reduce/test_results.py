"""The findings of a call over many files, by reference: only for its caller, while they see the files, for a while."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import McpError
from sqlalchemy import func, select

from drive_server.services.map_reduce import stored_results as bulk_results
from drive_server.services.map_reduce.stored_results import StoredResults
from drive_server.storage.tables.work import BulkFindingRow, BulkResultRow
from tests.drive_server.hosts import WHOLE, Host, host_of
from tests.drive_server.lender import Lender, fill, lending_host_of

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

READ_ALL = {"instruction": "Summarise it.", "folder_id": "/Many"}
BOB = "bob@example.com"


async def resource(host: Host, uri: str) -> dict[str, Any]:
    address: Any = uri
    (contents,) = (await host.session.read_resource(address)).contents
    return json.loads(contents.model_dump()["text"])


async def kept(drive: Drive) -> tuple[int, int]:
    async with drive.database.read() as session:
        results = await session.scalar(select(func.count()).select_from(BulkResultRow))
        findings = await session.scalar(select(func.count()).select_from(BulkFindingRow))
    return results or 0, findings or 0


async def test_what_does_not_fit_into_the_answer_is_read_by_its_reference(drive: Drive, alice: Actor) -> None:
    await fill(drive, alice, 130)
    async with lending_host_of(drive, alice, Lender()) as host:
        found = await host.call("map_reduce_files", WHOLE, **READ_ALL, max_files=130)
        whole = await resource(host, found["uri"])
        rest = await resource(host, f"{found['uri']}?first={whole['next']}")
        part = await host.call("read_bulk_result", WHOLE, result_id=found["result_id"], first=found["next"], limit=2)

    assert len(found["results"]) < 130
    assert [one["path"] for one in whole["results"] + rest["results"]] == [f"/Many/{n:03}.md" for n in range(130)]
    assert (whole["text"], whole["coverage"]) == (found["text"], "130 of 130 read.")
    assert rest["next"] is None
    assert part["results"] == whole["results"][found["next"] : found["next"] + 2]
    assert part["next"] == found["next"] + 2


async def test_nobody_else_learns_that_there_is_one(drive: Drive, alice: Actor, bob: Actor) -> None:
    await fill(drive, alice, 2)
    async with lending_host_of(drive, alice, Lender()) as host:
        found = await host.call("map_reduce_files", WHOLE, **READ_ALL)
    told: list[Any] = []
    async with host_of(drive, bob) as bobs:
        for result_id in (found["result_id"], "0" * 32):
            address: Any = f"drive://results/{result_id}"
            with pytest.raises(McpError) as refused:
                await bobs.session.read_resource(address)
            told.append((refused.value.error.code, refused.value.error.message))
            told.append(await bobs.refused("read_bulk_result", result_id=result_id))
        assert not [one for one in (await bobs.session.list_resources()).resources if "results" in str(one.uri)]

    assert told[:2] == told[2:]
    assert told[1]["code"] == "not_found"


async def test_what_was_shared_is_withheld_once_it_is_not_any_more(drive: Drive, alice: Actor, bob: Actor) -> None:
    await fill(drive, alice, 2, "Shared")
    folder = (await drive.files.get(alice, "/Shared")).id
    await drive.sharing.share(alice, folder, BOB, "viewer")
    own = (await drive.documents.create(bob, "root", "own.md", "My own.")).value.id
    async with lending_host_of(drive, bob, Lender()) as host:
        found = await host.call(
            "map_reduce_files", WHOLE, instruction="What?", folder_id=folder, reduce_instruction="A table"
        )
        both = await host.call("map_reduce_files", WHOLE, instruction="What?", belongs_to="shared")
        mine = await host.call("map_reduce_files", WHOLE, instruction="What?", file_ids=[own])
        await drive.sharing.revoke(alice, folder, BOB)
        gone = await host.call("read_bulk_result", WHOLE, result_id=found["result_id"])
        kept_own = await host.call("read_bulk_result", WHOLE, result_id=mine["result_id"])

    assert (found["read"], both["read"]) == (2, 2)
    assert gone["text"] == ""
    assert {(one["status"], one["answer"], one["quote"]) for one in gone["results"]} == {("failed", "", "")}
    assert kept_own["results"][0]["answer"] == "It says: My own."


async def test_the_trash_withholds_too_and_gives_back(drive: Drive, alice: Actor) -> None:
    await fill(drive, alice, 2)
    async with lending_host_of(drive, alice, Lender()) as host:
        found = await host.call("map_reduce_files", WHOLE, **READ_ALL)
        await drive.files.trash(alice, "/Many/001.md")
        without = await host.call("read_bulk_result", WHOLE, result_id=found["result_id"])
        await host.call("restore_item", item_id=found["results"][1]["file_id"])
        again = await host.call("read_bulk_result", WHOLE, result_id=found["result_id"])

    assert [one["status"] for one in without["results"]] == ["answered", "failed"]
    assert without["text"] == ""
    assert again["text"] == found["text"]


async def test_results_expire_and_are_cleared_away(drive: Drive, alice: Actor) -> None:
    await fill(drive, alice, 2)
    async with lending_host_of(drive, alice, Lender()) as host:
        found = await host.call("map_reduce_files", WHOLE, **READ_ALL)
        later = StoredResults(drive.database, timedelta(1), clock=lambda: datetime.now(UTC) + timedelta(days=8))
        drive.map_reduce_results = later
        refused = await host.refused("read_bulk_result", result_id=found["result_id"])

    assert refused["code"] == "not_found"
    assert await kept(drive) == (1, 2)
    assert await later.expire() == 1
    assert await kept(drive) == (0, 0)


async def test_only_so_many_are_kept_of_each_person(
    drive: Drive, alice: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_results, "MAX_KEPT", 2)
    await fill(drive, alice, 1)
    async with lending_host_of(drive, alice, Lender()) as host:
        ids = [(await host.call("map_reduce_files", WHOLE, **READ_ALL))["result_id"] for _ in range(3)]
        await host.refused("read_bulk_result", result_id=ids[0])
        await host.call("read_bulk_result", WHOLE, result_id=ids[2])

    assert await kept(drive) == (2, 2)


async def test_the_answer_says_which_version_it_rests_on_also_after_a_change(drive: Drive, alice: Actor) -> None:
    await fill(drive, alice, 1)
    await drive.documents.write_text(alice, "/Many/000.md", "Second.\n")
    async with lending_host_of(drive, alice, Lender()) as host:
        found = await host.call("map_reduce_files", WHOLE, **READ_ALL)
        await drive.documents.write_text(alice, "/Many/000.md", "Third.\n")
        again = await host.call("read_bulk_result", WHOLE, result_id=found["result_id"])
        cited = again["results"][0]
        address: Any = cited["uri"]
        passage = (await host.session.read_resource(address)).contents[0].model_dump()["text"]

    assert (cited["version"], cited["quote"]) == (2, "Second.")
    assert "Second." in passage
