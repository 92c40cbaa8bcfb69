from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import pytest
from sqlalchemy import func, select

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import (
    EtagMismatchError,
    IdempotencyConflictError,
    InvalidInputError,
    MissingScopeError,
    NameConflictError,
    NotFoundError,
)
from drive_server.services.documents.edits import Edit
from drive_server.storage.tables.items import VersionRow
from drive_server.storage.tables.journal import ChangeRow
from tests.drive_server.actors import rehearsing, with_scopes
from tests.drive_server.store import in_run, open_store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from drive_server.kernel.access import Actor
    from drive_server.models.changes import Outcome
    from tests.drive_server.store import Store


async def count(store: Store, table: Any = ChangeRow) -> int:
    async with store.database.read() as session:
        return await session.scalar(select(func.count()).select_from(table)) or 0


async def test_a_repeated_key_answers_what_was_recorded_and_does_nothing(store: Store, ana: Actor) -> None:
    keyed = in_run(ana, "run-1", "call-1")
    first = await store.files.create_folder(keyed, "/", "Reports")
    await store.files.rename(ana, first.value.id, "Later")
    again = await store.files.create_folder(keyed, "/", "Reports")
    assert again == replace(first, replayed=True)
    assert await store.names(ana) == ["Later"]


async def test_every_kind_of_change_answers_its_repeat(store: Store, ana: Actor) -> None:
    folder, item = await store.folder(ana, "/f"), await store.file(ana, "/a.txt", "one")
    calls: list[Callable[[Actor], Awaitable[Outcome[Any]]]] = [
        lambda actor: store.documents.write_text(actor, item.id, "two"),
        lambda actor: store.documents.patch(actor, item.id, [Edit("two", "three")]),
        lambda actor: store.documents.restore_version(actor, item.id, 1),
        lambda actor: store.files.move(actor, item.id, folder.id),
        lambda actor: store.sharing.share(actor, item.id, "ben@example.com", "viewer"),
        lambda actor: store.sharing.revoke(actor, item.id, "ben@example.com"),
        lambda actor: store.files.trash(actor, folder.id),
        lambda actor: store.files.restore(actor, folder.id),
        lambda actor: store.documents.create(actor, folder.id, "new.txt", "text"),
        store.undo.undo,
    ]
    for number, call in enumerate(calls):
        keyed = in_run(ana, f"run-{number}", f"call-{number}")
        first = await call(keyed)
        recorded = await count(store)
        again = await call(keyed)
        assert again == replace(first, replayed=True), number
        assert await count(store) == recorded


async def test_a_repeat_of_what_an_earlier_version_recorded_is_answered(store: Store, ana: Actor) -> None:
    keyed = in_run(ana, "r", "k")
    first = await store.files.create_folder(keyed, "/", "Reports")
    async with store.database.write() as session:
        (row,) = await session.scalars(select(ChangeRow))
        value = dict(row.result["value"])
        row.result = {**row.result, "value": {**value, "owner_email": value.pop("owner")}}
    assert await store.files.create_folder(keyed, "/", "Reports") == replace(first, replayed=True)


async def test_a_repeat_answers_also_when_the_place_is_gone(store: Store, ana: Actor) -> None:
    folder = await store.folder(ana, "/f")
    keyed = in_run(ana, "r", "k")
    first = await store.documents.create(keyed, folder.id, "a.txt", "x")
    await store.files.trash(ana, folder.id)
    assert (await store.documents.create(keyed, folder.id, "a.txt", "x")).value == first.value


async def test_a_call_that_changed_nothing_does_nothing_when_repeated(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt")
    keyed = in_run(ana, "r", "k")
    await store.files.rename(keyed, item.id, "a.txt")
    await store.files.rename(ana, item.id, "b.txt")
    assert (await store.files.rename(keyed, item.id, "a.txt")).replayed
    assert await store.names(ana) == ["b.txt"]


async def test_the_same_key_for_another_call_is_refused(store: Store, ana: Actor) -> None:
    keyed = in_run(ana, "run-1", "call-1")
    made = await store.files.create_folder(keyed, "/", "Reports")
    for attempt in (
        store.files.create_folder(keyed, "/", "Other"),
        store.files.rename(keyed, made.value.id, "Reports"),
        store.documents.create(keyed, "/", "Reports", "x"),
    ):
        with pytest.raises(IdempotencyConflictError):
            await attempt
    assert await store.names(ana) == ["Reports"]


async def test_keys_belong_to_their_user(store: Store, ana: Actor, ben: Actor) -> None:
    await store.files.create_folder(in_run(ana, "r", "k"), "/", "A")
    assert not (await store.files.create_folder(in_run(ben, "r", "k"), "/", "B")).replayed


async def test_a_failed_call_leaves_its_key_free(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/taken")
    keyed = in_run(ana, "r", "k")
    with pytest.raises(NameConflictError):
        await store.files.create_folder(keyed, "/", "taken")
    await store.files.rename(ana, "/taken", "free")
    assert not (await store.files.create_folder(keyed, "/", "taken")).replayed


async def test_two_writers_with_one_key_do_it_once_and_get_the_same_answer(store: Store, ana: Actor) -> None:
    keyed = in_run(ana, "run-1", "call-1")
    outcomes: list[Outcome[Any]] = []

    async def call() -> None:
        outcomes.append(await store.documents.create(keyed, "/", "a.txt", "text"))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(call)
    assert sorted(outcome.replayed for outcome in outcomes) == [False] + [True] * 7
    assert len({outcome.value.id for outcome in outcomes}) == 1
    assert await count(store) == 1


async def test_of_two_writers_with_one_etag_one_wins(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "start")
    results: list[str] = []

    async def write(text: str) -> None:
        try:
            await store.documents.write_text(ana, item.id, text, if_match=item.etag)
            results.append(text)
        except EtagMismatchError:
            results.append("refused")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write, "first")
        tasks.start_soon(write, "second")
    assert sorted(results) in (["first", "refused"], ["refused", "second"])
    assert await store.text(ana, item.id) == next(text for text in results if text != "refused")
    assert await count(store, VersionRow) == 2


async def test_of_two_that_create_one_name_one_wins(store: Store, ana: Actor) -> None:
    results: list[str] = []

    async def create(text: str) -> None:
        try:
            results.append((await store.documents.create(ana, "/", "a.txt", text)).value.name)
        except NameConflictError as error:
            results.append(error.code)

    async with anyio.create_task_group() as tasks:
        for text in ("one", "two", "three"):
            tasks.start_soon(create, text)
    assert sorted(results) == ["a.txt", "name_conflict", "name_conflict"]


async def test_two_processes_on_one_drive_do_a_call_once(store: Store, ana: Actor) -> None:
    keyed = in_run(ana, "run-1", "call-1")
    outcomes: list[Outcome[Any]] = []

    async def call(process: Store) -> None:
        outcomes.append(await process.documents.create(keyed, "/", "a.txt", "text"))

    async with open_store(store.folder_of_blobs.parent) as other, anyio.create_task_group() as tasks:
        for process in (store, other) * 4:
            tasks.start_soon(call, process)
    assert sorted(outcome.replayed for outcome in outcomes) == [False] + [True] * 7
    assert len({outcome.change_id for outcome in outcomes}) == 1


async def test_two_patches_of_one_file_at_once_both_hold(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one two three four")

    async def patch(find: str) -> None:
        await store.documents.patch(ana, item.id, [Edit(find, find.upper())])

    async with anyio.create_task_group() as tasks:
        for word in ("one", "two", "three", "four"):
            tasks.start_soon(patch, word)
    assert await store.text(ana, item.id) == "ONE TWO THREE FOUR"


async def test_a_dry_run_keeps_nothing(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one")
    blobs = sorted(store.folder_of_blobs.rglob("*"))
    wakes, changes = len(store.wakes), await count(store)
    trying = replace(rehearsing(ana), idempotency_key="k")
    for outcome in (
        await store.documents.create(trying, "/", "b.txt", "new"),
        await store.documents.write_text(trying, item.id, "changed"),
        await store.documents.patch(trying, item.id, [Edit("one", "two")]),
        await store.files.create_folder(trying, "/", "f"),
        await store.files.rename(trying, item.id, "c.txt"),
        await store.files.trash(trying, item.id),
        await store.sharing.share(trying, item.id, "ben@example.com", "viewer"),
        await store.undo.undo(trying),
    ):
        assert outcome.effect
        assert outcome.effect.summary
        assert outcome.change_id is None
    assert sorted(store.folder_of_blobs.rglob("*")) == blobs
    assert await store.files.get(ana, item.id) == item
    assert await store.names(ana) == ["a.txt"]
    assert (len(store.wakes), await count(store)) == (wakes, changes)


async def test_the_effect_of_new_content_is_a_diff(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/leave.md", "# Leave\n30 days\n")
    outcome = await store.documents.patch(rehearsing(ana), item.id, [Edit("30 days", "45 days")])
    assert outcome.effect
    assert outcome.effect.diff == "--- leave.md\n+++ leave.md\n@@ -1,2 +1,2 @@\n # Leave\n-30 days\n+45 days\n"
    assert (outcome.effect.summary, outcome.effect.etag) == ("Edit 1 place in 'leave.md'.", item.etag)


async def test_a_change_records_who_what_and_by_which_key(store: Store, ana: Actor) -> None:
    acting = replace(in_run(ana, "run-1", "call-1"), tool="rename_item", approved_by="boss@example.com")
    item = await store.file(ana, "/a.txt")
    outcome = await store.files.rename(acting, item.id, "b.txt")
    change = (await store.journal.list_changes(ana)).items[0]
    assert (change.id, change.user_email, change.tool) == (outcome.change_id, "ana@example.com", "rename_item")
    assert (change.run_id, change.approved_by, change.item_id) == ("run-1", "boss@example.com", item.id)
    assert (change.action, change.summary) == ("rename", "Renamed 'a.txt' to 'b.txt'.")
    entry = change.entries[0]
    assert (entry["table"], entry["id"]) == ("nodes", item.id)
    assert (entry["before"]["name"], entry["after"]["name"]) == ("a.txt", "b.txt")


async def test_changes_are_listed_by_run_and_in_pages(store: Store, ana: Actor, ben: Actor) -> None:
    for number in range(5):
        await store.files.create_folder(in_run(ana, f"run-{number % 2}"), "/", f"f{number}")
    await store.folder(ben, "/other")
    first = await store.journal.list_changes(ana, limit=3)
    second = await store.journal.list_changes(ana, limit=3, cursor=first.cursor)
    told = [change.summary.split("'")[1] for change in (*first.items, *second.items)]
    assert told == ["f4", "f3", "f2", "f1", "f0"]
    by_run = await store.journal.list_changes(ana, run_id="run-1")
    assert [change.run_id for change in by_run.items] == ["run-1"] * 2
    assert (await store.journal.list_changes(ben, run_id="run-1")).items == ()


async def test_changes_of_an_item_tell_an_editor_nothing_of_other_folders(store: Store, ana: Actor, ben: Actor) -> None:
    for path in ("/Secret", "/Team"):
        await store.folder(ana, path)
    item = await store.file(ana, "/Secret/plan.md")
    await store.files.move(in_run(ana, "run-1"), item.id, "/Team")
    await store.sharing.share(ana, "/Team", "ben@example.com", "editor")
    await store.documents.write_text(ben, item.id, "x")
    seen = (await store.journal.list_changes(ben, item=item.id)).items
    assert [(change.user_email, change.summary) for change in seen] == [
        ("ben@example.com", "Replaced the content of 'plan.md'."),
        ("ana@example.com", "Moved 'plan.md'."),
        ("ana@example.com", "Created 'plan.md'."),
    ]
    assert all(change.entries == () and change.run_id is None for change in seen[1:])
    assert (await store.journal.list_changes(ana, item=item.id)).items[1].summary == "Moved 'plan.md' to 'Team'."


async def test_a_viewer_sees_no_changes_of_others_and_a_stranger_no_item(store: Store, ana: Actor, ben: Actor) -> None:
    item = await store.file(ana, "/plan.md")
    with pytest.raises(NotFoundError):
        await store.journal.list_changes(ben, item=item.id)
    await store.sharing.share(ana, item.id, "ben@example.com", "viewer")
    assert (await store.journal.list_changes(ben, item=item.id)).items == ()


@pytest.mark.parametrize(
    "actor_change", [{"run_id": "x" * 65}, {"idempotency_key": "x" * 256}, {"tool": "\0"}, {"run_id": "\ud800"}]
)
async def test_a_call_with_unusable_marks_is_refused(store: Store, ana: Actor, actor_change: dict[str, str]) -> None:
    with pytest.raises(InvalidInputError):
        await store.files.create_folder(replace(ana, **actor_change), "/", "f")
    assert await store.names(ana) == []


async def test_listing_changes_needs_the_scope_read(store: Store, ana: Actor) -> None:
    with pytest.raises(MissingScopeError):
        await store.journal.list_changes(with_scopes(ana, Scope.WRITE))


async def test_the_index_is_woken_after_a_change_of_content_and_only_then(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/f")
    assert store.wakes == []
    item = await store.file(ana, "/a.txt", "x")
    await store.documents.write_text(ana, item.id, "y")
    assert len(store.wakes) == 2
    await store.documents.write_text(ana, item.id, "y")
    await store.files.move(ana, item.id, "/f")
    assert len(store.wakes) == 2
    await store.undo.undo(ana, change_id=(await store.journal.list_changes(ana, item=item.id)).items[1].id)
    assert len(store.wakes) == 3
