"""MCP's own Inspector, which checks what a server sends more strictly than most hosts do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.inspector.command import Inspector

TRANSPORTS = ("http", "stdio")


def called(tool: str, **arguments: Any) -> tuple[str, ...]:
    return ("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))


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


async def test_an_error_keeps_its_code_and_its_hint(inspectors: dict[str, Inspector]) -> None:
    _, answered, complaints = await inspectors["http"].run(*called("read_file", file_id="nothing"))

    assert answered["result"]["isError"], complaints
    assert answered["result"]["structuredContent"]["code"] == "not_found"
    assert answered["result"]["structuredContent"]["hint"]
