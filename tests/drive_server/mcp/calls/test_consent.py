"""A host that can ask its person does so before the calls that matter, and does nothing without a yes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.access import Scope
from tests.drive_server.actors import local_owner, purging
from tests.drive_server.hosts import Person, asking_host_of, assistant_of, host_of
from tests.drive_server.mcp.calls.consenting import (
    CALLS,
    DRY_RUN,
    OWN_NAMES,
    PLACED_CALLS,
    QUIET_CALLS,
    UNRECORDED,
    filled,
    prepare,
    state,
)

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


async def test_every_tool_whose_record_says_so_has_a_call_here(drive: Drive) -> None:
    specs = drive.server.specs
    asking = {name: spec.asks_for(CALLS.get(name)) for name, spec in specs.items()}

    assert set(CALLS) == {name for name, asks in asking.items() if asks == "always"}
    assert set(PLACED_CALLS) == {name for name, spec in specs.items() if spec.asks_for({}) == "when_shared"}
    changing = {name for name, spec in specs.items() if spec.scope not in {None, Scope.READ}}
    # What has files read again changes none.
    assert changing == set(CALLS) | set(PLACED_CALLS) | {"reindex"}


async def test_a_call_that_destroys_or_shares_does_nothing_after_a_no(drive: Drive, alice: Actor) -> None:
    known = await prepare(drive, alice)
    before = await state(drive, alice)
    person = Person(*["decline"] * len(CALLS))
    async with asking_host_of(drive, alice, person) as host:
        for number, (tool, arguments) in enumerate(CALLS.items()):
            refused = await host.refused(tool, **filled(arguments, known))
            assert (tool, refused["code"], len(person.questions)) == (tool, "declined", number + 1)
            assert "请确认：更改网盘内容" not in person.questions[-1]
    assert await state(drive, alice) == before


@pytest.mark.parametrize("tool", CALLS)
async def test_it_is_done_after_a_yes_and_the_journal_says_who_agreed(drive: Drive, alice: Actor, tool: str) -> None:
    known = await prepare(drive, alice)
    async with asking_host_of(drive, alice, Person("accept")) as host:
        await host.call(tool, **filled(CALLS[tool], known))

    if tool in UNRECORDED:
        return
    newest = (await drive.journal.list_changes(alice)).items[0]
    assert (newest.tool, newest.approved_by) == (tool, "alice@example.com")


@pytest.mark.parametrize("place", ["/Folder", "/Linked", "/Shared with me/Bobs"])
async def test_what_others_see_is_changed_only_after_a_yes(drive: Drive, alice: Actor, bob: Actor, place: str) -> None:
    known = await prepare(drive, alice) | {"place": place}
    await drive.files.create_folder(bob, "root", "Bobs")
    await drive.documents.create(bob, "/Bobs", "a.md", "bob's")
    await drive.sharing.share(bob, "/Bobs", "alice@example.com", "editor")
    calls = {"append_to_file": {"file_id": "{place}/a.md", "content": "more"}} | PLACED_CALLS
    if place.startswith("/Shared"):  # the drive itself refuses to move anything to somebody else
        calls = {tool: arguments for tool, arguments in calls.items() if "move" not in tool and "restore" not in tool}
    before = await state(drive, alice)
    refusing, agreeing = Person(*["decline"] * len(calls)), Person(*["accept"] * len(calls))

    for tool, arguments in calls.items():
        async with asking_host_of(drive, alice, refusing) as host:
            assert (tool, (await host.refused(tool, **filled(arguments, known)))["code"]) == (tool, "declined")
            await host.call(tool, DRY_RUN, **filled(arguments, known))
    assert await state(drive, alice) == before
    for tool, arguments in calls.items():
        async with asking_host_of(drive, alice, agreeing) as host:
            await host.call(tool, **{**filled(arguments, known), **OWN_NAMES.get(tool, {})})
            newest = (await drive.journal.list_changes(alice)).items[0]
            assert (newest.tool, newest.approved_by) == (tool, "alice@example.com")
    assert (refusing.answers, agreeing.answers) == ([], [])


@pytest.mark.parametrize("tool", PLACED_CALLS)
async def test_what_only_the_person_sees_is_changed_unasked(drive: Drive, alice: Actor, tool: str) -> None:
    known = await prepare(drive, alice) | {"place": "/Private"}
    person = Person()
    async with asking_host_of(drive, alice, person) as host:
        await host.call(tool, **filled(PLACED_CALLS[tool], known))

    assert person.questions == []
    assert (await drive.journal.list_changes(alice)).items[0].approved_by is None


async def test_a_host_that_can_not_ask_changes_what_others_see_by_its_scopes(drive: Drive, alice: Actor) -> None:
    known = await prepare(drive, alice) | {"place": "/Folder"}
    async with host_of(drive, alice) as host:
        for tool, arguments in PLACED_CALLS.items():
            await host.call(tool, **{**filled(arguments, known), **OWN_NAMES.get(tool, {})})


@pytest.mark.parametrize("tool", QUIET_CALLS)
async def test_looking_asks_nobody(drive: Drive, alice: Actor, tool: str) -> None:
    known = await prepare(drive, alice)
    person = Person()
    async with asking_host_of(drive, alice, person) as host:
        await host.call(tool, **filled(QUIET_CALLS[tool], known))

    assert person.questions == []


async def test_the_assistant_and_a_rehearsal_are_not_asked(drive: Drive, alice: Actor) -> None:
    known = await prepare(drive, alice)
    before = await state(drive, alice)
    person = Person()
    async with asking_host_of(drive, alice, person) as host, assistant_of(drive, alice) as assistant:
        for tool, arguments in CALLS.items():
            await host.call(tool, DRY_RUN, **filled(arguments, known))
            if tool != "undo_changes":  # what nobody names is of the key, and the assistant has changed nothing
                await assistant.call(tool, DRY_RUN, **filled(arguments, known))
    assert person.questions == []
    assert await state(drive, alice) == before


@pytest.mark.parametrize("tool", ["share_item", "write_file", "trash_item"])
async def test_a_host_that_can_not_ask_does_it_unasked(drive: Drive, alice: Actor, tool: str) -> None:
    known = await prepare(drive, alice)
    async with host_of(drive, alice) as host:
        await host.call(tool, **filled(CALLS[tool], known))


@pytest.mark.parametrize("tool", ["delete_item", "empty_trash"])
async def test_a_host_that_can_not_ask_deletes_nothing_for_good_unless_its_key_was_made_for_it(
    drive: Drive, alice: Actor, tool: str
) -> None:
    known = await prepare(drive, alice)
    before = await state(drive, alice)
    call = filled(CALLS[tool], known)
    async with host_of(drive, alice) as host:
        refused = await host.refused(tool, **call)
        rehearsal = await host.result(tool, DRY_RUN, **call)
    assert (refused["code"], refused["details"]) == ("missing_scope", {"scope": "purge"})
    assert "this host can't ask its person" in refused["message"]
    assert "drive-agent trash delete" in refused["hint"]
    assert "没有永久删除任何内容" in refused["messages"]["message"]["zh"]
    assert not rehearsal.isError
    assert await state(drive, alice) == before

    async with host_of(drive, purging(alice)) as host:
        await host.call(tool, **call)


@pytest.mark.parametrize("tool", ["delete_item", "empty_trash"])
async def test_nobody_deletes_for_good_with_the_local_access_token_over_mcp(drive: Drive, tool: str) -> None:
    owner = await local_owner(drive.identity)
    made = await drive.documents.create(owner, "root", "a.md", "one")
    await drive.files.trash(owner, made.value.id)
    arguments = {"item_id": made.value.id} if tool == "delete_item" else {}
    person = Person()
    async with host_of(drive, owner) as host, asking_host_of(drive, owner, person) as asking:
        for one in (host, asking):
            refused = await one.refused(tool, **arguments)
            assert (refused["code"], refused["details"]) == ("missing_scope", {"scope": "purge"})
            assert "without a key of its own" in refused["message"]
    assert person.questions == []
    assert len((await drive.files.list_trash(owner)).items) == 1


async def test_a_host_that_can_not_ask_needs_the_scope(drive: Drive, alice: Actor) -> None:
    await drive.files.create_folder(alice, "root", "Old")
    _, secret = await drive.identity.create_key(alice, "host", ["read", "write"])
    writer = type(alice)(await drive.identity.authenticate(secret))
    async with host_of(drive, writer) as host:
        for tool, arguments in (("trash_item", {}), ("share_item", {"email": "bob@example.com"})):
            assert (await host.refused(tool, item_id="/Old", **arguments))["code"] == "missing_scope"


async def test_a_yes_does_not_stand_for_a_scope(drive: Drive, alice: Actor) -> None:
    await drive.files.create_folder(alice, "root", "Old")
    _, secret = await drive.identity.create_key(alice, "host", ["read", "write"])
    writer = type(alice)(await drive.identity.authenticate(secret))
    person = Person("accept")
    async with asking_host_of(drive, writer, person) as host:
        assert (await host.refused("trash_item", item_id="/Old"))["code"] == "missing_scope"
    assert person.questions == []
