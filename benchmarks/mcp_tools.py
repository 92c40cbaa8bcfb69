"""The processor time of the drive's reading tools, beside a trivial tool of the same MCP server.

    python -m benchmarks.mcp_tools [--times 20] [--rounds 9]

All are called over one session of Streamable HTTP, by a client in this process; the milliseconds are those of the
server's process. Rounds of the tools follow each other. A second table has the characters of each answer: of its text,
and of its structured result, which is to be no longer than twice the text.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, Final
from unittest.mock import patch

from benchmarks.fixtures.table import print_table
from tests.drive_server.http.process import Running, serving
from tests.handshake import HEADERS, INTRODUCTION, VERSION

TEXT: Final = b"A line of about forty characters, again.\n" * 100
LISTED: Final = 100
WARM_UP_ROUNDS: Final = 2
PROGRAM: Final = ("benchmarks.fixtures.services.drive_with_trivial_tool", "http")


@dataclass(slots=True)
class Row:
    """A tool with its arguments, and the milliseconds of CPU of a call in each round."""

    name: str
    tool: str
    arguments: dict[str, Any]
    rounds: list[float] = field(default_factory=list[float])
    sizes: tuple[int, int] = (0, 0)


class Session:
    """A session of MCP with the service."""

    def __init__(self, service: Running, connection: HTTPConnection) -> None:
        self._pid = service.process.pid
        self._connection = connection
        self._numbers = count(1)
        self._body = b""
        self._headers = {
            **HEADERS,
            "Authorization": f"Bearer {service.token}",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": VERSION,
        }
        self._headers["Mcp-Session-Id"] = self._send("initialize", INTRODUCTION)
        self._send("notifications/initialized")

    def sizes(self, row: Row) -> tuple[int, int]:
        """Return the characters of the answer's text and of its structured result."""
        self._send("tools/call", {"name": row.tool, "arguments": row.arguments})
        result = json.loads(self._body)["result"]
        text = "".join(block["text"] for block in result["content"])
        structured = json.dumps(result.get("structuredContent"), ensure_ascii=False, separators=(",", ":"))
        return len(text), len(structured)

    def measured(self, row: Row, times: int) -> float:
        """Return the milliseconds of CPU of a call, of all threads of the service."""
        before = self._cpu()
        for _ in range(times):
            self._send("tools/call", {"name": row.tool, "arguments": row.arguments})
        return (self._cpu() - before) / times * 1000

    def _cpu(self) -> float:
        return time.clock_gettime((~self._pid << 3) | 2)  # clock_getcpuclockid(3), which Python does not offer

    def _send(self, method: str, params: dict[str, Any] | None = None) -> str:
        """Send a message, which has to work; return the session's id."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}
        if not method.startswith("notifications/"):
            message["id"] = next(self._numbers)
        self._connection.request("POST", "/mcp", json.dumps(message), self._headers)
        answer = self._connection.getresponse()
        body = self._body = answer.read()
        assert answer.status < 300, body
        assert b'"error"' not in body, body
        assert b'"isError":true' not in body, body
        return answer.headers.get("Mcp-Session-Id", "")


def run(times: int, rounds: int) -> list[Row]:
    """Return the measured tools, the trivial one first."""
    without_limit = patch.dict(os.environ, {"DRIVE_CALLS_PER_MINUTE": "1000000"})
    with tempfile.TemporaryDirectory() as root, without_limit, serving(Path(root), PROGRAM) as service:
        table = _rows(service)
        with closing(HTTPConnection("127.0.0.1", service.port, timeout=100)) as connection:
            session = Session(service, connection)
            for row in table:
                row.sizes = session.sizes(row)
            for number in range(rounds + WARM_UP_ROUNDS):
                for row in table:
                    taken = session.measured(row, times)
                    if number >= WARM_UP_ROUNDS:
                        row.rounds.append(taken)
        return table


def _rows(service: Running) -> list[Row]:
    file = service.json("POST", "/api/drive/files?name=text.txt", TEXT)
    folder = _folder(service, "many", "root")
    for number in range(LISTED):
        _folder(service, f"n{number}", folder["id"])
    return [
        Row("a trivial tool", "trivial", {}),
        Row("read_file, 4 kB", "read_file", {"file_id": file["id"]}),
        Row(f"list_folder, {LISTED} items", "list_folder", {"folder_id": folder["id"]}),
        Row("get_file_info", "get_file_info", {"item_id": file["id"]}),
    ]


def _folder(service: Running, name: str, parent_id: str) -> Any:
    body = json.dumps({"kind": "folder", "name": name, "parent_id": parent_id}).encode()
    return service.json("POST", "/api/drive/items", body, {"Content-Type": "application/json"})


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args(arguments)
    table = run(options.times, options.rounds)
    medians, least = [median(row.rounds) for row in table], [min(row.rounds) for row in table]
    shown = [
        [row.name, f"{ms:.2f}", f"x{ms / medians[0]:.2f}", f"{low:.2f}", f"x{low / least[0]:.2f}"]
        for row, ms, low in zip(table, medians, least, strict=True)
    ]
    header = ("tool", "ms of CPU", "beside the first", "least", "beside the first")
    print_table(f"A call of a tool over MCP, medians of {options.rounds} rounds", header, shown)
    sizes = [
        [row.name, f"{row.sizes[0]:,}", f"{row.sizes[1]:,}", f"x{row.sizes[1] / row.sizes[0]:.2f}"] for row in table
    ]
    print_table("Characters of the answer", ("tool", "text", "structured", "beside the text"), sizes)


if __name__ == "__main__":
    main()
