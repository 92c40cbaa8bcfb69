from __future__ import annotations

from typing import TYPE_CHECKING

from tests.drive_server.actors import purging
from tests.drive_server.hosts import Host, Person, asking_host_of, host_of, text_of

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


async def test_the_trash_is_listed_restored_from_and_emptied(assistant: Host, drive: Drive, alice: Actor) -> None:
    kept = await assistant.call("create_file", name="kept.md", content="one")
    await assistant.call("create_file", name="gone.md", content="two")
    for name in ("kept.md", "gone.md"):
        await assistant.call("trash_item", item_id=f"/{name}")

    listed = await assistant.call("list_trash")
    await assistant.call("restore_item", item_id=kept["id"])
    async with host_of(drive, purging(alice)) as alices:
        emptied = await alices.result("empty_trash")

    assert [item["name"] for item in listed["items"]] == ["gone.md", "kept.md"]
    assert emptied.structuredContent is not None
    assert emptied.structuredContent["count"] == 1
    assert [item["name"] for item in emptied.structuredContent["items"]] == ["gone.md"]
    assert text_of(emptied).startswith("Deleted 1 item for good.\n- /gone.md (file, id ")
    assert (await assistant.call("list_trash"))["items"] == []
    assert (await assistant.call("read_file", file_id="/kept.md"))["text"] == "one"


async def test_an_item_in_the_trash_is_deleted_for_good_and_not_taken_back(assistant: Host) -> None:
    made = await assistant.call("create_file", name="a.md", content="one")
    await assistant.call("trash_item", item_id=made["id"])

    rehearsal = await assistant.result("delete_item", {"drive-agent/dry-run": True}, item_id=made["id"])
    deleted = await assistant.result("delete_item", item_id=made["id"])
    undone = await assistant.call("undo_changes")

    assert rehearsal.meta is not None
    assert rehearsal.meta["drive-agent/effect"]["reversible"] is False
    assert deleted.structuredContent is not None
    assert deleted.structuredContent["count"] == 1
    assert undone["undone"] == []
    assert "deleted for good" in undone["skipped"][0]["reason"]
    assert (await assistant.refused("restore_item", item_id=made["id"]))["code"] == "not_found"


async def test_what_is_live_is_not_deleted_for_good(assistant: Host) -> None:
    made = await assistant.call("create_file", name="a.md", content="one")

    error = await assistant.refused("delete_item", item_id=made["id"])

    assert (error["code"], error["hint"]) == ("state_conflict", "Move it to the trash first.")


async def test_a_person_is_asked_before_anything_is_gone_for_good_and_no_means_no(drive: Drive, alice: Actor) -> None:
    person = Person("decline", "accept")
    made = await drive.documents.create(alice, "root", "a.md", "one")
    await drive.files.trash(alice, made.value.id)
    async with asking_host_of(drive, alice, person) as host:
        declined = await host.refused("empty_trash")
        listed = await host.call("list_trash")
        deleted = await host.call("delete_item", item_id=made.value.id)

    assert declined["code"] == "declined"
    assert len(listed["items"]) == 1
    assert deleted["count"] == 1
    assert all("this can't be taken back" in question for question in person.questions)


async def test_a_person_is_asked_before_something_takes_the_place_of_something_else(drive: Drive, alice: Actor) -> None:
    person = Person("decline", "accept")
    await drive.documents.create(alice, "root", "a.md", "new")
    folder = await drive.files.create_folder(alice, "root", "Place")
    await drive.documents.create(alice, folder.value.id, "a.md", "old")
    async with asking_host_of(drive, alice, person) as host:
        declined = await host.refused("move_item", item_id="/a.md", folder_id="/Place", on_conflict="replace")
        assert (await host.call("read_file", file_id="/Place/a.md"))["text"] == "old"
        await host.call("move_item", item_id="/a.md", folder_id="/Place", on_conflict="replace")
        assert (await host.call("read_file", file_id="/Place/a.md"))["text"] == "new"

    assert declined["code"] == "declined"
    assert "goes to the trash" in person.questions[0]


async def test_another_persons_trash_is_neither_seen_nor_emptied(drive: Drive, alice: Actor, bob: Actor) -> None:
    made = await drive.documents.create(alice, "root", "secret.md", "one")
    await drive.files.trash(alice, made.value.id)
    async with host_of(drive, purging(bob)) as bobs:
        listed = await bobs.call("list_trash")
        emptied = await bobs.call("empty_trash")
        error = await bobs.refused("delete_item", item_id=made.value.id)

    assert (listed["items"], emptied["count"], error["code"]) == ([], 0, "not_found")
    assert len((await drive.files.list_trash(alice)).items) == 1


async def test_the_trash_is_listed_in_pages(assistant: Host) -> None:
    for number in range(3):
        await assistant.call("create_folder", name=str(number))
        await assistant.call("trash_item", item_id=f"/{number}")

    first = await assistant.call("list_trash", limit=2)
    second = await assistant.call("list_trash", limit=2, cursor=first["cursor"])

    assert [item["name"] for item in (*first["items"], *second["items"])] == ["2", "1", "0"]
    assert second["cursor"] is None
