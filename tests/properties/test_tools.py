"""Whatever a host sends to a tool, it gets what the schema promises, or an error that a machine can read."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, given, settings
from mcp.shared.exceptions import McpError

from drive_server.connect import open_drive
from tests.drive_server.actors import new_person
from tests.drive_server.hosts import Host, assistant_of, host_of
from tests.properties.arguments import arguments_for

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from anyio.from_thread import BlockingPortal
    from mcp.types import CallToolResult, Tool

    from drive_server.kernel.settings import DriveSettings

CALLS_PER_TOOL = 20
LEAKS = ("Traceback", "site-packages", 'File "', "sqlite3", "sqlalchemy", "pydantic", "drive_server")


class Fuzzed:
    """Two hosts of one person, one outside and the assistant, in a drive with something in it."""

    def __init__(
        self, portal: BlockingPortal, hosts: list[Host], tools: list[Tool], known: list[str], path: str
    ) -> None:
        self.portal = portal
        self.hosts = hosts
        self.tools = tools
        self.known = known
        self.leaks = (*LEAKS, path)


@asynccontextmanager
async def _hosts(drive_settings: DriveSettings) -> AsyncGenerator[tuple[list[Host], list[Tool], list[str]]]:
    async with AsyncExitStack() as stack:
        drive = await stack.enter_async_context(open_drive(drive_settings))
        alice = await new_person(drive.identity, "alice@example.com")
        await new_person(drive.identity, "bob@example.com")
        hosts = [
            await stack.enter_async_context(host_of(drive, alice)),
            await stack.enter_async_context(assistant_of(drive, alice)),
        ]
        known = ["root", "/Reports", "/Reports/plan.md", "/计划.txt", "bob@example.com", "plan", "run-1"]
        folder = await hosts[0].call("create_folder", name="Reports")
        for name, parent in (("plan.md", folder["id"]), ("计划.txt", "root"), ("old.csv", "root")):
            file = await hosts[0].call("create_file", name=name, content="a,b\n甲,乙\n", folder_id=parent)
            known += [file["id"], file["etag"]]
        await hosts[0].call("trash_item", item_id="/old.csv")
        yield hosts, (await hosts[0].session.list_tools()).tools, known


@pytest.fixture
def fuzzed(drive_settings: DriveSettings) -> Iterator[Fuzzed]:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(_hosts(drive_settings)) as (hosts, tools, known),
    ):
        yield Fuzzed(portal, hosts, tools, known, str(drive_settings.data_dir))


@pytest.mark.timeout(300)
def test_every_tool_answers_anything_by_its_schema_or_with_a_readable_error(fuzzed: Fuzzed) -> None:
    for tool in fuzzed.tools:
        _fuzz(fuzzed, tool)


def _fuzz(fuzzed: Fuzzed, tool: Tool) -> None:
    check_output = jsonschema.Draft202012Validator(tool.outputSchema or {}).validate

    @settings(
        max_examples=CALLS_PER_TOOL,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        derandomize=True,
    )
    @given(arguments=arguments_for(tool.inputSchema, fuzzed.known))
    def call(arguments: dict[str, Any]) -> None:
        for host in fuzzed.hosts:
            try:
                result = fuzzed.portal.call(partial(host.session.call_tool, tool.name, arguments))
            except McpError as error:
                _check_refusal(fuzzed, error, arguments)
            else:
                _check_result(fuzzed, result, check_output, arguments)

    call()


def _check_refusal(fuzzed: Fuzzed, refusal: McpError, arguments: dict[str, Any]) -> None:
    assert refusal.error.code < 0
    _check_error(fuzzed, refusal.error.data, arguments)


def _check_result(fuzzed: Fuzzed, result: CallToolResult, check_output: Any, arguments: dict[str, Any]) -> None:
    if not result.isError:
        check_output(result.structuredContent)
        return
    _check_error(fuzzed, result.structuredContent, arguments)
    (block,) = result.content
    assert block.type == "text"
    assert block.text.startswith(f"{(result.structuredContent or {})['code']}: ")


def _check_error(fuzzed: Fuzzed, error: Any, arguments: dict[str, Any]) -> None:
    assert error["code"] not in {"internal", "", "0"}, error
    assert error["message"]
    assert isinstance(error["hint"], str)
    told, sent = str(error), str(arguments)
    assert [leak for leak in fuzzed.leaks if leak in told and leak not in sent] == []
