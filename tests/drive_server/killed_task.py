"""A process that begins a task and gets stuck in it, to be killed. Its lease is over at once, as after a minute."""

from __future__ import annotations

import sys
from datetime import timedelta

import anyio

from drive_server.connect import in_process_session, open_drive
from drive_server.kernel.settings import DriveSettings
from drive_server.services.files import copying
from tests.drive_server.gates import Gate
from tests.drive_server.tasking import begin

HALF_WAY = "half-way"
DONE = "done"


async def main(key: str, place: str) -> None:
    """Copy `/Many` as a task with the API key; print the task's id when it stands still."""
    gate = Gate()
    async with open_drive(DriveSettings()) as drive:
        drive.tasks.lease = timedelta(0)
        if place == HALF_WAY:
            copying._insert = gate.after(copying._insert)  # pyright: ignore[reportPrivateUsage] - nothing else is half-way
        else:
            drive.journal.change = gate.after(drive.journal.change)
        principal = await drive.identity.authenticate(key)
        async with in_process_session(drive, principal) as session:
            task = await begin(session, "copy_item", {"item_id": "/Many", "folder_id": "root", "name": "Copy"})
            await gate.reached.wait()
            print(task.taskId, flush=True)  # noqa: T201 - for the test that started it
            await anyio.sleep_forever()


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2])
