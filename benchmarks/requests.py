"""The processor time of single requests to the drive, beside a file server that only reads and writes files.

    python -m benchmarks.requests [--times 40] [--rounds 5]

Both run in processes of their own. Rounds of the one and of the other follow each other; the table has the medians of
the rounds, in milliseconds of CPU a request. The drive's are with all that it does behind: journal, versions, index.
"""

import argparse
import socket
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.fixtures.table import print_table
from benchmarks.fixtures.ways import free_port
from tests.drive_server.http.process import serving

SMALL: Final = 10_000
LARGE: Final = 200_000_000
LISTED: Final = 100
START_SECONDS: Final = 60
PIECE: Final = 1 << 20

Request = tuple[str, str, bytes, dict[str, str]]
"""Method, path, body, headers."""


@dataclass(frozen=True, slots=True)
class Target:
    """A server: its process, a connection, and the headers that let one in."""

    pid: int
    connection: HTTPConnection
    headers: dict[str, str]

    def cpu(self) -> float:
        """Return the seconds of CPU that all threads of the process used, also those that ended."""
        return time.clock_gettime((~self.pid << 3) | 2)  # clock_getcpuclockid(3), which Python does not offer

    def send(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> bytes:
        """Send a request, which has to work, and return the end of the answer."""
        self.connection.request(method, path, body or None, {**self.headers, **(headers or {})})
        answer = self.connection.getresponse()
        last = b""
        while piece := answer.read(PIECE):
            last = piece
        assert answer.status < 300, last
        return last


@dataclass(frozen=True, slots=True)
class Row:
    """An operation: the requests to the drive and to the file server, the n-th of each; how many of `times` to send."""

    name: str
    ours: Callable[[int], Request]
    theirs: Callable[[int], Request] | None
    share: float = 1.0


def content(number: int) -> bytes:
    return f"{number}\n".encode().ljust(SMALL, b"x")


def rows(times: int, basic: dict[str, str]) -> list[Row]:
    def get(path: str) -> Callable[[int], Request]:
        return lambda _: ("GET", path, b"", {})

    def plain(n: int) -> Request:
        return "PUT", f"/files/p{n}.bin", content(n), {}

    listed = {"Depth": "1"}
    return [
        Row("upload 10 kB", lambda n: ("POST", f"/api/drive/files?name=u{n}.bin", content(n), {}), plain),
        Row("upload 10 kB, WebDAV", lambda n: ("PUT", f"/dav/d{n}.bin", content(-n), basic), plain),
        Row("an item", get("/api/drive/items/%2Fsmall.bin"), get("/items/small.bin")),
        Row("list of 100", get("/api/drive/items/%2Fmany/children?limit=100"), get("/lists/many")),
        Row("PROPFIND of 100", lambda _: ("PROPFIND", "/dav/many/", b"", basic | listed), get("/lists/many"), 0.5),
        Row("download 10 kB", get("/api/drive/files/%2Fsmall.bin/content"), get("/files/small.bin")),
        Row("download 200 MB", get("/api/drive/files/%2Flarge.bin/content"), get("/files/large.bin"), 1 / times),
    ]


def measured(target: Target, requests: Sequence[Request]) -> float:
    """Return the milliseconds of CPU of a request."""
    before = target.cpu()
    for request in requests:
        target.send(*request)
    return (target.cpu() - before) / len(requests) * 1000


def run(drive: Target, plain: Target, basic: dict[str, str], times: int, rounds: int) -> list[list[str]]:
    numbers = count(1)
    table: list[list[str]] = []
    for row in rows(times, basic):
        here = max(1, int(times * row.share))
        ours: list[float] = []
        theirs: list[float] = []
        for number in range(rounds + 1):
            mine = measured(drive, [row.ours(next(numbers)) for _ in range(here)])
            other = measured(plain, [row.theirs(next(numbers)) for _ in range(here)]) if row.theirs else 0.0
            if number:  # the first one warms up
                ours.append(mine)
                theirs.append(other)
        low, high, beside = min(ours), median(ours), median(theirs)
        table.append([row.name, f"{high:.2f}", f"{low:.2f}", f"{beside:.2f}", f"{high / beside:.1f}"])
    return table


def fill(drive: Target, plain: Path) -> None:
    (plain / "many").mkdir()
    for number in range(LISTED):
        (plain / "many" / f"n{number}").mkdir()
    (plain / "small.bin").write_bytes(content(0))
    (plain / "large.bin").write_bytes(bytes(LARGE))
    drive.send("POST", "/api/drive/files?name=small.bin", content(0))
    drive.send("POST", "/api/drive/files?name=large.bin", bytes(LARGE))
    for number, parent in enumerate(["%2F", *["%2Fmany"] * LISTED]):
        name = f"n{number - 1}" if number else "many"
        parent_id = parent.replace("%2F", "/")
        body = f'{{"kind": "folder", "name": "{name}", "parent_id": "{parent_id}"}}'.encode()
        drive.send("POST", "/api/drive/items", body, {"Content-Type": "application/json"})


@contextmanager
def plain_files(folder: Path) -> Generator[Target]:
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.fixtures.services.plain_files", str(folder), str(port)]
    with subprocess.Popen(command) as process:
        try:
            for _ in range(START_SECONDS * 20):
                with suppress(OSError):
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                time.sleep(0.05)
            with closing(HTTPConnection("127.0.0.1", port, timeout=100)) as connection:
                yield Target(process.pid, connection, {})
        finally:
            process.terminate()


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as root:
        ours, theirs = Path(root) / "drive", Path(root) / "plain"
        theirs.mkdir()
        with serving(ours) as service, plain_files(theirs) as plain:
            basic = {"Authorization": f"Basic {b64encode(f'x:{service.token}'.encode()).decode()}"}
            with closing(HTTPConnection("127.0.0.1", service.port, timeout=100)) as connection:
                drive = Target(service.process.pid, connection, {"Authorization": f"Bearer {service.token}"})
                fill(drive, theirs)
                table = run(drive, plain, basic, options.times, options.rounds)
    header = ("operation", "drive, ms of CPU", "least", "only files", "times")
    print_table("Requests, medians", header, table)


if __name__ == "__main__":
    main()
