"""`python -m tests.snapshots` writes the recorded requests anew. Read the difference before it is committed."""

import asyncio
import tempfile
from pathlib import Path

from tests.snapshots.conversations import CONVERSATIONS, WITH_SERVERS
from tests.snapshots.recording import REQUESTS, TOOLS, record, written, written_tools


async def _write() -> None:
    everything = []
    REQUESTS.mkdir(exist_ok=True)
    for name, turns in CONVERSATIONS.items():
        with tempfile.TemporaryDirectory() as directory:
            requests, given = await record(turns, Path(directory), with_servers=name in WITH_SERVERS)
        (REQUESTS / f"{name}.txt").write_text(written(requests, given), encoding="utf-8")
        everything += requests
    (REQUESTS / f"{TOOLS}.txt").write_text(written_tools(everything), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(_write())
