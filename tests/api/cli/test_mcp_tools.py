"""The tools that `drive-agent mcp` shows the host that started it."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.api.cli.command import COMMAND, environment
from tests.handshake import INTRODUCTION

if TYPE_CHECKING:
    from tests.e2e.service import Service

LIST = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INTRODUCTION},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
]


@pytest.mark.parametrize("arguments", [["mcp"], ["mcp", "--tools", "all"]])
def test_mcp_shows_the_host_the_core_or_all_tools(service: Service, arguments: list[str]) -> None:
    done = subprocess.run(
        [COMMAND, *arguments],
        env=environment({"DRIVE_DATA_DIR": str(service.data_dir)}),
        input="".join(f"{json.dumps(request)}\n" for request in LIST),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    names = {tool["name"] for tool in json.loads(done.stdout.splitlines()[-1])["result"]["tools"]}

    assert "list_folder" in names
    assert ("more_tools" in names, "whoami" in names) == ((False, True) if "all" in arguments else (True, False))
