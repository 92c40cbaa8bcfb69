"""How long a ping takes while the slowest tools run: `python -m benchmarks.ping_under_load`.

Over HTTP the pings come from another session than the calls, and from another process; over stdio there is one
session, and both are in it. The aim is a 95th percentile under 50 ms.
"""

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest

from benchmarks.fixtures.table import print_table
from drive_server.connect import open_drive
from drive_server.kernel.access import ALL_SCOPES, Actor
from drive_server.kernel.settings import DriveSettings

SERVER = [sys.executable, "-m", "drive_server"]
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
BETWEEN_SECONDS = 0.01
LINE = "A line of about forty characters, {number}.\n"
NOTHING = "nothing"

Arguments = dict[str, Any]


def calls() -> dict[str, Arguments]:
    """Return the slow calls, by what they are called here."""
    return {
        "read_file 9 MB": {"file_id": "/large.txt", "first_line": 150_000, "last_line": 150_100},
        "read_file pdf of 2,000 pages": {"file_id": "/large.pdf"},
        "patch_file 9 MB": {
            "file_id": "/large.txt",
            "edits": [{"find": "characters, 9.", "replace": "characters, 9."}],
        },
        "diff_versions 4 MB": {"file_id": "/changed.txt", "from_version": 1, "to_version": 2},
        "list_folder 5,000": {"folder_id": "/many", "limit": 1000},
        "get_folder_tree 5,000": {"depth": 5},
        "search_files": {"query": "file 1"},
        "undo_changes preview": {"run_id": "many", "preview": True},
        "list_changes": {"limit": 200},
    }


def pdf(pages: int) -> bytes:
    """Return a PDF with a line of text on each page."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>", ""]
    for number in range(pages):
        text = f"BT /F 12 Tf 50 700 Td (Page {number} of a long document) Tj ET"
        objects.append(f"<</Type/Page/Parent 2 0 R/Contents {2 * number + 4} 0 R/Resources<</Font<</F 1 0 R>>>>>>")
        objects.append(f"<</Length {len(text)}>>stream\n{text}\nendstream")
    kids = " ".join(f"{2 * number + 3} 0 R" for number in range(pages))
    objects[1] = f"<</Type/Pages/Count {pages}/Kids[{kids}]/MediaBox[0 0 612 792]>>"
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj{content}endobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{len(body)}\n%%EOF"
    return body + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()


async def fill(settings: DriveSettings, files: int) -> None:
    """Put a large text, a large PDF, a changed text and many files into the drive."""
    async with open_drive(settings) as drive:
        user, _ = await drive.identity.ensure_local_user()
        actor = Actor(await drive.identity.principal_for(user.id, ALL_SCOPES), run_id="many")
        large = "".join(LINE.format(number=number) for number in range(200_000))
        await drive.documents.create(actor, "root", "large.txt", large)
        await drive.documents.create(actor, "root", "large.pdf", pdf(2000))
        half = large[: len(large) // 2]
        changed = (await drive.documents.create(actor, "root", "changed.txt", half)).value
        await drive.documents.write_text(actor, changed.id, half.replace("7", "seven"))
        many = (await drive.files.create_folder(actor, "root", "many")).value
        for number in range(files):
            await drive.documents.create(actor, many.id, f"file {number}.txt", f"This is file {number}.")


def environment(settings: DriveSettings) -> dict[str, str]:
    """Return what the server is started with: no limits that this would meet."""
    token = settings.token_path.read_text(encoding="utf-8").strip()
    limits = {"DRIVE_CALLS_PER_MINUTE": "1000000", "DRIVE_CONCURRENT_CALLS": "1000"}
    drive = {"DRIVE_DATA_DIR": str(settings.root), "DRIVE_EMBEDDING_MODEL": "none", "DRIVE_API_KEY": token}
    return {**os.environ, **limits, **drive}


@asynccontextmanager
async def over_http(url: str, token: str) -> AsyncGenerator[ClientSession]:
    """Open a session over HTTP."""
    async with (
        httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=120) as client,
        streamable_http_client(url + "/mcp", http_client=client) as (reading, writing, _),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        yield session


async def call_again_and_again(session: ClientSession, name: str, stop: asyncio.Event) -> None:
    """Make a slow call, one after the other; its answer is not validated, which over stdio would hold up the pings."""
    params = CallToolRequestParams(name=name.split()[0], arguments=calls()[name])
    request = ClientRequest(CallToolRequest(params=params))
    while not stop.is_set():
        result = await session.send_request(request, CallToolResult)
        if result.isError:
            raise SystemExit(f"{name}: {result.content}")


async def pings(session: ClientSession, seconds: float) -> list[float]:
    """Return how long each ping took, in milliseconds."""
    taken: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        begun = time.perf_counter()
        await session.send_ping()
        taken.append((time.perf_counter() - begun) * 1000)
        await asyncio.sleep(BETWEEN_SECONDS)
    return sorted(taken)


def row(transport: str, name: str, taken: list[float]) -> list[str]:
    """Return a row of the table."""
    return [f"{transport}: {name}", f"{taken[len(taken) // 2]:.1f}", f"{taken[len(taken) * 95 // 100]:.1f}"]


async def measure_http(settings: DriveSettings, seconds: float) -> list[list[str]]:
    """Return the rows over HTTP."""
    command = [*SERVER, "http", "--port", "0"]
    server = await asyncio.create_subprocess_exec(*command, env=environment(settings), stderr=subprocess.PIPE)
    token = settings.token_path.read_text(encoding="utf-8").strip()
    try:
        url = await address_of(server)
        async with over_http(url, token) as session:
            return [await row_over_http(session, name, seconds, url, token) for name in [NOTHING, *calls()]]
    finally:
        server.terminate()
        await server.wait()


async def address_of(server: asyncio.subprocess.Process) -> str:
    """Return where it serves, once it says so."""
    assert server.stderr is not None
    async for line in server.stderr:
        if found := ADDRESS.search(line.decode()):
            return found.group(0)
    raise SystemExit("the server did not start")


async def row_over_http(session: ClientSession, name: str, seconds: float, url: str, token: str) -> list[str]:
    """Return the row of one call, which another process makes."""
    if name == NOTHING:
        return row("http", name, await pings(session, seconds))
    command = [sys.executable, "-m", "benchmarks.ping_under_load", "--call", name, url, token]
    caller = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert caller.stdout is not None
    await caller.stdout.readline()
    taken = await pings(session, seconds)
    if caller.returncode is not None:
        raise SystemExit(f"{name} did not go on")
    caller.kill()
    await caller.wait()
    return row("http", name, taken)


async def measure_stdio(settings: DriveSettings, seconds: float) -> list[list[str]]:
    """Return the rows over stdio."""
    command = StdioServerParameters(command=SERVER[0], args=[*SERVER[1:], "stdio"], env=environment(settings))
    async with stdio_client(command) as streams, ClientSession(*streams) as session:
        await session.initialize()
        return [await row_over_stdio(session, name, seconds) for name in [NOTHING, *calls()]]


async def row_over_stdio(session: ClientSession, name: str, seconds: float) -> list[str]:
    """Return the row of one call."""
    stop = asyncio.Event()
    caller = asyncio.create_task(call_again_and_again(session, name, stop)) if name != NOTHING else None
    taken = await pings(session, seconds)
    if caller is not None:
        stop.set()
        await caller
    return row("stdio", name, taken)


async def run(seconds: float, files: int) -> list[list[str]]:
    """Return all rows."""
    with tempfile.TemporaryDirectory() as root:
        settings = DriveSettings(data_dir=Path(root), embedding_model="none")
        await fill(settings, files)
        return [*await measure_http(settings, seconds), *await measure_stdio(settings, seconds)]


async def be_caller(name: str, url: str, token: str) -> None:
    """Be the process that makes the slow calls."""
    async with over_http(url, token) as session:
        print("ready", flush=True)
        await call_again_and_again(session, name, asyncio.Event())


def main() -> None:
    """Measure each slow call over HTTP and stdio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5, help="how long to ping for each (default: %(default)s)")
    parser.add_argument("--files", type=int, default=5000, help="files in the drive (default: %(default)s)")
    parser.add_argument("--call", nargs=3, metavar=("NAME", "URL", "TOKEN"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.call:
        asyncio.run(be_caller(*chosen.call))
        return
    rows = asyncio.run(run(chosen.seconds, chosen.files))
    print_table("A ping while a slow call goes on", ["while", "p50 ms", "p95 ms"], rows)


if __name__ == "__main__":
    main()
