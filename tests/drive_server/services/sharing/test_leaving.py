"""A person leaves what others shared with them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import (
    ForbiddenError,
    InvalidInputError,
    MissingScopeError,
    NotFoundError,
    StateConflictError,
)
from tests.drive_server.actors import rehearsing, with_scopes

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.models.items import Item

BOB, CAROL = "bob@example.com", "carol@example.com"


async def emails(drive: Drive, alice: Actor, item: Item) -> list[tuple[str, str]]:
    return [(share.email, share.role) for share in await drive.sharing.list_shares(alice, item.id)]


@pytest.mark.parametrize("role", ["viewer", "editor"])
async def test_the_own_share_ends_and_the_item_stays_whole(
    drive: Drive, alice: Actor, bob: Actor, reports: Item, plan: Item, role: str
) -> None:
    await drive.sharing.share(alice, reports.id, BOB, role)
    await drive.sharing.share(alice, reports.id, CAROL, "viewer")
    effect = (await drive.sharing.revoke(rehearsing(bob), reports.id, BOB)).effect
    assert effect is not None
    assert effect.summary == f"Leave 'Reports', which is shared with you as {role}; it stays with its owner."
    assert effect.loses_access == (BOB,)
    assert (await drive.sharing.revoke(bob, reports.id, f" {BOB.upper()}")).value.role == role
    with pytest.raises(NotFoundError):
        await drive.files.get(bob, plan.id)
    assert (await drive.sharing.shared_with_me(bob)).items == ()
    assert await emails(drive, alice, reports) == [(CAROL, "viewer")]
    (seen, *_) = (await drive.journal.list_changes(alice, item=reports.id)).items
    assert (seen.user_email, seen.summary) == (BOB, f"Left 'Reports', which was shared as {role}.")
    await drive.sharing.share(alice, reports.id, BOB, role)
    assert (await drive.files.get(bob, plan.id)).role == role


async def test_the_one_who_left_can_undo_it_and_do_it_again(
    drive: Drive, alice: Actor, bob: Actor, reports: Item
) -> None:
    await drive.sharing.share(alice, reports.id, BOB, "editor")
    left = await drive.sharing.revoke(bob, reports.id, BOB)
    assert (await drive.undo.undo(bob, change_id=left.change_id)).value.skipped == ()
    assert (await drive.files.get(bob, reports.id)).role == "editor"
    assert (await drive.undo.redo(bob, change_id=left.change_id)).value.skipped == ()
    assert await emails(drive, alice, reports) == []
    redo = (await drive.journal.list_changes(bob)).items[0]
    assert (await drive.undo.undo(bob, change_id=redo.id)).value.skipped == ()
    assert await emails(drive, alice, reports) == [(BOB, "editor")]


@pytest.mark.parametrize("decision", ["shared", "revoked"])
async def test_an_undo_does_not_pass_over_what_the_owner_decided_since(
    drive: Drive, alice: Actor, bob: Actor, reports: Item, decision: str
) -> None:
    await drive.sharing.share(alice, reports.id, BOB, "editor")
    left = await drive.sharing.revoke(bob, reports.id, BOB)
    await drive.sharing.share(alice, reports.id, BOB, "viewer")
    if decision == "revoked":
        await drive.sharing.revoke(alice, reports.id, BOB)
    before = await emails(drive, alice, reports)
    assert len((await drive.undo.undo(bob, change_id=left.change_id)).value.skipped) == 1
    assert await emails(drive, alice, reports) == before


async def test_access_from_a_folder_above_is_left_there(
    drive: Drive, alice: Actor, bob: Actor, reports: Item, plan: Item
) -> None:
    await drive.sharing.share(alice, reports.id, BOB, "viewer")
    with pytest.raises(StateConflictError) as caught:
        await drive.sharing.revoke(bob, plan.id, BOB)
    assert caught.value.hint == "Leave that folder: /Shared with me/Reports."
    assert caught.value.details["given_on"] == [{"id": reports.id, "path": "/Shared with me/Reports"}]


async def test_access_by_a_group_is_told_and_stays(
    drive: Drive, alice: Actor, bob: Actor, reports: Item, plan: Item
) -> None:
    admin = replace(alice, principal=replace(alice.principal, is_admin=True))
    await drive.groups.create(admin, "Team", [BOB])
    await drive.sharing.share(alice, reports.id, "group:Team", "editor")
    for ref in (reports.id, plan.id):
        with pytest.raises(StateConflictError) as caught:
            await drive.sharing.revoke(bob, ref, BOB)
        assert "Team" in caught.value.message
    await drive.sharing.share(alice, reports.id, BOB, "viewer")
    effect = (await drive.sharing.revoke(rehearsing(bob), reports.id, BOB)).effect
    assert effect is not None
    assert effect.loses_access == ()
    await drive.sharing.revoke(bob, reports.id, BOB)
    assert (await drive.files.get(bob, plan.id)).role == "editor"


async def test_nobody_leaves_what_is_theirs_or_what_they_do_not_see(
    drive: Drive, alice: Actor, bob: Actor, reports: Item
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        await drive.sharing.revoke(alice, reports.id, alice.principal.email)
    assert caught.value.message == "You own 'Reports'; nobody can leave what they own."
    with pytest.raises(NotFoundError):
        await drive.sharing.revoke(bob, reports.id, BOB)


async def test_an_editor_ends_no_share_but_their_own(drive: Drive, alice: Actor, bob: Actor, reports: Item) -> None:
    for email in (BOB, CAROL):
        await drive.sharing.share(alice, reports.id, email, "editor")
    with pytest.raises(ForbiddenError):
        await drive.sharing.revoke(bob, reports.id, CAROL)
    with pytest.raises(MissingScopeError):
        await drive.sharing.revoke(with_scopes(bob, Scope.READ, Scope.WRITE, Scope.DELETE), reports.id, BOB)
    assert len(await emails(drive, alice, reports)) == 2


async def test_a_repeat_with_the_same_key_leaves_once(drive: Drive, alice: Actor, bob: Actor, reports: Item) -> None:
    await drive.sharing.share(alice, reports.id, BOB, "viewer")
    keyed = replace(bob, idempotency_key="leave-1")
    first = await drive.sharing.revoke(keyed, reports.id, BOB)
    again = await drive.sharing.revoke(keyed, reports.id, BOB)
    assert (again.replayed, again.value) == (True, first.value)
