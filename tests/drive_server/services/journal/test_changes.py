from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.errors import DriveError, ForbiddenError, InvalidInputError, NotFoundError
from drive_server.services.journal.changes import parse_moment
from drive_server.services.journal.service import Journal
from tests.drive_server.store import in_run

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from drive_server.models.base import Page
    from drive_server.models.changes import Change
    from tests.drive_server.store import Store

NOON = datetime(2026, 11, 5, 12, tzinfo=UTC)


@pytest.fixture
def hours(store: Store) -> list[int]:
    """Hours after noon; the last one is the time of all changes from now on."""
    hours = [0]
    store.journal = Journal(store.database, store.blobs, clock=lambda: NOON + timedelta(hours=hours[-1]))
    store.files._journal = store.journal  # pyright: ignore[reportPrivateUsage] - the same store, with another clock
    return hours


def told(page: Page[Change]) -> list[str]:
    return [change.summary for change in page.items]


def admin(actor: Actor) -> Actor:
    return replace(actor, principal=replace(actor.principal, is_admin=True))


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        (None, None, ["C", "B", "A"]),
        ("2026-11-05T13:00:00+00:00", None, ["C", "B"]),
        ("2026-11-05T14:00:00+01:00", None, ["C", "B"]),
        ("2026-11-05T13:00:00.000001", None, ["C"]),
        (None, "2026-11-05T13:00:00Z", ["A"]),
        ("2026-11-05", "2026-11-06", ["C", "B", "A"]),
        ("2026-11-06", None, []),
    ],
)
async def test_changes_are_found_from_a_time_on_and_before_a_time(
    store: Store, ana: Actor, hours: list[int], since: str | None, until: str | None, expected: list[str]
) -> None:
    for hour, name in enumerate("ABC"):
        hours.append(hour)
        await store.files.create_folder(ana, "/", name)
    found = await store.journal.list_changes(ana, since=since, until=until)
    assert [summary.split("'")[1] for summary in told(found)] == expected


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-13-01", "0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:00", "2026-11-05T" * 50, "\0"],
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parse_moment(text)


async def test_changes_are_found_by_tool_by_run_and_by_kind(store: Store, ana: Actor) -> None:
    store.journal.register("write", "edit")
    store.journal.register("trash", "trash")
    item = await store.file(ana, "/a.txt")
    await store.files.rename(replace(in_run(ana, "run-1"), tool="rename_item"), item.id, "b.txt")
    await store.documents.write_text(in_run(ana, "run-1"), item.id, "two")
    await store.files.trash(ana, item.id)
    assert [entry.action for entry in (await store.journal.list_changes(ana, tool="rename_item")).items] == ["rename"]
    assert [entry.action for entry in (await store.journal.list_changes(ana, kind="trash")).items] == ["trash"]
    both = await store.journal.list_changes(ana, run_id="run-1", kind="edit")
    assert [entry.action for entry in both.items] == ["write"]
    assert (await store.journal.list_changes(ana, tool="no_such_tool")).items == ()


async def test_each_change_tells_who_did_it_with_which_key_and_who_approved_it(store: Store, ana: Actor) -> None:
    keyed = replace(ana.principal, method="api_key", key_name="laptop")
    acting = replace(in_run(ana, "run-1"), principal=keyed, tool="create_folder", approved_by="boss@example.com")
    await store.files.create_folder(acting, "/", "A")
    change = (await store.journal.list_changes(ana)).items[0]
    assert (change.user_email, change.method, change.key_name) == ("ana@example.com", "api_key", "laptop")
    assert (change.run_id, change.tool, change.approved_by) == ("run-1", "create_folder", "boss@example.com")


async def test_an_owner_finds_what_another_person_did_in_their_folders_and_nothing_else(
    store: Store, ana: Actor, ben: Actor
) -> None:
    shared = await store.folder(ana, "/Shared")
    await store.sharing.share(ana, shared.id, "ben@example.com", "editor")
    await store.folder(ben, "/Ben's own")
    acting = replace(ben, principal=replace(ben.principal, key_name="ben's laptop"))
    await store.files.create_folder(acting, shared.id, "By Ben")
    found = await store.journal.list_changes(ana, by="BEN@example.com")
    assert told(found) == ["Created the folder 'By Ben' in 'Shared'."]
    assert (found.items[0].user_email, found.items[0].key_name) == ("ben@example.com", None)
    assert told(await store.journal.list_changes(ben, by="ana@example.com")) == []
    assert len((await store.journal.list_changes(ana, by="ana@example.com")).items) == 2
    of_item = await store.journal.list_changes(ana, item=shared.id, by="ben@example.com")
    assert told(of_item) == []


async def test_a_viewer_finds_nothing_that_others_did_whoever_they_ask_for(
    store: Store, ana: Actor, ben: Actor
) -> None:
    item = await store.file(ana, "/a.txt")
    await store.sharing.share(ana, item.id, "ben@example.com", "viewer")
    assert (await store.journal.list_changes(ben, item=item.id, by="ana@example.com")).items == ()
    assert (await store.journal.list_changes(ben, by="ana@example.com")).items == ()


async def test_an_owner_is_told_of_their_own_item_only_where_a_change_was_about_others_too(
    store: Store, ana: Actor, ben: Actor
) -> None:
    shared = await store.folder(ana, "/Shared")
    await store.sharing.share(ana, shared.id, "ben@example.com", "editor")
    secret = await store.file(ben, "/ben's secret.txt")
    acting = in_run(ben, "run-1")
    await store.files.copy(acting, secret.id, shared.id, "harmless.txt")
    await store.files.rename(acting, secret.id, "another secret.txt")
    await store.undo.undo(ben, run_id="run-1")
    found = await store.journal.list_changes(ana, by="ben@example.com")
    assert told(found) == ["Took back changes of 'harmless.txt'.", "Made the copy 'harmless.txt'."]
    assert all("secret" not in repr(change) for change in found.items)


async def test_what_somebody_did_to_an_item_that_is_deleted_for_good_is_still_told_to_themselves(
    store: Store, ana: Actor
) -> None:
    item = await store.file(ana, "/a.txt")
    await store.files.trash(ana, item.id)
    await store.files.delete_for_good(ana, item.id)
    assert [change.action for change in (await store.journal.list_changes(ana)).items] == [
        "delete_for_good",
        "trash",
        "create_file",
    ]
    with pytest.raises(NotFoundError):
        await store.journal.list_changes(ana, item=item.id)
    of_item = await store.journal.list_changes(admin(ana), item=item.id, everybodys=True)
    assert len(of_item.items) == 3


async def test_administrators_find_everybodys_changes_and_others_do_not(store: Store, ana: Actor, ben: Actor) -> None:
    await store.folder(ben, "/Ben's")
    await store.folder(ana, "/Ana's")
    everything = await store.journal.list_changes(admin(ana), everybodys=True)
    assert [change.user_email for change in everything.items] == ["ana@example.com", "ben@example.com"]
    bens = await store.journal.list_changes(admin(ana), everybodys=True, by="ben@example.com")
    assert told(bens) == ["Created the folder 'Ben's' in the root folder."]
    assert len((await store.journal.list_changes(admin(ana))).items) == 1
    with pytest.raises(ForbiddenError):
        await store.journal.list_changes(ana, everybodys=True)


async def test_pages_are_complete_while_others_write_and_a_cursor_is_for_its_own_question(
    store: Store, ana: Actor, ben: Actor
) -> None:
    for number in range(5):
        await store.folder(ana, f"/{number}")
    first = await store.journal.list_changes(ana, limit=2)
    await store.folder(ana, "/late")
    second = await store.journal.list_changes(ana, limit=2, cursor=first.cursor)
    third = await store.journal.list_changes(ana, limit=2, cursor=second.cursor)
    numbers = [summary.split("'")[1] for page in (first, second, third) for summary in told(page)]
    assert (numbers, third.cursor) == (["4", "3", "2", "1", "0"], None)
    for actor, kind, cursor in ((ben, None, first.cursor), (ana, "edit", first.cursor), (ana, None, "made up")):
        with pytest.raises(DriveError) as caught:
            await store.journal.list_changes(actor, kind=kind, cursor=cursor)  # pyright: ignore[reportArgumentType]
        assert caught.value.code == "invalid_cursor"


async def test_an_action_has_one_kind(store: Store) -> None:
    store.journal.register("fold", "edit")
    store.journal.register("fold", "edit")
    with pytest.raises(ValueError, match="the action fold is of the kind edit, not trash"):
        store.journal.register("fold", "trash")


async def test_an_editor_can_not_guess_the_runs_of_others(store: Store, ana: Actor, ben: Actor) -> None:
    item = await store.file(in_run(ana, "run-1"), "/a.txt")
    await store.sharing.share(ana, item.id, "ben@example.com", "editor")
    await store.documents.write_text(in_run(ben, "run-2"), item.id, "two")
    found = [await store.journal.list_changes(ben, item=item.id, run_id=run) for run in ("run-1", "run-2")]
    assert [len(page.items) for page in found] == [0, 1]
    assert len((await store.journal.list_changes(ana, item=item.id, run_id="run-2")).items) == 1
