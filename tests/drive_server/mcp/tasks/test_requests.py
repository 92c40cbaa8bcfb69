"""Calls as tasks, over real sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.types import INVALID_PARAMS, METHOD_NOT_FOUND

from drive_server.connect import open_drive
from drive_server.kernel.access import Scope
from drive_server.services.tasks import MAX_UNFINISHED
from tests.drive_server.actors import new_person, purging
from tests.drive_server.hosts import Person, asking_host_of, assistant_of, host_of, show_whole_tools, text_of
from tests.drive_server.http.service import running
from tests.drive_server.http.streamable_http.test_endpoint import remote
from tests.drive_server.raw import raw_client
from tests.drive_server.tasking import (
    COPY,
    RELATED,
    begin,
    cancelled,
    fill,
    listed,
    look_at,
    names,
    refused_with,
    result_of,
)

if TYPE_CHECKING:
    from mcp import ClientSession

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.kernel.settings import DriveSettings
    from tests.drive_server.gates import Gate

PATIENCE = 20


async def test_tasks_are_announced_and_so_are_the_tools_that_can_be_one(drive: Drive, session: ClientSession) -> None:
    show_whole_tools(drive)
    capabilities = session.get_server_capabilities()
    tools = (await session.list_tools()).tools

    assert capabilities is not None
    assert capabilities.model_dump(exclude_none=True)["tasks"] == {
        "list": {},
        "cancel": {},
        "requests": {"tools": {"call": {}}},
    }
    can_be_one = {tool.name for tool in tools if tool.execution and tool.execution.taskSupport == "optional"}
    assert can_be_one == {
        "copy_item",
        "get_index_status",
        "map_reduce_files",
        "move_items",
        "organize_items",
        "rename_items",
        "empty_trash",
        "undo_changes",
        "redo_changes",
    }
    assert all(tool.execution is None for tool in tools if tool.name not in can_be_one)


async def test_a_task_is_answered_at_once_and_its_result_is_that_of_the_call(
    drive: Drive, alice: Actor, session: ClientSession, half_way: Gate
) -> None:
    task = await begin(session, "copy_item", COPY)
    await half_way.reached.wait()
    at_work = await look_at(session, task.taskId)
    half_way.open()
    result = await result_of(session, task.taskId)
    over = await look_at(session, task.taskId)

    assert (task.status, at_work.status, over.status) == ("working", "working", "completed")
    assert at_work.statusMessage == "1 of 4 done."
    assert over.createdAt == task.createdAt
    assert over.ttl == 60_000
    assert result.structuredContent is not None
    assert result.structuredContent["child_count"] == 3
    assert result.meta is not None
    assert result.meta[RELATED] == {"taskId": task.taskId}
    assert result.meta["drive-agent/change-id"] is not None
    assert over.statusMessage == text_of(result)
    assert await names(drive, alice, "/Copy") == ["0.md", "1.md", "2.md"]


async def test_a_result_is_waited_for(session: ClientSession, half_way: Gate) -> None:
    task = await begin(session, "copy_item", COPY)
    results: list[bool | None] = []

    async def wait() -> None:
        results.append((await result_of(session, task.taskId)).isError)

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            group.start_soon(wait)
            await half_way.reached.wait()
            await session.send_ping()
            assert results == []
            half_way.open()
    assert results == [False, False]


async def test_what_can_not_be_a_task_is_refused(session: ClientSession) -> None:
    async with refused_with(METHOD_NOT_FOUND):
        await begin(session, "list_folder", {})
    async with refused_with(INVALID_PARAMS):
        await begin(session, "no_such_tool", {})
    async with refused_with(INVALID_PARAMS) as error:
        await begin(session, "copy_item", COPY, meta={"drive-agent/dry-run": "yes"})
    assert error["code"] == "invalid_argument"
    assert (await listed(session)).tasks == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({**COPY, "item_id": "/nowhere"}, "not_found"),
        ({**COPY, "surprise": 1}, "invalid_argument"),
        ({}, "invalid_argument"),
        ({**COPY, "name": "a/b"}, "invalid_name"),
    ],
)
async def test_a_call_that_is_refused_is_a_task_that_failed(
    session: ClientSession, arguments: dict[str, Any], code: str
) -> None:
    task = await begin(session, "copy_item", arguments)
    result = await result_of(session, task.taskId)
    over = await look_at(session, task.taskId)

    assert result.isError
    assert result.structuredContent is not None
    assert result.structuredContent["code"] == code
    assert over.status == "failed"
    assert over.statusMessage is not None
    assert over.statusMessage.startswith(f"{code}: ")


async def test_a_task_is_seen_by_all_sessions_of_its_user_and_by_nobody_else(
    drive: Drive, alice: Actor, bob: Actor, session: ClientSession, half_way: Gate
) -> None:
    task = await begin(session, "copy_item", COPY)
    await half_way.reached.wait()
    async with host_of(drive, bob) as bobs:
        for ask in (look_at, result_of, cancelled):
            async with refused_with(INVALID_PARAMS) as foreign:
                await ask(bobs.session, task.taskId)
            async with refused_with(INVALID_PARAMS) as unknown:
                await ask(bobs.session, "0" * 32)
            assert foreign == unknown
        assert (await listed(bobs.session)).tasks == []
    async with assistant_of(drive, alice) as assistant:
        assert [found.taskId for found in (await listed(assistant.session)).tasks] == [task.taskId]
        assert (await cancelled(assistant.session, task.taskId)).status == "cancelled"


async def test_a_task_goes_on_when_its_session_ends(drive: Drive, alice: Actor, half_way: Gate) -> None:
    await fill(drive, alice)
    async with host_of(drive, alice) as host:
        task = await begin(host.session, "copy_item", COPY)
        await half_way.reached.wait()
    half_way.open()
    async with host_of(drive, alice) as other:
        assert not (await result_of(other.session, task.taskId)).isError


async def test_the_list_comes_in_pages_with_cursors_of_its_own(drive_settings: DriveSettings) -> None:
    async with open_drive(drive_settings.model_copy(update={"page_size": 2})) as drive:
        alice, bob = [await new_person(drive.identity, f"{name}@example.com") for name in ("alice", "bob")]
        async with host_of(drive, purging(alice)) as host, host_of(drive, bob) as bobs:
            session = host.session
            made = [(await begin(session, "empty_trash", {})).taskId for _ in range(5)]
            for task_id in made:
                await result_of(session, task_id)
            seen: list[str] = []
            cursor = None
            while True:
                page = await listed(session, cursor)
                seen += [task.taskId for task in page.tasks]
                cursor = page.nextCursor
                if cursor is None:
                    break
                await begin(session, "empty_trash", {})
                async with refused_with(INVALID_PARAMS):
                    await listed(bobs.session, cursor)
            tools = (await session.list_tools()).nextCursor
            for bad in ("nonsense", "", tools):
                async with refused_with(INVALID_PARAMS) as error:
                    await listed(session, bad)
                assert error["code"] == "invalid_cursor"
    assert seen == made[::-1]


@pytest.mark.parametrize(
    ("asked", "given"),
    [(None, 86_400_000), (5_000, 5_000), (0, 1_000), (-7, 1_000), (10**18, 7 * 86_400_000)],
)
async def test_the_time_a_task_is_kept_is_honoured_within_bounds(
    drive: Drive, alice: Actor, asked: int | None, given: int
) -> None:
    async with host_of(drive, purging(alice)) as host:
        task = await begin(host.session, "empty_trash", {}, ttl=asked)

    assert task.ttl == given


async def test_progress_is_told_with_the_task_it_is_about_and_so_is_its_end(drive: Drive, alice: Actor) -> None:
    await fill(drive, alice)
    async with raw_client(drive, alice) as client:
        params = {"name": "copy_item", "arguments": COPY, "task": {"ttl": 60_000}, "_meta": {"progressToken": "p"}}
        await client.ask(1, "tools/call", params)
        *_, made = await client.until_answered(1)
        task = made.result["task"]
        told: list[Any] = []
        with anyio.fail_after(PATIENCE):
            while not told or told[-1].method != "notifications/tasks/status":
                message = (await client.reading.receive()).message.root
                # The copy and the files before it change resources too; that notice comes when it comes.
                told += [message] if message.method != "notifications/resources/list_changed" else []

    *progress, status = told
    assert progress
    for message in progress:
        assert message.method == "notifications/progress"
        assert message.params["progressToken"] == "p"
        assert message.params["_meta"] == {RELATED: {"taskId": task["taskId"]}}
    assert (status.params["taskId"], status.params["status"]) == (task["taskId"], "completed")


async def test_the_person_is_asked_before_the_task_is_made(drive: Drive, alice: Actor) -> None:
    await fill(drive, alice)
    await drive.files.trash(alice, "/Many")
    person = Person("decline", "accept")
    async with asking_host_of(drive, alice, person) as host:
        async with refused_with(-32000) as error:
            await begin(host.session, "empty_trash", {})
        assert error["code"] == "declined"
        assert (await listed(host.session)).tasks == []
        task = await begin(host.session, "empty_trash", {})
        result = await result_of(host.session, task.taskId)

    assert not result.isError, result.content
    assert len(person.questions) == 2
    assert (await drive.files.list_trash(alice)).items == ()
    newest = (await drive.journal.list_changes(alice)).items[0]
    assert newest.approved_by == "alice@example.com"


async def test_what_changed_after_the_yes_is_not_done(
    drive: Drive, alice: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(drive, alice)
    await drive.files.trash(alice, "/Many")
    create = drive.tasks.create

    async def slowly(*args: Any) -> Any:
        await drive.files.create_folder(alice, "root", "Precious")
        await drive.files.trash(alice, "/Precious")
        return await create(*args)

    monkeypatch.setattr(drive.tasks, "create", slowly)
    async with asking_host_of(drive, alice, Person("accept")) as host:
        task = await begin(host.session, "empty_trash", {})
        result = await result_of(host.session, task.taskId)

    assert text_of(result).startswith("etag_mismatch: ")
    assert {item.name for item in (await drive.files.list_trash(alice)).items} == {"Many", "Precious"}


async def test_a_task_that_takes_nothing_away_asks_nobody(drive: Drive, alice: Actor) -> None:
    await fill(drive, alice)
    person = Person()
    async with asking_host_of(drive, alice, person) as host:
        task = await begin(host.session, "copy_item", COPY)
        result = await result_of(host.session, task.taskId)

    assert not result.isError
    assert person.questions == []


async def test_an_undo_can_be_a_task_and_asks_before(drive: Drive, alice: Actor) -> None:
    await fill(drive, alice)
    person = Person("accept")
    async with asking_host_of(drive, alice, person) as host:
        task = await begin(host.session, "undo_changes", {})
        result = await result_of(host.session, task.taskId)

    assert not result.isError, result.content
    assert len(person.questions) == 1
    assert await names(drive, alice, "/Many") == ["0.md", "1.md"]


async def test_a_repeated_key_is_the_same_task(drive: Drive, alice: Actor, session: ClientSession) -> None:
    meta = {"drive-agent/idempotency-key": "once"}
    first = await begin(session, "copy_item", COPY, meta=meta)
    again = await begin(session, "copy_item", COPY, meta=meta)
    await result_of(session, first.taskId)
    after = await session.call_tool("copy_item", COPY, meta=meta)
    async with refused_with(-32000) as error:
        await begin(session, "copy_item", {**COPY, "name": "Other"}, meta=meta)

    assert again.taskId == first.taskId
    assert after.meta is not None
    assert after.meta["drive-agent/replayed"]
    assert error["code"] == "idempotency_conflict"
    assert await names(drive, alice) == ["Copy", "Many"]


async def test_two_at_once_with_one_key_are_one_task(drive: Drive, alice: Actor, session: ClientSession) -> None:
    tasks: list[str] = []

    async def make() -> None:
        meta = {"drive-agent/idempotency-key": "once"}
        tasks.append((await begin(session, "copy_item", COPY, meta=meta)).taskId)

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(make)
    await result_of(session, tasks[0])

    assert len(set(tasks)) == 1
    assert await names(drive, alice) == ["Copy", "Many"]


async def test_no_task_deletes_for_good_for_a_host_that_can_not_ask(drive: Drive, alice: Actor) -> None:
    await fill(drive, alice)
    await drive.files.trash(alice, "/Many")
    async with host_of(drive, alice) as host:
        async with refused_with(-32000) as error:
            await begin(host.session, "empty_trash", {})
        assert (error["code"], error["details"]) == ("missing_scope", {"scope": "purge"})
        assert (await listed(host.session)).tasks == []
    await drive.identity.change_scopes(purging(alice), str(alice.principal.key_id), list(Scope))
    async with host_of(drive, purging(alice)) as host:
        task = await begin(host.session, "empty_trash", {})
        assert not (await result_of(host.session, task.taskId)).isError
    assert (await drive.files.list_trash(alice)).items == ()


async def test_a_task_deletes_nothing_for_good_once_its_key_has_lost_the_scope(drive: Drive, alice: Actor) -> None:
    await fill(drive, alice)
    await drive.files.trash(alice, "/Many")
    async with host_of(drive, purging(alice)) as host:  # whose key, as it is stored, lacks the scope
        task = await begin(host.session, "empty_trash", {})
        result = await result_of(host.session, task.taskId)

    assert (result.structuredContent or {})["code"] == "missing_scope"
    assert len((await drive.files.list_trash(alice)).items) == 1


async def test_a_key_without_the_scope_makes_a_task_that_fails(drive: Drive, alice: Actor) -> None:
    _, secret = await drive.identity.create_key(alice, "reader", ["read"])
    reader = type(alice)(await drive.identity.authenticate(secret))
    async with host_of(drive, reader) as host:
        task = await begin(host.session, "empty_trash", {})
        result = await result_of(host.session, task.taskId)

    assert text_of(result).startswith("missing_scope: ")


async def test_a_key_that_is_revoked_before_its_task_runs_does_nothing(
    drive: Drive, alice: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(drive, alice)
    key, secret = await drive.identity.create_key(alice, "host", ["read", "write"])
    host_with_key = type(alice)(await drive.identity.authenticate(secret))
    create = drive.tasks.create

    async def slowly(*args: Any) -> Any:
        await drive.identity.revoke_key(alice, key.id)
        return await create(*args)

    monkeypatch.setattr(drive.tasks, "create", slowly)
    async with host_of(drive, host_with_key) as host:
        task = await begin(host.session, "copy_item", COPY)
        result = await result_of(host.session, task.taskId)

    assert text_of(result).startswith("unauthenticated: The key that this task was made with")
    assert await names(drive, alice) == ["Many"]


async def test_others_read_on_while_a_task_is_at_work(
    drive: Drive, bob: Actor, session: ClientSession, half_way: Gate
) -> None:
    await begin(session, "copy_item", COPY)
    await half_way.reached.wait()
    async with host_of(drive, bob) as bobs:
        await bobs.session.send_ping()
        assert (await bobs.call("list_folder"))["items"] == []
    half_way.open()


@pytest.mark.usefixtures("copying_stands")
async def test_a_user_can_not_have_too_many_tasks_that_are_not_over(session: ClientSession) -> None:
    for _ in range(MAX_UNFINISHED):
        await begin(session, "copy_item", COPY)
    async with refused_with(-32000) as error:
        await begin(session, "copy_item", COPY)

    assert error["code"] == "rate_limited"
    assert error["details"]["limit"] == MAX_UNFINISHED


async def test_tasks_work_over_http(drive_settings: DriveSettings, half_way: Gate) -> None:
    async with running(drive_settings) as service:
        key = await service.add_person("alice@example.com")
        async with remote(service, key) as host:
            await host.call("create_folder", name="Many")
            await host.call("create_file", name="a.md", content="a", folder_id="/Many")
            stopped = await begin(host.session, "copy_item", COPY)
            await half_way.reached.wait()
            assert (await cancelled(host.session, stopped.taskId)).status == "cancelled"
            half_way.open()
            task = await begin(host.session, "copy_item", COPY)
        async with remote(service, key) as other:
            assert not (await result_of(other.session, task.taskId)).isError
            assert {found.taskId for found in (await listed(other.session)).tasks} == {stopped.taskId, task.taskId}
