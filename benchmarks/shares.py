"""The time of operations of a person who is in no group and in many, on a drive with shares.

    python -m benchmarks.shares [--items 1000] [--shares 200] [--groups 20] [--rounds 30]

One person shares folders with the caller, half of them directly. In the second column the caller is in so many groups
as well, with which the other half is shared. Each operation runs as its route or tool runs it; times are medians of
the processor's, which other programs on the machine change little.
"""

import argparse
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from sqlalchemy import insert

from benchmarks.fixtures.table import milliseconds, print_table
from drive_server.connect import ALL_SCOPES, Actor, Drive, DriveSettings, open_drive
from drive_server.kernel.clock import utc_now
from drive_server.services.search.names import match_names
from drive_server.services.tree.grantees import GROUP
from drive_server.services.tree.nodes import locate, visible_ids
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.sharing import ShareRow

HEADER = ("operation", "CPU ms, no group", "CPU ms, in groups")
CALLER = "ana@example.com"
Operation = Callable[[], Awaitable[object]]


async def fill(drive: Drive, items: int, shares: int, groups: int) -> tuple[Actor, Actor, list[str]]:
    """Give the caller a drive of so many files, and folders that others share; return administrator and caller."""
    owner, _ = await drive.identity.ensure_local_user()
    principal = await drive.identity.principal_for(owner.id, ALL_SCOPES)
    admin = Actor(replace(principal, is_admin=True))
    user, _ = await drive.identity.create_user(admin, CALLER)
    ids = [(await drive.groups.create(admin, f"Group {number}")).id for number in range(groups)]
    folders = [_node(owner.id, owner.root_id, f"Folder {number}", "folder") for number in range(shares)]
    files = [_node(user.id, user.root_id, f"invoice {number}.txt", "file") for number in range(items)]
    inside = [_node(owner.id, folders[n % shares]["id"], f"report {n}.txt", "file") for n in range(items)]
    grantees = [CALLER if n % 2 or not ids else GROUP + ids[n // 2 % groups] for n in range(shares)]
    given = [
        {"node_id": folder["id"], "email": email, "role": 1, "created_by": owner.id, "created_at": utc_now()}
        for folder, email in zip(folders, grantees, strict=True)
    ]
    async with drive.database.write() as session:
        await session.execute(insert(NodeRow), [*folders, *files, *inside])
        await session.execute(insert(ShareRow), given)
    caller = Actor(await drive.identity.principal_for(user.id, ALL_SCOPES))
    return admin, caller, [str(folders[1]["id"]), str(inside[1]["id"])]


def _node(owner_id: str, parent_id: Any, name: str, kind: str) -> dict[str, Any]:
    now = utc_now()
    place = {"id": new_id(), "owner_id": owner_id, "parent_id": parent_id, "name": name, "kind": kind}
    return {**place, "created_at": now, "updated_at": now}


def operations(drive: Drive, actor: Actor, folder: str, file: str) -> dict[str, Operation]:
    """Return what is measured, by its name."""

    async def find() -> object:
        async with drive.database.read() as session:
            return await match_names(session, visible_ids(actor.principal), "report 42")

    async def look(ref: str) -> object:
        async with drive.database.read() as session:
            return await locate(session, actor.principal, ref)

    return {
        "one file of one's own folder": partial(look, "/invoice 1.txt"),
        "one shared file": partial(look, file),
        "list one's own folder": partial(drive.files.list_folder, actor, "root"),
        "list a shared folder": partial(drive.files.list_folder, actor, folder),
        "shared with me, 100": partial(drive.sharing.shared_with_me, actor, 100),
        "find by name": find,
    }


async def measure(operation: Operation, rounds: int) -> list[float]:
    """Return the seconds of CPU that each round takes."""
    await operation()
    taken: list[float] = []
    for _ in range(rounds):
        begun = time.process_time()
        await operation()
        taken.append(time.process_time() - begun)
    return taken


async def run(items: int, shares: int, groups: int, rounds: int) -> list[Sequence[str]]:
    """Return the rows of the table."""
    with tempfile.TemporaryDirectory() as root:
        async with open_drive(DriveSettings(data_dir=Path(root), embedding_model="none")) as drive:
            admin, caller, ids = await fill(drive, items, shares, groups)
            named = operations(drive, caller, *ids)
            alone = {name: await measure(operation, rounds) for name, operation in named.items()}
            for number in range(groups):
                await drive.groups.change(admin, f"Group {number}", add=[CALLER])
            together = {name: await measure(operation, rounds) for name, operation in named.items()}
    return [(name, milliseconds(alone[name]), milliseconds(together[name])) for name in named]


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in (("items", 1000), ("shares", 200), ("groups", 20), ("rounds", 30)):
        parser.add_argument(f"--{name}", type=int, default=number, help="default: %(default)s")
    rows = anyio.run(partial(run, **vars(parser.parse_args())))
    print_table("Operations of a person in no group and in many", HEADER, rows)


if __name__ == "__main__":
    main()
