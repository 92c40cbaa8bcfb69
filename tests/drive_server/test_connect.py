from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import McpError

from drive_server.connect import current_principal, in_process_session, open_drive
from drive_server.kernel.access import Actor, Scope
from drive_server.kernel.errors import InvalidInputError, StorageFailureError
from drive_server.knowledge.ingest.ingester import Ingester
from tests.drive_server.actors import local_owner, with_scopes

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcp import ClientSession
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolResult

    from drive_server.drive import Drive
    from drive_server.kernel.settings import DriveSettings

BACKGROUND = {
    *(
        "drive-installation",
        "drive-ingester",
        "drive-subscriptions",
        "drive-recents",
        "drive-housekeeping",
        "drive-tasks",
    ),
    *(
        "drive-tool-lists",
        "drive-key-uses",
        "drive-people",
        "drive-feed",
        "drive-notices",
        "drive-revocations",
        "drive-index-statuses",
    ),
}
HEAVY = ("lancedb", "pyarrow", "unstructured", "onnxruntime", "tokenizers", "pypdfium2")


async def call(session: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    result: CallToolResult = await session.call_tool(tool, arguments)
    assert not result.isError, result.content
    assert result.structuredContent is not None
    return result.structuredContent


def background_tasks() -> set[str]:
    return {task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("drive-")}


async def test_a_drive_is_kept_across_starts(drive_settings: DriveSettings) -> None:
    async with open_drive(drive_settings) as drive:
        owner = await local_owner(drive.identity)
        item = (await drive.documents.create(owner, "root", "计划.md", "# 计划")).value
    async with open_drive(drive_settings) as drive:
        assert (await local_owner(drive.identity)).user_id == owner.user_id
        assert (await drive.documents.read_text(owner, "/计划.md")).text == "# 计划"
        assert (await drive.files.get(owner, item.id)).etag == item.etag


async def test_everything_embedded_lies_in_a_directory_for_its_owner_alone(drive_settings: DriveSettings) -> None:
    root = anyio.Path(drive_settings.root)
    async with open_drive(drive_settings):
        assert (await root.stat()).st_mode & 0o777 == 0o700
    assert [path.name async for path in root.parent.iterdir()] == [root.name]


def test_opening_a_drive_imports_nothing_heavy(drive_settings: DriveSettings) -> None:
    program = f"""
import asyncio, json, sys
from drive_server.connect import DriveSettings, open_drive

async def main():
    async with open_drive(DriveSettings(data_dir={str(drive_settings.data_dir)!r})):
        await asyncio.sleep(0)

asyncio.run(main())
print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == []


def test_a_drive_that_is_indexed_and_searched_never_has_lancedb_itself(drive_settings: DriveSettings) -> None:
    program = f"""
import asyncio, json, sys
from drive_server.connect import DriveSettings, open_drive
from tests.drive_server.actors import local_owner

async def main():
    async with open_drive(DriveSettings(data_dir={str(drive_settings.data_dir)!r}, embedding_model="none")) as drive:
        owner = await local_owner(drive.identity)
        await drive.documents.create(owner, "root", "soup.md", "The canteen serves soup.")
        await drive.ingester.drain()
        assert (await drive.search.find(owner, "canteen")).items[0].text

asyncio.run(main())
print(json.dumps([name for name in ("pandas", *{HEAVY!r}) if name in sys.modules]))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == []


async def test_the_background_work_ends_with_the_drive(drive_settings: DriveSettings) -> None:
    async with open_drive(drive_settings):
        assert background_tasks() == BACKGROUND
    assert background_tasks() == set()


async def test_background_work_that_fails_is_reported_and_the_drive_goes_on(
    drive_settings: DriveSettings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(ingester: Ingester) -> None:
        raise RuntimeError(type(ingester).__name__)

    monkeypatch.setattr(Ingester, "run", fail)
    async with open_drive(drive_settings) as drive:
        owner = await local_owner(drive.identity)
        assert (await drive.files.get(owner, "root")).kind == "folder"
    assert "drive-ingester ended early" in caplog.text
    assert "RuntimeError: Ingester" in caplog.text


async def test_a_drive_can_be_opened_and_closed_in_different_tasks(drive_settings: DriveSettings) -> None:
    stack = AsyncExitStack()
    drive = await asyncio.create_task(stack.enter_async_context(open_drive(drive_settings)))
    async with asyncio.timeout(30):
        assert (await drive.files.get(await local_owner(drive.identity), "root")).kind == "folder"
    await asyncio.create_task(stack.aclose())
    assert background_tasks() == set()


async def test_a_data_directory_that_can_not_be_one_is_a_clear_error(drive_settings: DriveSettings) -> None:
    await anyio.Path(drive_settings.data_dir).write_text("in the way")
    with pytest.raises(StorageFailureError):
        async with open_drive(drive_settings):
            pass
    assert background_tasks() == set()


@pytest.mark.parametrize(
    "wrong", [{"database_url": "::::"}, {"blob_url": "gopher://x"}, {"embedding_model": "nonsense"}]
)
async def test_a_malformed_setting_is_a_clear_error(drive_settings: DriveSettings, wrong: dict[str, str]) -> None:
    with pytest.raises(InvalidInputError):
        async with open_drive(drive_settings.model_copy(update=wrong)):
            pass
    assert background_tasks() == set()


async def test_a_session_acts_in_the_name_of_its_principal(drive: Drive, alice: Actor) -> None:
    async with in_process_session(drive, alice.principal) as session:
        assert (await call(session, "whoami"))["email"] == "alice@example.com"
        await call(session, "create_folder", name="Reports")
    changes = await drive.journal.list_changes(alice)
    assert [change.summary for change in changes.items] == ["Created the folder 'Reports' in the root folder."]
    assert current_principal.get() is None


async def test_a_session_has_no_more_scopes_than_its_principal(drive: Drive, alice: Actor) -> None:
    async with in_process_session(drive, with_scopes(alice, Scope.READ).principal) as session:
        result = await session.call_tool("create_folder", {"name": "Reports"})
    assert result.isError
    assert result.structuredContent is not None
    assert result.structuredContent["code"] == "missing_scope"


async def test_people_in_sessions_at_once_never_mix(drive: Drive, alice: Actor, bob: Actor) -> None:
    async def work(actor: Actor, session_number: int) -> None:
        email = actor.principal.email
        async with in_process_session(drive, actor.principal) as session:
            for number in range(5):
                assert (await call(session, "whoami"))["email"] == email
                made = await call(session, "create_folder", name=f"{email} {session_number} {number}")
                assert (await call(session, "get_file_info", item_id=made["id"]))["owner"] == email

    async with anyio.create_task_group() as group:
        for session_number in range(2):
            for actor in (alice, bob):
                group.start_soon(work, actor, session_number)
    for actor in (alice, bob):
        listed = await drive.files.list_folder(actor, "root")
        assert listed.total == 10
        assert all(item.name.startswith(actor.principal.email) for item in listed.items)


async def test_a_session_can_be_opened_used_and_closed_in_different_tasks(drive: Drive, alice: Actor) -> None:
    stack = AsyncExitStack()
    session = await asyncio.create_task(stack.enter_async_context(in_process_session(drive, alice.principal)))
    assert (await asyncio.create_task(call(session, "whoami")))["email"] == "alice@example.com"
    await asyncio.create_task(stack.aclose())
    assert background_tasks() == BACKGROUND


async def test_a_session_is_closed_when_its_user_fails_or_is_cancelled(drive: Drive, alice: Actor) -> None:
    with pytest.raises(RuntimeError, match="mine"):
        async with in_process_session(drive, alice.principal):
            raise RuntimeError("mine")
    with anyio.move_on_after(0) as scope:
        async with in_process_session(drive, alice.principal):
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert background_tasks() == BACKGROUND


async def test_a_call_without_an_answer_ends_with_an_error_and_does_not_hold_up_the_closing(
    drive: Drive, alice: Actor
) -> None:
    ended = anyio.Event()

    async def hang() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    drive.server.add_tool(hang)
    async with in_process_session(drive, alice.principal, read_timeout=timedelta(milliseconds=50)) as session:
        with pytest.raises(McpError, match="Timed out"):
            await session.call_tool("hang")
        assert not ended.is_set()
    assert ended.is_set()


async def test_a_session_that_can_not_be_opened_says_why(drive: Drive, alice: Actor) -> None:
    @asynccontextmanager
    async def broken(server: Server[Any, Any]) -> AsyncGenerator[None]:
        raise LookupError(server.name)
        yield

    drive.server.protocol.lifespan = broken
    with pytest.raises(ExceptionGroup) as caught:
        async with in_process_session(drive, alice.principal):
            pass
    assert caught.value.subgroup(LookupError)
    assert background_tasks() == BACKGROUND
