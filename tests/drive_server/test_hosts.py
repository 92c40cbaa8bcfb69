"""The hosts of these tests."""

from __future__ import annotations

import sys

from mcp import StdioServerParameters

from tests.drive_server.hosts import session_over_stdio
from tests.handshake import VERSION

TALKS_TO_THE_END = f"""
import json, sys

server = {{"protocolVersion": "{VERSION}", "capabilities": {{}}, "serverInfo": {{"name": "talker", "version": "1"}}}}
for line in sys.stdin:
    if (message := json.loads(line)).get("method") == "initialize":
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": server}}), flush=True)
for _ in range(3):
    print(json.dumps({{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}}), flush=True)
"""


async def test_a_session_ends_though_its_server_still_talks() -> None:
    command = StdioServerParameters(command=sys.executable, args=["-c", TALKS_TO_THE_END])
    async with session_over_stdio(command) as session:
        capabilities = session.get_server_capabilities()

    assert capabilities is not None
