from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import (
    EtagMismatchError,
    ForbiddenError,
    IdempotencyConflictError,
    InvalidInputError,
    MissingScopeError,
    NotFoundError,
    StateConflictError,
)
from drive_server.kernel.messages import render
from tests.drive_server.actors import new_person, rehearsing, with_scopes

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.models.access import Share
    from drive_server.models.items import Item

BOB = "bob@example.com"


async def grants(drive: Drive, actor: Actor, ref: str) -> list[tuple[str, str, str | None]]:
    shares = await drive.sharing.list_shares(actor, ref)
    return [(share.email, share.role, share.inherited_from) for share in shares]


async def test_a_viewer_sees_the_item_and_can_not_change_it(drive: Drive, alice: Actor, bob: Actor, plan: Item) -> None:
    with pytest.raises(NotFoundError):
        await drive.files.get(bob, plan.id)
    outcome = await drive.sharing.share(alice, plan.id, " Bob@Example.com", "viewer")
    assert (outcome.value.email, outcome.value.role, outcome.value.created_by) == (BOB, "viewer", "alice@example.com")
    seen = await drive.files.get(bob, plan.id)
    assert (seen.role, seen.path, seen.owner) == ("viewer", "/Shared with me/plan.md", "alice@example.com")
    with pytest.raises(ForbiddenError):
        await drive.files.rename(bob, plan.id, "mine.md")


async def test_a_role_on_a_folder_holds_below_it_at_once(
    drive: Drive, alice: Actor, bob: Actor, reports: Item, plan: Item
) -> None:
    await drive.sharing.share(alice, reports.id, BOB, "editor")
    assert (await drive.files.get(bob, plan.id)).role == "editor"
    await drive.sharing.revoke(alice, reports.id, BOB)
    with pytest.raises(NotFoundError):
        await drive.files.get(bob, plan.id)


async def test_sharing_again_changes_the_role(drive: Drive, alice: Actor, bob: Actor, plan: Item) -> None:
    first = await drive.sharing.share(alice, plan.id, BOB, "viewer")
    second = await drive.sharing.share(alice, plan.id, BOB, "editor")
    assert second.value == replace(first.value, role="editor", has_account=None)
    assert (await drive.files.get(bob, plan.id)).role == "editor"
    assert await grants(drive, alice, plan.id) == [(BOB, "editor", None)]


async def test_giving_the_same_role_again_changes_nothing(drive: Drive, alice: Actor, plan: Item) -> None:
    first = await drive.sharing.share(alice, plan.id, BOB, "viewer")
    again = await drive.sharing.share(alice, plan.id, BOB, "viewer")
    assert (again.value, again.change_id) == (replace(first.value, has_account=None), None)
    rehearsed = await drive.sharing.share(rehearsing(alice), plan.id, BOB, "viewer")
    assert rehearsed.effect is not None
    assert (rehearsed.effect.count, rehearsed.effect.gains_access) == (0, ())
    assert "already" in rehearsed.effect.summary


async def test_the_answer_tells_whether_the_person_has_an_account_and_nothing_else_of_them(
    drive: Drive, alice: Actor, bob: Actor, plan: Item
) -> None:
    known = (await drive.sharing.share(alice, plan.id, bob.principal.email, "viewer")).value
    unknown = (await drive.sharing.share(alice, plan.id, "nobody@example.com", "viewer")).value
    assert (known.has_account, unknown.has_account) == (True, False)
    hidden = {"id": "", "email": "", "created_at": known.created_at, "has_account": None}
    assert replace(known, **hidden) == replace(unknown, **hidden)


async def test_a_share_waits_for_the_account(drive: Drive, alice: Actor, plan: Item) -> None:
    await drive.sharing.share(alice, plan.id, "Carol@Example.com", "viewer")
    carol = await new_person(drive.identity, "CAROL@example.com")
    assert (await drive.files.get(carol, plan.id)).role == "viewer"


async def test_the_root_folder_is_not_shared(drive: Drive, alice: Actor) -> None:
    for ref in ("root", "/"):
        with pytest.raises(InvalidInputError, match="root folder"):
            await drive.sharing.share(alice, ref, BOB, "viewer")


async def test_nobody_shares_with_themselves(drive: Drive, alice: Actor, plan: Item) -> None:
    with pytest.raises(InvalidInputError, match="yours already"):
        await drive.sharing.share(alice, plan.id, "ALICE@example.com ", "editor")


@pytest.mark.parametrize("role", ["owner", "", "Editor", "admin", "查看者", "viewer\x00"])
async def test_only_viewer_and_editor_can_be_given(drive: Drive, alice: Actor, plan: Item, role: str) -> None:
    with pytest.raises(InvalidInputError):
        await drive.sharing.share(alice, plan.id, BOB, role)


@pytest.mark.parametrize("email", ["", "bob", "bob@", "b\u202eob@example.com", "bob@example.com\x00", "\ud800@x.org"])
async def test_what_is_no_email_is_refused(drive: Drive, alice: Actor, plan: Item, email: str) -> None:
    for call in (drive.sharing.share(alice, plan.id, email, "viewer"), drive.sharing.revoke(alice, plan.id, email)):
        with pytest.raises(InvalidInputError):
            await call
    assert await grants(drive, alice, plan.id) == []


async def test_only_the_owner_gives_and_takes_roles(drive: Drive, alice: Actor, bob: Actor, plan: Item) -> None:
    await drive.sharing.share(alice, plan.id, BOB, "editor")
    with pytest.raises(ForbiddenError):
        await drive.sharing.share(bob, plan.id, "carol@example.com", "viewer")
    with pytest.raises(ForbiddenError):
        await drive.sharing.revoke(bob, plan.id, "carol@example.com")


async def test_strangers_get_the_answer_for_unknown_items(drive: Drive, bob: Actor, plan: Item) -> None:
    answers = []
    for ref in (plan.id, "0" * 32):
        for call in (
            drive.sharing.share(bob, ref, "carol@example.com", "viewer"),
            drive.sharing.revoke(bob, ref, "carol@example.com"),
            drive.sharing.list_shares(bob, ref),
        ):
            with pytest.raises(NotFoundError) as caught:
                await call
            answers.append((caught.value.message, caught.value.hint))
    assert len(set(answers)) == 1


async def test_each_call_needs_its_scope(drive: Drive, alice: Actor, plan: Item) -> None:
    weak = with_scopes(alice, Scope.READ, Scope.WRITE, Scope.DELETE)
    for call in (drive.sharing.share(weak, plan.id, BOB, "viewer"), drive.sharing.revoke(weak, plan.id, BOB)):
        with pytest.raises(MissingScopeError) as caught:
            await call
        assert caught.value.details == {"scope": "share"}
    blind = with_scopes(alice, Scope.SHARE)
    for call in (drive.sharing.list_shares(blind, plan.id), drive.sharing.shared_with_me(blind)):
        with pytest.raises(MissingScopeError) as caught:
            await call
        assert caught.value.details == {"scope": "read"}


async def test_shares_are_listed_with_where_they_come_from(
    drive: Drive, alice: Actor, reports: Item, plan: Item
) -> None:
    await drive.sharing.share(alice, reports.id, "carol@example.com", "editor")
    await drive.sharing.share(alice, plan.id, BOB, "viewer")
    assert await grants(drive, alice, plan.id) == [
        (BOB, "viewer", None),
        ("carol@example.com", "editor", "/Reports"),
    ]
    assert await grants(drive, alice, reports.id) == [("carol@example.com", "editor", None)]


async def test_an_editor_lists_shares_without_learning_of_folders_above(
    drive: Drive, alice: Actor, bob: Actor, reports: Item, plan: Item
) -> None:
    await drive.sharing.share(alice, reports.id, "carol@example.com", "viewer")
    await drive.sharing.share(alice, plan.id, BOB, "editor")
    shares = await drive.sharing.list_shares(bob, plan.id)
    assert [share.email for share in shares] == [BOB, "carol@example.com"]
    assert {share.item_id for share in shares} == {plan.id}
    assert not any("Reports" in (share.inherited_from or "") for share in shares)


async def test_a_viewer_does_not_list_shares(drive: Drive, alice: Actor, bob: Actor, plan: Item) -> None:
    await drive.sharing.share(alice, plan.id, BOB, "viewer")
    with pytest.raises(ForbiddenError):
        await drive.sharing.list_shares(bob, plan.id)


async def test_taking_back_an_inherited_role_says_where_it_was_given(
    drive: Drive, alice: Actor, bob: Actor, reports: Item, plan: Item
) -> None:
    await drive.sharing.share(alice, reports.id, BOB, "viewer")
    with pytest.raises(StateConflictError) as caught:
        await drive.sharing.revoke(alice, plan.id, BOB)
    assert caught.value.details["given_on"] == [{"id": reports.id, "path": "/Reports"}]
    assert "/Reports" in caught.value.hint
    assert (await drive.files.get(bob, plan.id)).role == "viewer"


async def test_taking_back_what_was_not_given_is_not_found(drive: Drive, alice: Actor, plan: Item) -> None:
    with pytest.raises(NotFoundError):
        await drive.sharing.revoke(alice, plan.id, BOB)


async def test_a_rehearsal_tells_who_gains_and_loses_access_and_changes_nothing(
    drive: Drive, alice: Actor, plan: Item
) -> None:
    await new_person(drive.identity, BOB)
    rehearsed = await drive.sharing.share(rehearsing(alice), plan.id, BOB, "editor")
    assert rehearsed.effect is not None
    assert rehearsed.effect.gains_access == (BOB,)
    assert rehearsed.effect.etag == plan.etag
    assert rehearsed.effect.summary == f"Share 'plan.md' with {BOB} as editor."
    assert [item["path"] for item in rehearsed.effect.items] == ["/Reports/plan.md"]
    assert await grants(drive, alice, plan.id) == []

    await drive.sharing.share(alice, plan.id, BOB, "editor")
    rehearsed = await drive.sharing.revoke(rehearsing(alice), plan.id, BOB)
    assert rehearsed.effect is not None
    assert rehearsed.effect.loses_access == (BOB,)
    assert await grants(drive, alice, plan.id) == [(BOB, "editor", None)]


async def test_access_that_is_inherited_is_neither_gained_nor_lost(
    drive: Drive, alice: Actor, reports: Item, plan: Item
) -> None:
    await drive.sharing.share(alice, reports.id, BOB, "editor")
    given = await drive.sharing.share(rehearsing(alice), plan.id, BOB, "viewer")
    await drive.sharing.share(alice, plan.id, BOB, "viewer")
    taken = await drive.sharing.revoke(rehearsing(alice), plan.id, BOB)
    assert given.effect is not None
    assert taken.effect is not None
    assert (given.effect.gains_access, taken.effect.loses_access) == ((), ())


async def test_more_rights_count_as_access_gained(drive: Drive, alice: Actor, plan: Item) -> None:
    await drive.sharing.share(alice, plan.id, BOB, "viewer")
    rehearsed = await drive.sharing.share(rehearsing(alice), plan.id, BOB, "editor")
    assert rehearsed.effect is not None
    assert rehearsed.effect.gains_access == (BOB,)
    assert "from viewer to editor" in rehearsed.effect.summary


async def test_a_repeated_call_shares_once(drive: Drive, alice: Actor, plan: Item) -> None:
    keyed = replace(alice, idempotency_key="call-1")
    first = await drive.sharing.share(keyed, plan.id, BOB, "viewer")
    await drive.sharing.revoke(alice, plan.id, BOB)
    again = await drive.sharing.share(keyed, plan.id, BOB, "viewer")
    assert (again.value, again.change_id, again.replayed) == (first.value, first.change_id, True)
    assert await grants(drive, alice, plan.id) == []
    with pytest.raises(IdempotencyConflictError):
        await drive.sharing.share(keyed, plan.id, BOB, "editor")


async def test_many_at_once_with_one_key_share_once(drive: Drive, alice: Actor, plan: Item) -> None:
    keyed = replace(alice, idempotency_key="call-1")
    shares: list[Share] = []

    async def share() -> None:
        shares.append((await drive.sharing.share(keyed, plan.id, BOB, "viewer")).value)

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(share)
    assert len(set(shares)) == 1
    assert len(await drive.sharing.list_shares(alice, plan.id)) == 1


async def test_sharing_is_undone_and_redone(drive: Drive, alice: Actor, bob: Actor, plan: Item) -> None:
    run = replace(alice, run_id="run-1")
    await drive.sharing.share(run, plan.id, BOB, "viewer")
    await drive.sharing.share(run, plan.id, BOB, "editor")
    undone = await drive.undo.undo(alice, run_id="run-1")
    assert await grants(drive, alice, plan.id) == []
    with pytest.raises(NotFoundError):
        await drive.files.get(bob, plan.id)
    await drive.undo.undo(alice, change_id=undone.change_id)
    assert (await drive.files.get(bob, plan.id)).role == "editor"


async def test_an_approval_for_another_state_of_the_item_does_not_count(drive: Drive, alice: Actor, plan: Item) -> None:
    await drive.documents.write_text(alice, plan.id, "# Secret plan")
    with pytest.raises(EtagMismatchError):
        await drive.sharing.share(replace(alice, if_match=plan.etag), plan.id, BOB, "viewer")
    assert await grants(drive, alice, plan.id) == []


async def test_what_is_in_the_trash_is_not_shared_but_can_be_taken_back(drive: Drive, alice: Actor, plan: Item) -> None:
    await drive.sharing.share(alice, plan.id, BOB, "viewer")
    await drive.files.trash(alice, plan.id)
    with pytest.raises(StateConflictError):
        await drive.sharing.share(alice, plan.id, "carol@example.com", "viewer")
    await drive.sharing.revoke(alice, plan.id, BOB)
    assert await grants(drive, alice, plan.id) == []


async def test_shared_with_me_lists_what_was_given_by_name_and_not_what_lies_below(
    drive: Drive, alice: Actor, bob: Actor, reports: Item, plan: Item
) -> None:
    for name in ("计划.md", "🚀.md", "a.md"):
        item = (await drive.documents.create(alice, "root", name, "x")).value
        await drive.sharing.share(alice, item.id, BOB, "viewer")
    await drive.sharing.share(alice, reports.id, BOB, "viewer")
    listed: list[str] = []
    cursor = None
    for _ in range(4):
        page = await drive.sharing.shared_with_me(bob, limit=1, cursor=cursor)
        listed += [item.name for item in page.items]
        cursor = page.cursor
    assert (listed, cursor) == (["Reports", "a.md", "计划.md", "🚀.md"], None)
    assert (await drive.sharing.shared_with_me(alice)).items == ()
    await drive.files.trash(alice, reports.id)
    assert "Reports" not in [item.name for item in (await drive.sharing.shared_with_me(bob)).items]
    assert plan.name not in listed


@pytest.mark.parametrize("cursor", ["", "x", "W10", "\ud800", "😀", "A" * 10_000])
async def test_a_made_up_cursor_is_refused(drive: Drive, alice: Actor, cursor: str) -> None:
    with pytest.raises(InvalidInputError):
        await drive.sharing.shared_with_me(alice, cursor=cursor)


async def test_a_share_without_an_account_says_before_and_after_that_nobody_is_told(
    drive: Drive, alice: Actor, plan: Item
) -> None:
    await new_person(drive.identity, BOB)
    told = await drive.sharing.share(rehearsing(alice), plan.id, "eve@example.com", "viewer")
    assert told.effect is not None
    assert told.effect.message is not None
    assert "Nobody has an account with this email here" in told.effect.summary
    assert "没有账户" in render(told.effect.message, "zh")
    known = await drive.sharing.share(rehearsing(alice), plan.id, BOB, "viewer")
    assert known.effect is not None
    assert known.effect.summary == "Share 'plan.md' with bob@example.com as viewer."
    assert (await drive.sharing.share(alice, plan.id, "eve@example.com", "viewer")).value.has_account is False
    change = (await drive.journal.list_changes(alice)).items[0]
    assert change.summary == "Shared 'plan.md' with eve@example.com as viewer, who had no account here."
    assert (await drive.sharing.share(alice, plan.id, "eve@example.com", "editor")).value.has_account is None
