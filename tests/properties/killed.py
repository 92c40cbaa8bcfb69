"""`python -m tests.properties.killed DIRECTORY`: works in a store until it is killed, as often as asked to.

Each line on standard input starts a round: a fork of this process, which has imported everything, tells its process id,
works in three lanes at once beside an upload that never ends, and tells each call that was answered. `dead` follows
when it was killed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from drive_server.kernel.access import ALL_SCOPES, Actor, Principal
from drive_server.storage.blobs import CHUNK_BYTES
from tests.drive_server.store import Store, open_store
from tests.properties.lanes import Walker, steps_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from anyio.abc import TaskStatus

LANES = 3


def lane_folders(number: int) -> list[str]:
    """Return the names of the folders that a round works in."""
    return [f"round {number} lane {lane}" for lane in range(LANES)]


async def work(directory: Path, number: int, user_id: str, email: str) -> None:
    """Do all lanes at once, without an end."""
    actor = Actor(Principal(user_id, email, ALL_SCOPES, "in_process"), tool="test")
    async with open_store(directory) as store, anyio.create_task_group() as group:
        await group.start(_upload, store)
        for folder in lane_folders(number):
            group.start_soon(_walk, store, actor, folder)


async def _upload(store: Store, *, task_status: TaskStatus[None]) -> None:
    """Store a content whose first chunk is on the disk, and whose second one never comes."""

    async def chunks() -> AsyncIterator[bytes]:
        yield bytes(CHUNK_BYTES)
        task_status.started()
        await anyio.sleep_forever()

    await store.blobs.put_stream(chunks(), limit=2 * CHUNK_BYTES)


async def _walk(store: Store, actor: Actor, folder: str) -> None:
    walker = Walker(store, actor, folder)
    await walker.prepare()
    for step in steps_of(folder, folder):
        await walker.walk(step)
        tell(f"ack {step.number} {folder}")


def tell(line: str) -> None:
    """Write a line at once: what is in a buffer dies with the process."""
    os.write(1, f"{line}\n".encode())


def main() -> None:
    directory, user_id, email = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            tell(f"pid {os.getpid()}")
            anyio.run(work, directory, int(line), user_id, email)
            os._exit(1)
        os.waitpid(child, 0)
        tell("dead")


if __name__ == "__main__":
    main()
