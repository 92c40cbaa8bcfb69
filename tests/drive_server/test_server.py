from __future__ import annotations

import logging
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest
from mcp.shared.exceptions import McpError
from mcp.shared.memory import create_connected_server_and_client_session

from drive_server.errors import DriveError, StorageFailureError
from drive_server.server import build_server
from tests.drive_server.hosts import host_of, text_of

if TYPE_CHECKING:
    from drive_server.access import Actor
    from drive_server.drive import Drive


async def test_the_server_says_what_it_is_and_announces_just_what_it_has(drive: Drive) -> None:
    async with create_connected_server_and_client_session(drive.server) as session:
        capabilities = session.get_server_capabilities()
        options = build_server(drive).protocol.create_initialization_options()

        assert capabilities is not None
        assert capabilities.tools is not None
        assert capabilities.resources is not None
        assert capabilities.prompts is None
        assert (await session.list_resources()).resources == []
    assert (options.server_name, options.server_version) == ("drive", version("drive-agent"))
    assert 0 < len(options.instructions or "") < 800


async def test_what_fails_unexpectedly_is_logged_and_told_to_nobody(
    drive: Drive, alice: Actor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("/home/alice/drive.db is at line 7")

    monkeypatch.setattr(drive.files, "get", broken)
    async with host_of(drive, alice) as host:
        result = await host.result("get_file_info", item_id="root")
        with pytest.raises(McpError) as failed:
            await host.session.read_resource("drive://folders/root")  # pyright: ignore[reportArgumentType] - pydantic takes a str

    assert result.isError
    assert result.structuredContent is not None
    assert result.structuredContent["code"] == "internal"
    assert failed.value.error.data is not None
    assert failed.value.error.data["code"] == "internal"
    assert "alice" not in text_of(result) + str(result.structuredContent) + str(failed.value.error)
    assert "/home/alice/drive.db is at line 7" in caplog.text


async def test_an_error_of_the_drive_is_answered_with_all_that_it_says(
    drive: Drive, alice: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object, **__: object) -> None:
        raise StorageFailureError("The disk is full.", hint="Make room.", details={"free": 0})

    monkeypatch.setattr(drive.files, "create_folder", full)
    async with host_of(drive, alice) as host:
        result = await host.result("create_folder", name="A")

    assert text_of(result) == "storage_failure: The disk is full. Make room."
    assert result.structuredContent == {
        "code": "storage_failure",
        "message": "The disk is full.",
        "hint": "Make room.",
        "details": {"free": 0},
    }


async def test_building_a_server_leaves_the_programs_logging_alone(
    drive: Drive, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    level = root.level

    build_server(drive)

    assert (root.handlers, root.level) == ([], level)


def every_error(base: type[DriveError]) -> set[type[DriveError]]:
    return {base}.union(*(every_error(error) for error in base.__subclasses__()))


def test_every_error_of_the_drive_has_a_code_of_its_own_and_a_status() -> None:
    errors = every_error(DriveError)

    assert len({error.code for error in errors}) == len(errors)
    assert all(400 <= error.status < 600 for error in errors)
