from __future__ import annotations

import logging
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest
from mcp.server.fastmcp import Context  # noqa: TC002 - FastMCP reads the annotations of tools
from mcp.server.fastmcp.exceptions import ToolError
from mcp.shared.exceptions import McpError, UrlElicitationRequiredError
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import ElicitRequestURLParams, ErrorData, ListToolsRequest
from pydantic import AnyUrl, BaseModel

from drive_server.kernel.errors import DriveError, StorageFailureError
from drive_server.mcp.resources import INDEX, INDEX_URI
from drive_server.mcp.server import build_server
from tests.drive_server.hosts import host_of, text_of
from tests.drive_server.protocol.listener import listening, settled

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


class Sum(BaseModel):
    total: int


async def test_the_server_says_what_it_is_and_announces_just_what_it_has(drive: Drive) -> None:
    async with create_connected_server_and_client_session(drive.server) as session:
        capabilities = session.get_server_capabilities()
    options = drive.server.protocol.create_initialization_options()

    assert capabilities is not None
    assert capabilities.tools is not None
    assert capabilities.tools.listChanged
    assert capabilities.prompts is not None
    assert not capabilities.prompts.listChanged
    assert capabilities.resources is not None
    assert (capabilities.resources.subscribe, capabilities.resources.listChanged) == (True, True)
    assert capabilities.completions is not None
    assert capabilities.logging is not None
    assert (options.server_name, options.server_version) == ("drive", version("drive-agent"))
    assert 0 < len(options.instructions or "") < 800


async def test_without_a_key_the_lists_of_what_there_is_are_open_and_those_of_files_are_not(drive: Drive) -> None:
    async with create_connected_server_and_client_session(drive.server) as session:
        assert (await session.list_tools()).tools
        assert (await session.list_prompts()).prompts
        assert (await session.list_resource_templates()).resourceTemplates
        with pytest.raises(McpError) as refused:
            await session.list_resources()

    assert refused.value.error.data is not None
    assert refused.value.error.data["code"] == "unauthenticated"


async def test_recent_files_are_listed_as_resources(drive: Drive, alice: Actor) -> None:
    first = (await drive.documents.create(alice, "root", "a\u200f.md", "one")).value
    await drive.documents.create(alice, "root", "photo.png", b"\x89PNG")
    async with host_of(drive, alice) as host:
        await host.call("read_file", file_id=first.id)
        listed = (await host.session.list_resources()).resources
        uris = [str(resource.uri) for resource in listed]
        contents = (await host.session.read_resource(listed[0].uri)).contents

    assert uris[0] == f"drive://files/{first.id}"
    resource = listed[0]
    assert (resource.name, resource.title, resource.description) == ("a\u200f.md", "a\\u{200f}.md", "/a\\u{200f}.md")
    assert (resource.mimeType, resource.size) == ("text/markdown", 3)
    assert resource.annotations is not None
    assert resource.annotations.model_dump()["lastModified"] == f"{first.modified_at:%Y-%m-%dT%H:%M:%SZ}"
    assert contents[0].text == "one"  # pyright: ignore[reportAttributeAccessIssue] - it is text
    assert [entry.mimeType for entry in listed] == ["text/markdown", "image/png", INDEX.mimeType]


async def test_plain_tools_and_resources_work_beside_the_drives_own(drive: Drive, alice: Actor) -> None:
    @drive.server.tool()
    def add(a: int, b: int) -> Sum:
        return Sum(total=a + b)

    @drive.server.tool()
    async def greet(name: str, context: Context[Any, Any, Any]) -> str:
        await context.info(f"greeting {name}")
        return f"Hello {name}"

    @drive.server.resource("plain://{name}", mime_type="text/css")
    def style(name: str) -> str:
        return f"body {{ {name} }}"

    @drive.server.resource("test://bytes", mime_type="image/png")
    def picture() -> bytes:
        return b"\x89"

    assert add
    assert greet
    assert style
    assert picture
    async with listening(drive, alice) as (session, heard):
        added = await session.call_tool("add", {"a": 1, "b": "2"})
        greeted = await session.call_tool("greet", {"name": "Alice"})
        read = await session.read_resource(AnyUrl("plain://red"))
        blob = await session.read_resource(AnyUrl("test://bytes"))
        names = [tool.name for tool in (await session.list_tools()).tools]
        uris = [str(resource.uri) for resource in (await session.list_resources()).resources]
        templates = [one.uriTemplate for one in (await session.list_resource_templates()).resourceTemplates]
        await settled(drive, heard)

    assert added.structuredContent == {"total": 3}
    assert text_of(greeted) == "Hello Alice"
    assert [message.data for message in heard.messages] == ["greeting Alice"]
    assert (read.contents[0].mimeType, blob.contents[0].mimeType) == ("text/css", "image/png")
    assert names[-2:] == ["add", "greet"]
    assert (uris, templates[-1]) == ([INDEX_URI, "test://bytes"], "plain://{name}")


async def test_what_a_plain_tool_raises_is_told_as_far_as_it_means_to(drive: Drive, alice: Actor) -> None:
    @drive.server.tool()
    def fail(how: str) -> str:
        if how == "tool":
            raise ToolError("This went wrong on purpose.")
        if how == "protocol":
            raise McpError(ErrorData(code=-32000, message="Not now.", data={"code": "later"}))
        if how == "url":
            page = ElicitRequestURLParams(message="Sign in.", url="https://example.com/x", elicitationId="1")
            raise UrlElicitationRequiredError([page])
        raise RuntimeError("/home/alice/secret")

    assert fail
    async with host_of(drive, alice) as host:
        meant = await host.result("fail", how="tool")
        unmeant = await host.result("fail", how="otherwise")
        with pytest.raises(McpError) as protocol:
            await host.result("fail", how="protocol")
        with pytest.raises(McpError) as url:
            await host.result("fail", how="url")

    assert (meant.isError, text_of(meant)) == (True, "This went wrong on purpose.")
    assert unmeant.isError
    assert "secret" not in text_of(unmeant)
    assert (protocol.value.error.code, protocol.value.error.data) == (-32000, {"code": "later"})
    assert url.value.error.code == -32042
    assert url.value.error.data is not None
    assert url.value.error.data["elicitations"][0]["url"] == "https://example.com/x"


async def test_a_request_that_fails_in_a_way_nobody_foresaw_has_a_code_and_tells_nothing(
    drive: Drive, alice: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("/home/alice/secret")

    monkeypatch.setitem(drive.server.protocol.request_handlers, ListToolsRequest, broken)
    async with host_of(drive, alice) as host:
        with pytest.raises(McpError) as failed:
            await host.session.list_tools()

    assert failed.value.error.code == -32603
    assert failed.value.error.data is not None
    assert failed.value.error.data["code"] == "internal"
    assert "secret" not in str(failed.value.error)


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
        "messages": {
            "message": {"code": "error.storage_failure", "params": {}, "zh": "无法保存或读取，没有留下任何更改。"}
        },
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


def test_every_error_of_the_drive_has_a_code_and_a_status() -> None:
    errors = {error for error in every_error(DriveError) if error.__module__ == DriveError.__module__}
    with_own_code = [error for error in errors if "code" in vars(error)]

    assert len({error.code for error in errors}) == len(with_own_code)
    assert all(400 <= error.status < 600 for error in errors)
