from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import (
    EtagMismatchError,
    ForbiddenError,
    InvalidInputError,
    MissingScopeError,
    NotFoundError,
    StateConflictError,
)
from drive_server.models.access import Link
from drive_server.services.sharing.links import ANYONE, LinkTerms
from drive_server.storage.tables.journal import ChangeRow
from drive_server.storage.tables.sharing import LinkRow
from tests.drive_server.actors import rehearsing, with_scopes

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.models.items import Item

PASSWORD = "correct horse"
BOB = "bob@example.com"


async def links_of(drive: Drive, actor: Actor, ref: str) -> list[Link]:
    page = await drive.links.list_access(actor, ref)
    return [entry for entry in page.items if isinstance(entry, Link)]


async def make(drive: Drive, actor: Actor, ref: str, **terms: object) -> Link:
    return (await drive.links.create(actor, ref, LinkTerms(**terms))).value  # pyright: ignore[reportArgumentType] - terms as each test names them


async def test_a_link_is_for_viewers_unless_its_terms_say_otherwise(drive: Drive, alice: Actor, plan: Item) -> None:
    link = await make(drive, alice, plan.id)
    assert (link.role, link.has_password, link.expires_at, link.max_downloads) == ("viewer", False, None, None)
    assert (await make(drive, alice, plan.id, role="editor")).role == "editor"


async def test_the_address_is_derived_and_kept_nowhere(drive: Drive, alice: Actor, plan: Item) -> None:
    link = await make(drive, alice, plan.id, password=PASSWORD)
    assert link.url is not None
    token = link.url.rpartition("/")[2]
    async with drive.database.read() as session:
        changes = (await session.scalars(select(ChangeRow))).all()
        kept = json.dumps([[change.entries, change.result, change.summary] for change in changes])
    assert token not in kept
    assert PASSWORD not in kept
    assert [shown.url for shown in await links_of(drive, alice, plan.id)] == [link.url]


async def test_only_the_owner_makes_changes_and_ends_links(drive: Drive, alice: Actor, bob: Actor, plan: Item) -> None:
    link = await make(drive, alice, plan.id)
    with pytest.raises(NotFoundError):
        await make(drive, bob, plan.id)
    await drive.sharing.share(alice, plan.id, BOB, "editor")
    for call in (
        drive.links.create(bob, plan.id, LinkTerms()),
        drive.links.update(bob, plan.id, link.id, LinkTerms(role="editor")),
        drive.links.revoke(bob, plan.id, link.id),
    ):
        with pytest.raises(ForbiddenError):
            await call
    for call in (
        drive.links.create(with_scopes(alice, Scope.READ, Scope.WRITE), plan.id, LinkTerms()),
        drive.links.revoke(with_scopes(alice, Scope.READ, Scope.WRITE), plan.id, link.id),
    ):
        with pytest.raises(MissingScopeError):
            await call
    assert [shown.url for shown in await links_of(drive, bob, plan.id)] == [None]


async def test_the_root_and_the_trash_get_no_links(drive: Drive, alice: Actor, plan: Item) -> None:
    with pytest.raises(InvalidInputError, match="root folder"):
        await make(drive, alice, "root")
    await drive.files.trash(alice, plan.id)
    with pytest.raises(StateConflictError):
        await make(drive, alice, plan.id)


@pytest.mark.parametrize(
    "terms",
    [
        {"role": "owner"},
        {"expires_in_hours": 0},
        {"expires_in_hours": 10**9},
        {"max_downloads": 0},
        {"max_downloads": -1},
        {"password": "short"},
        {"password": "x" * 129},
        {"password": "correct \ud800 horse"},
        {"password": PASSWORD, "remove": frozenset({"password"})},
        {"remove": frozenset({"role"})},
    ],
)
async def test_terms_that_no_link_can_have_are_refused(
    drive: Drive, alice: Actor, plan: Item, terms: dict[str, object]
) -> None:
    with pytest.raises(InvalidInputError):
        await make(drive, alice, plan.id, **terms)
    assert await links_of(drive, alice, plan.id) == []


async def test_terms_are_set_and_removed_one_by_one(drive: Drive, alice: Actor, plan: Item) -> None:
    link = await make(drive, alice, plan.id, expires_in_hours=1, password=PASSWORD, max_downloads=5)

    async def changed(terms: LinkTerms) -> Link:
        return (await drive.links.update(alice, plan.id, link.id, terms)).value

    without = await changed(LinkTerms(remove=frozenset({"expiry"})))
    assert (without.expires_at, without.has_password, without.max_downloads) == (None, True, 5)
    more = await changed(LinkTerms(role="editor", max_downloads=6))
    assert (more.role, more.has_password, more.max_downloads) == ("editor", True, 6)
    with pytest.raises(InvalidInputError, match="nothing to change"):
        await changed(LinkTerms())


@pytest.mark.parametrize(
    ("terms", "gains"),
    [
        (LinkTerms(role="editor"), True),
        (LinkTerms(role="viewer"), False),
        (LinkTerms(expires_in_hours=1), False),
        (LinkTerms(expires_in_hours=100), True),
        (LinkTerms(remove=frozenset({"expiry"})), True),
        (LinkTerms(max_downloads=1), False),
        (LinkTerms(max_downloads=100), True),
        (LinkTerms(remove=frozenset({"password"})), True),
        (LinkTerms(password="another horse"), False),
    ],
)
async def test_the_effect_of_a_change_says_whether_more_is_possible(
    drive: Drive, alice: Actor, plan: Item, terms: LinkTerms, gains: bool
) -> None:
    link = await make(drive, alice, plan.id, expires_in_hours=10, password=PASSWORD, max_downloads=10)
    outcome = await drive.links.update(rehearsing(alice), plan.id, link.id, terms)
    assert outcome.effect is not None
    assert outcome.effect.gains_access == ((ANYONE,) if gains else ())
    assert await links_of(drive, alice, plan.id) == [link]


async def test_a_link_to_a_folder_above_is_listed_and_ended_there(
    drive: Drive, alice: Actor, bob: Actor, reports: Item, plan: Item
) -> None:
    link = await make(drive, alice, reports.id)
    (seen,) = await links_of(drive, alice, plan.id)
    assert (seen.id, seen.item_id, seen.inherited_from) == (link.id, reports.id, "/Reports")
    with pytest.raises(StateConflictError) as caught:
        await drive.links.revoke(alice, plan.id, link.id)
    assert "/Reports" in caught.value.hint
    await drive.sharing.share(alice, plan.id, BOB, "editor")
    (hidden,) = await links_of(drive, bob, plan.id)
    assert (hidden.item_id, hidden.inherited_from) == (plan.id, "a folder above that is not shared with you")


async def test_an_unknown_link_and_one_of_another_item_are_the_same(
    drive: Drive, alice: Actor, bob: Actor, plan: Item
) -> None:
    others = (await drive.documents.create(bob, "root", "b.md", "x")).value
    foreign = await make(drive, bob, others.id)
    told: list[dict[str, object]] = []
    for link_id in (foreign.id, "0" * 32, "报告", "x" * 64):
        with pytest.raises(NotFoundError) as caught:
            await drive.links.revoke(alice, plan.id, link_id)
        told.append(caught.value.to_dict())
    assert all(error == told[0] for error in told)


async def test_the_etag_that_was_approved_holds_for_links(drive: Drive, alice: Actor, plan: Item) -> None:
    await drive.files.rename(alice, plan.id, "other.md")
    with pytest.raises(EtagMismatchError):
        await drive.links.create(replace(alice, if_match=plan.etag), plan.id, LinkTerms())


async def test_making_changing_and_ending_a_link_can_be_undone(drive: Drive, alice: Actor, plan: Item) -> None:
    made = await drive.links.create(alice, plan.id, LinkTerms(password=PASSWORD))
    changed = await drive.links.update(alice, plan.id, made.value.id, LinkTerms(remove=frozenset({"password"})))
    ended = await drive.links.revoke(alice, plan.id, made.value.id)

    await drive.undo.undo(alice, change_id=ended.change_id)
    (again,) = await links_of(drive, alice, plan.id)
    assert (again.url, again.has_password) == (made.value.url, False)
    await drive.undo.undo(alice, change_id=changed.change_id)
    assert [link.has_password for link in await links_of(drive, alice, plan.id)] == [True]
    await drive.undo.undo(alice, change_id=made.change_id)
    assert await links_of(drive, alice, plan.id) == []


async def test_what_is_kept_of_a_password_is_shown_to_nobody(
    drive: Drive, alice: Actor, bob: Actor, plan: Item
) -> None:
    await drive.sharing.share(alice, plan.id, BOB, "editor")
    link = await make(drive, alice, plan.id, password=PASSWORD)
    await drive.links.update(alice, plan.id, link.id, LinkTerms(password="another horse"))
    await drive.links.revoke(alice, plan.id, link.id)

    for reader in (alice, bob):
        changes = (await drive.journal.list_changes(reader, item=plan.id)).items
        assert len([change for change in changes if "link" in change.action]) == 3
        assert "scrypt" not in repr(changes)
    assert "scrypt" not in repr(await drive.journal.list_changes(alice))


async def test_links_go_with_an_item_that_is_deleted_for_good(drive: Drive, alice: Actor, plan: Item) -> None:
    await make(drive, alice, plan.id)
    await drive.files.trash(alice, plan.id)
    await drive.files.delete_for_good(alice, plan.id)
    async with drive.database.read() as session:
        assert (await session.scalars(select(LinkRow))).all() == []
