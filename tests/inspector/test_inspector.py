"""MCP's own Inspector, which checks what a server sends more strictly than most hosts do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from drive_server.connect import ALL_SCOPES, in_process_session
from tests.drive_server.actors import local_owner

if TYPE_CHECKING:
    from pydantic import BaseModel

    from tests.drive_server.http.service import Service
    from tests.inspector.command import Inspector

TRANSPORTS = ("http", "stdio")


def called(tool: str, **arguments: Any) -> tuple[str, ...]:
    return ("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))


def as_json(listed: BaseModel) -> dict[str, Any]:
    return listed.model_dump(mode="json", by_alias=True, exclude_none=True)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_the_schemas_of_all_tools_are_portable(transport: str, inspectors: dict[str, Inspector]) -> None:
    exit_code, listed, complaints = await inspectors[transport].run("tools/list", "--strict")

    assert exit_code == 0, complaints
    assert "across" not in complaints, complaints
    assert len(listed["result"]["tools"]) > 20


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_tools_are_called_and_resources_read(transport: str, inspectors: dict[str, Inspector]) -> None:
    inspector = inspectors[transport]
    made = (await inspector.result(*called("create_file", name="计划 🌍.md", content="你好")))["structuredContent"]
    read = await inspector.result(*called("read_file", file_id=made["id"]))
    resource = await inspector.result("resources/read", "--uri", f"drive://files/{made['id']}")

    assert read["structuredContent"]["text"] == "你好"
    assert resource["contents"][0]["text"] == "你好"


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_an_error_keeps_its_code_and_its_hint(transport: str, inspectors: dict[str, Inspector]) -> None:
    _, answered, complaints = await inspectors[transport].run(*called("read_file", file_id="nothing"))

    assert answered["result"]["isError"], complaints
    assert answered["result"]["structuredContent"]["code"] == "not_found"
    assert answered["result"]["structuredContent"]["hint"]


async def test_all_three_transports_list_the_same(service: Service, inspectors: dict[str, Inspector]) -> None:
    owner = await local_owner(service.drive.identity)
    principal = await service.drive.identity.principal_for(owner.user_id, ALL_SCOPES)
    async with in_process_session(service.drive, principal) as session:
        await session.call_tool("create_file", {"name": "new.md", "content": "new"})
        here = {
            "tools/list": as_json(await session.list_tools()),
            "prompts/list": as_json(await session.list_prompts()),
            "resources/list": as_json(await session.list_resources()),
            "resources/templates/list": as_json(await session.list_resource_templates()),
        }

    for method, listed in here.items():
        (entries,) = listed.values()
        assert entries, method
        for transport in TRANSPORTS:
            assert await inspectors[transport].result(method) == listed, (method, transport)
