from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.drive_server.hosts import Host, Person, asking_host_of, assistant_of, text_of

if TYPE_CHECKING:
    from drive_server.access import Actor
    from drive_server.drive import Drive

DRY_RUN = {"drive-agent/dry-run": True}
KEY = {"drive-agent/idempotency-key": "call-1"}


async def test_a_change_answers_its_number_in_the_journal(assistant: Host) -> None:
    made = await assistant.result("create_folder", name="A")

    assert made.meta is not None
    (change,) = (await assistant.call("list_changes"))["changes"]
    assert made.meta == {"drive-agent/change-id": change["id"], "drive-agent/replayed": False}


async def test_a_repeated_key_answers_what_was_recorded_and_does_nothing(assistant: Host) -> None:
    first = await assistant.result("create_folder", KEY, name="A")
    again = await assistant.result("create_folder", KEY, name="A")
    other = await assistant.refused("create_folder", KEY, name="B")

    assert first.meta is not None
    assert again.meta == {**first.meta, "drive-agent/replayed": True}
    assert again.structuredContent == first.structuredContent
    assert "made before" in text_of(again)
    assert other["code"] == "idempotency_conflict"
    assert (await assistant.call("list_folder"))["total"] == 1


async def test_a_dry_run_answers_the_effect_and_changes_nothing(assistant: Host) -> None:
    made = await assistant.call("create_file", name="a.md", content="30 days\n")

    rehearsed = await assistant.result(
        "patch_file", DRY_RUN, file_id=made["id"], edits=[{"find": "30", "replace": "45"}]
    )

    assert rehearsed.meta is not None
    assert rehearsed.structuredContent is not None
    effect = rehearsed.meta["drive-agent/effect"]
    assert "-30 days\n+45 days\n" in effect["diff"]
    assert (effect["etag"], effect["reversible"], effect["count"]) == (made["etag"], True, 1)
    assert "drive-agent/change-id" not in rehearsed.meta
    assert rehearsed.structuredContent["version"] == 2
    assert text_of(rehearsed).startswith("Nothing was changed.")
    assert (await assistant.call("get_file_info", item_id=made["id"]))["etag"] == made["etag"]


async def test_the_etag_that_was_approved_is_checked_for_every_change(assistant: Host) -> None:
    made = await assistant.call("create_file", name="a.md", content="x")
    approved = {"drive-agent/if-match": made["etag"]}
    await assistant.call("rename_item", item_id=made["id"], name="b.md")

    for tool, arguments in (
        ("share_item", {"item_id": made["id"], "email": "bob@example.com"}),
        ("trash_item", {"item_id": made["id"]}),
        ("write_file", {"file_id": made["id"], "content": "y"}),
        ("restore_version", {"file_id": made["id"], "version": 1}),
    ):
        assert (await assistant.refused(tool, approved, **arguments))["code"] == "etag_mismatch"


async def test_who_approved_is_taken_from_the_assistant_and_from_nobody_else(assistant: Host, alices: Host) -> None:
    claim = {"drive-agent/approved-by": "boss@example.com"}

    await assistant.call("create_folder", claim, name="A")
    await alices.call("create_folder", claim, name="B")

    changes = (await assistant.call("list_changes"))["changes"]
    assert [(change["summary"][:22], change["approved_by"]) for change in changes] == [
        ("Created the folder 'B'", None),
        ("Created the folder 'A'", "boss@example.com"),
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("drive-agent/run-id", 7),
        ("drive-agent/run-id", ""),
        ("drive-agent/run-id", "x" * 65),
        ("drive-agent/idempotency-key", "x" * 256),
        ("drive-agent/if-match", ["a"]),
        ("drive-agent/approved-by", "x" * 321),
        ("drive-agent/dry-run", "yes"),
        ("drive-agent/dry-run", 1),
    ],
)
async def test_a_meta_value_of_the_wrong_form_is_refused_by_its_name(assistant: Host, key: str, value: Any) -> None:
    error = await assistant.refused("create_folder", {key: value}, name="A")

    assert error["code"] == "invalid_argument"
    assert key in error["message"]
    assert (await assistant.call("list_folder"))["items"] == []


async def test_a_host_that_can_ask_asks_before_deleting_and_sharing(drive: Drive, alice: Actor) -> None:
    await drive.files.create_folder(alice, "root", "Old")
    await drive.files.create_folder(alice, "/Old", "inside")
    person = Person("accept", "accept", "accept")
    async with asking_host_of(drive, alice, person) as host:
        await host.call("share_item", item_id="/Old", email="bob@example.com", role="editor")
        await host.call("revoke_share", item_id="/Old", email="bob@example.com")
        await host.call("trash_item", item_id="/Old")
        changes = (await host.call("list_changes", limit=3))["changes"]

    assert person.questions == [
        "Share 'Old' with bob@example.com as editor.\n- /Old",
        "Take back the role editor of bob@example.com on 'Old'.\n- /Old",
        "Move 'Old' with 1 item in it to the trash, from where it can be restored.\n- /Old\n- /Old/inside",
    ]
    assert {change["approved_by"] for change in changes} == {"alice@example.com"}


@pytest.mark.parametrize("answer", ["decline", "cancel"])
async def test_without_a_yes_nothing_is_changed(drive: Drive, alice: Actor, answer: str) -> None:
    await drive.files.create_folder(alice, "root", "Old")
    async with asking_host_of(drive, alice, Person(answer, answer)) as host:
        assert (await host.refused("trash_item", item_id="/Old"))["code"] == "declined"
        assert (await host.refused("undo_changes"))["code"] == "declined"

        assert [item["name"] for item in (await host.call("list_folder"))["items"]] == ["Old"]


async def test_looking_and_adding_ask_nobody(drive: Drive, alice: Actor) -> None:
    person = Person()
    async with asking_host_of(drive, alice, person) as host:
        await host.call("create_folder", name="A")
        await host.call("undo_changes", preview=True)
        await host.call("trash_item", DRY_RUN, item_id="/A")

    assert person.questions == []


async def test_what_can_not_be_done_is_refused_without_asking(drive: Drive, alice: Actor) -> None:
    person = Person()
    async with asking_host_of(drive, alice, person) as host:
        assert (await host.refused("trash_item", item_id="/nowhere"))["code"] == "not_found"
        assert (await host.refused("trash_item", KEY, item_id="/nowhere"))["code"] == "not_found"

    assert person.questions == []


async def test_a_repeated_call_is_answered_without_asking_again(drive: Drive, alice: Actor) -> None:
    await drive.files.create_folder(alice, "root", "Old")
    person = Person("accept")
    async with asking_host_of(drive, alice, person) as host:
        await host.call("trash_item", KEY, item_id="/Old")
        again = await host.result("trash_item", KEY, item_id="/Old")

        other = await host.refused("trash_item", KEY, item_id="/Older")

    assert again.meta is not None
    assert again.meta["drive-agent/replayed"]
    assert other["code"] == "idempotency_conflict"
    assert len(person.questions) == 1


async def test_what_changed_while_the_person_thought_is_not_done(drive: Drive, alice: Actor) -> None:
    made = (await drive.files.create_folder(alice, "root", "Old")).value

    class Slow(Person):
        async def __call__(self, context: Any, params: Any) -> Any:
            await drive.files.rename(alice, made.id, "Precious")
            return await super().__call__(context, params)

    async with asking_host_of(drive, alice, Slow("accept")) as host:
        error = await host.refused("trash_item", item_id=made.id)

    assert error["code"] == "etag_mismatch"
    assert (await drive.files.get(alice, made.id)).trashed_at is None


async def test_the_assistant_is_never_asked_by_the_drive(drive: Drive, alice: Actor) -> None:
    await drive.files.create_folder(alice, "root", "Old")
    async with assistant_of(drive, alice) as host:
        await host.call("trash_item", item_id="/Old")
