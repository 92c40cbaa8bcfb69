"""Any sequence of operations, and then the undo of them all, gives the first state back."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drive_server.kernel.errors import DriveError
from drive_server.services.documents.edits import Edit
from tests.drive_server.store import Store, in_run, open_store

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from drive_server.models.items import Item

NAMES = ("a", "b", "报告", "📄.md")
FRIENDS = ("ben@example.com", "eve@example.com")


@dataclass(frozen=True)
class Operation:
    """Numbers choose among what is there at the time, so that a sequence shrinks well."""

    verb: str
    first: int
    second: int
    name: str
    text: str


OPERATIONS = st.builds(
    Operation,
    verb=st.sampled_from(
        ["folder", "file", "rename", "move", "trash", "restore", "write", "patch", "version", "share", "revoke", "undo"]
    ),
    first=st.integers(0, 7),
    second=st.integers(0, 7),
    name=st.sampled_from(NAMES),
    text=st.sampled_from(["", "one", "two\n", "三\r\n"]),
)


async def perform(store: Store, actor: Actor, operation: Operation) -> None:
    """Do it; what the drive refuses is as good as not asked for."""
    live, trashed = await everything(store, actor)
    first, second = live[operation.first % len(live)].id, live[operation.second % len(live)].id
    friend = FRIENDS[operation.second % len(FRIENDS)]
    calls: dict[str, Any] = {
        "folder": lambda: store.files.create_folder(actor, first, operation.name),
        "file": lambda: store.documents.create(actor, first, operation.name, operation.text),
        "rename": lambda: store.files.rename(actor, first, operation.name),
        "move": lambda: store.files.move(actor, first, second),
        "trash": lambda: store.files.trash(actor, first),
        "restore": lambda: store.files.restore(
            actor, trashed[operation.first % len(trashed)].id if trashed else "none", to_parent=second
        ),
        "write": lambda: store.documents.write_text(actor, first, operation.text),
        "patch": lambda: store.documents.patch(actor, first, [Edit("o", operation.text)]),
        "version": lambda: store.documents.restore_version(actor, first, operation.second + 1),
        "share": lambda: store.sharing.share(actor, first, friend, ("viewer", "editor")[operation.first % 2]),
        "revoke": lambda: store.sharing.revoke(actor, first, friend),
        "undo": lambda: store.undo.undo(actor, change_id=operation.first * 3 + operation.second),
    }
    try:
        await calls[operation.verb]()
    except DriveError as error:
        assert error.code not in {"internal", "storage_failure"}, error  # noqa: PT017 - any other refusal is welcome


async def everything(store: Store, actor: Actor) -> tuple[list[Item], list[Item]]:
    live = [await store.files.get(actor, "root")]
    for item in live:
        if item.kind == "folder":
            live += (await store.files.list_folder(actor, item.id, limit=1000)).items
    return live, list((await store.files.list_trash(actor, limit=1000)).items)


async def state(store: Store, actor: Actor) -> dict[str, Any]:
    """Return all that a person can see: the tree, the contents, who has access."""
    live, _ = await everything(store, actor)
    return {
        item.id: (
            item.path,
            item.kind,
            item.media_type,
            await store.text(actor, item.id) if item.kind == "file" else None,
            sorted((share.email, share.role) for share in await store.sharing.list_shares(actor, item.id)),
        )
        for item in live
    }


async def check(before: list[Operation], run: list[Operation]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with open_store(Path(folder)) as store:
            ana = await store.person("ana@example.com")
            for operation in before:
                await perform(store, ana, operation)
            first = await state(store, ana)
            changed = len((await store.journal.list_changes(ana, limit=1000)).items)
            acting = in_run(ana, "run-1")
            for operation in run:
                await perform(store, acting, operation)
            last = await state(store, ana)
            if len((await store.journal.list_changes(ana, limit=1000)).items) == changed:
                return
            undone = await store.undo.undo(ana, run_id="run-1")
            assert undone.value.skipped == ()
            assert await state(store, ana) == first
            redone = await store.undo.undo(ana, change_id=undone.change_id)
            assert redone.value.skipped == ()
            assert await state(store, ana) == last


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(before=st.lists(OPERATIONS, max_size=8), run=st.lists(OPERATIONS, min_size=1, max_size=10))
def test_undoing_a_run_gives_the_first_state_back_and_redoing_it_the_last(
    before: list[Operation], run: list[Operation]
) -> None:
    anyio.run(check, before, run)
