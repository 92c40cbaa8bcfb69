"""A store in a process of its own that does what it is told, a JSON line each: so that it can be failed from outside.

Commands: ["write", name, text], ["read"], ["fill", bytes left], ["free"], ["reopen"], ["watch"], ["fail", calls,
every], ["seen"]; the last three are of system calls that put something on the disk.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from sqlalchemy import select

from drive_server.kernel.access import ALL_SCOPES, Actor, Principal
from drive_server.kernel.errors import DriveError
from drive_server.storage.tables.people import UserRow
from tests.drive_server.storage.system_calls import SystemCalls
from tests.drive_server.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import Sequence

EMAIL = "ana@example.com"
BLOCK = 4096


@dataclass
class Told:
    """One store, opened, and who acts in it."""

    folder: Path
    store: Store
    ana: Actor
    calls: SystemCalls = field(default_factory=SystemCalls)

    async def write(self, name: str, text: str) -> str:
        """Make or replace a file; return `ok`, or the code of the error."""
        try:
            blob = await self.store.blobs.put_bytes(text.encode())
            await self.store.documents.create_from_blob(self.ana, "/", name, blob, "text/plain", "replace")
        except DriveError as error:
            return error.code
        return "ok"

    async def read(self) -> dict[str, str]:
        """Return what is in all files, by their names."""
        items = (await self.store.files.list_folder(self.ana, "/", limit=1000)).items
        return {item.name: await self.store.text(self.ana, item.id) for item in items}

    async def fill(self, left: int) -> str:
        """Take what room the disk has, but for some bytes."""
        status = os.statvfs(self.folder)
        size = (status.f_bavail * status.f_frsize - left) // BLOCK * BLOCK
        with (self.folder / "ballast").open("ab") as file:
            file.write(bytes(max(size, 0)))
        return "ok"

    async def free(self) -> str:
        """Give the room back."""
        (self.folder / "ballast").unlink()
        return "ok"

    async def watch(self) -> str:
        """See what is asked of the system from now on; return `ok`, or why this system does not let it."""
        try:
            self.calls.watch()
        except (OSError, KeyError, AttributeError) as error:
            return f"{type(error).__name__}: {error}"
        return "ok"

    async def fail(self, calls: list[str], every: int) -> str:
        """Have these system calls fail from now on, each or each of a number."""
        self.calls.failing, self.calls.every = frozenset(calls), every
        return "ok"

    async def seen(self) -> list[tuple[str, str]]:
        """Return the system calls so far."""
        return self.calls.seen


async def serve(folder: Path) -> None:
    """Do what the lines on standard input say, and answer each with one."""
    if not await do_until_reopened(folder):
        return
    await serve(folder)


async def do_until_reopened(folder: Path) -> bool:
    async with open_store(folder / "store") as store:
        told = Told(folder, store, await person(store))
        answer("ready")
        while line := await anyio.to_thread.run_sync(sys.stdin.readline):
            command, *arguments = json.loads(line)
            if command == "reopen":
                return True
            answer(await getattr(told, command)(*arguments))
    return False


async def person(store: Store) -> Actor:
    async with store.database.read() as session:
        user_id = await session.scalar(select(UserRow.id).where(UserRow.email == EMAIL))
    return Actor(Principal(user_id, EMAIL, ALL_SCOPES, "in_process")) if user_id else await store.person(EMAIL)


def answer(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def main(arguments: Sequence[str]) -> None:
    anyio.run(serve, Path(arguments[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
