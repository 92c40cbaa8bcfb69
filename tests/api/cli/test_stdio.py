"""The drive as an MCP server over stdio, as a process of its own."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from mcp import StdioServerParameters

from tests.api.cli.command import COMMAND, environment
from tests.api.cli.stdio import WHOAMI
from tests.drive_server.hosts import Host, session_over_stdio

if TYPE_CHECKING:
    from tests.e2e.service import Service


async def test_what_a_host_over_stdio_is_told_leads_to_the_running_service(service: Service) -> None:
    command = StdioServerParameters(
        command=str(COMMAND), args=["mcp"], env=environment({"DRIVE_DATA_DIR": str(service.data_dir)})
    )
    async with session_over_stdio(command) as session:
        made = await Host(session).call("create_file", name="cited.md", content="text")
        download = await Host(session).call("get_download_url", file_id=made["id"])
    assert download["url"].startswith(f"{service.url}/d/")


@pytest.mark.parametrize("key", ["", "wrong"])
def test_mcp_serves_the_drive_over_stdio(service: Service, key: str) -> None:
    settings = {"DRIVE_DATA_DIR": str(service.data_dir), **({"DRIVE_API_KEY": key} if key else {})}
    process = subprocess.Popen(
        [COMMAND, "mcp"],
        env=environment(settings),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    for request in WHOAMI:
        process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(2)]
    process.stdin.close()
    assert process.wait(60) == 0
    process.stdout.close()
    if process.stderr:
        process.stderr.close()
    answer = answers[1]["result"]
    assert answer["isError"] is (key == "wrong")
    if not key:
        assert answer["structuredContent"]["email"] == "me@localhost"
