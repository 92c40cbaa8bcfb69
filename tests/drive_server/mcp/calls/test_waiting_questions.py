"""Calls while a question waits: repeated, at the same time, overtaken by changes, given up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio

from tests.drive_server.hosts import Person, asking_host_of, host_of, text_of
from tests.drive_server.http.service import running
from tests.drive_server.http.streamable_http.test_endpoint import remote
from tests.drive_server.mcp.calls.consenting import (
    KEY,
    PATIENCE,
    of,
    question_of,
)
from tests.drive_server.raw import raw_client

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.kernel.settings import DriveSettings


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


async def test_a_key_of_an_earlier_call_spares_no_other_tool_the_question(drive: Drive, alice: Actor) -> None:
    await drive.documents.create(alice, "root", "a.md", "x")
    person = Person("decline")
    async with asking_host_of(drive, alice, person) as host:
        await host.call("create_folder", KEY, name="Own")
        assert (await host.refused("get_download_url", KEY, file_id="/a.md"))["code"] == "declined"

    assert len(person.questions) == 1


async def test_a_call_repeated_while_the_person_thinks_waits_for_the_same_answer(drive: Drive, alice: Actor) -> None:
    await drive.files.create_folder(alice, "root", "Old")
    share = {"name": "share_item", "arguments": {"item_id": "/Old", "email": "bob@example.com"}, "_meta": KEY}
    async with raw_client(drive, alice, elicitation={}) as client:
        await client.ask(1, "tools/call", share)
        asked = await question_of(client)
        await client.ask(2, "tools/call", share)
        messages = await client.call(3, "whoami", {})
        await client.answer(asked.id, {"action": "accept"})
        messages += await client.until_answered(1, 2)
    results = {message.id: message.result for message in messages if hasattr(message, "result")}

    assert [results[number]["_meta"]["drive-agent/replayed"] for number in (1, 2)] == [False, True]
    assert results[1]["structuredContent"] == results[2]["structuredContent"]
    assert "elicitation/create" not in [getattr(message, "method", "") for message in messages]


async def test_a_repeat_asks_for_itself_when_the_first_got_a_no(drive: Drive, alice: Actor) -> None:
    await drive.files.create_folder(alice, "root", "Old")
    person = Person("decline", "accept")
    async with asking_host_of(drive, alice, person) as host:
        assert (await host.refused("trash_item", KEY, item_id="/Old"))["code"] == "declined"
        again = await host.result("trash_item", KEY, item_id="/Old")

    assert not again.isError
    assert len(person.questions) == 2


async def test_two_questions_at_once_do_not_mix(drive: Drive, alice: Actor) -> None:
    names = {1: "First", 2: "Second"}
    for name in names.values():
        await drive.files.create_folder(alice, "root", name)
    async with raw_client(drive, alice, elicitation={}) as client:
        for number, name in names.items():
            await client.ask(number, "tools/call", {"name": "trash_item", "arguments": {"item_id": f"/{name}"}})
        asked = [await question_of(client) for _ in names]
        for one in reversed(asked):
            await client.answer(one.id, {"action": "accept" if "'Second'" in one.params["message"] else "decline"})
        messages = await client.until_answered(*names)
    results = {message.id: message.result for message in messages if hasattr(message, "result")}

    assert [results[number]["isError"] for number in names] == [True, False]
    assert [item.name for item in (await drive.files.list_folder(alice, "root")).items] == ["First"]


async def test_what_changed_while_the_person_thought_is_not_done(drive: Drive, alice: Actor) -> None:
    made = (await drive.files.create_folder(alice, "root", "Old")).value

    class Slow(Person):
        async def __call__(self, context: Any, params: Any) -> Any:
            await drive.files.rename(alice, made.id, "Precious")
            return await super().__call__(context, params)

    async with asking_host_of(drive, alice, Slow("accept")) as host:
        error = await host.refused("trash_item", item_id=made.id)

    assert error["code"] == "etag_mismatch"
    assert error["details"]["etag"] == (await drive.files.get(alice, made.id)).etag
    assert (await drive.files.get(alice, made.id)).trashed_at is None


async def test_a_folder_goes_to_the_trash_with_what_the_person_was_shown_in_it(drive: Drive, alice: Actor) -> None:
    made = (await drive.files.create_folder(alice, "root", "Old")).value
    inner = (await drive.files.create_folder(alice, made.id, "Inner")).value

    class Slow(Person):
        async def __call__(self, context: Any, params: Any) -> Any:
            await drive.documents.create(alice, inner.id, f"{len(self.questions)}.md", "precious")
            return await super().__call__(context, params)

    async with asking_host_of(drive, alice, Slow("accept")) as host:
        error = await host.refused("trash_item", item_id=made.id)
    async with asking_host_of(drive, alice, Person("accept")) as host:
        await host.call("trash_item", item_id=made.id)

    assert error["code"] == "etag_mismatch"
    assert (await drive.files.get(alice, made.id)).trashed_at is not None


async def test_nothing_is_held_up_while_the_person_thinks(drive: Drive, alice: Actor, bob: Actor) -> None:
    await drive.files.create_folder(alice, "root", "Old")
    async with raw_client(drive, alice, elicitation={}) as client, host_of(drive, bob) as bobs:
        await client.ask(1, "tools/call", {"name": "trash_item", "arguments": {"item_id": "/Old"}})
        await question_of(client)
        *_, made = await client.call(2, "create_folder", {"name": "Meanwhile"})
        await bobs.call("create_folder", name="Meanwhile")

    assert not made.result["isError"]


async def test_a_host_that_goes_away_while_it_asks_does_nothing(drive: Drive, alice: Actor) -> None:
    made = (await drive.files.create_folder(alice, "root", "Old")).value
    async with raw_client(drive, alice, elicitation={}) as client:
        await client.ask(1, "tools/call", {"name": "trash_item", "arguments": {"item_id": "/Old"}})
        asked = await question_of(client)
        await client.writing.aclose()
        with anyio.fail_after(PATIENCE):
            while drive.server.sessions:
                await anyio.lowlevel.checkpoint()

    assert asked.method == "elicitation/create"
    assert (await drive.files.get(alice, made.id)).etag == made.etag


async def test_a_call_that_is_cancelled_while_it_asks_takes_its_question_back(drive: Drive, alice: Actor) -> None:
    made = (await drive.files.create_folder(alice, "root", "Old")).value
    async with raw_client(drive, alice, elicitation={}) as client:
        await client.ask(1, "tools/call", {"name": "trash_item", "arguments": {"item_id": "/Old"}})
        asked = await question_of(client)
        await client.tell("notifications/cancelled", {"requestId": 1})
        messages = await client.until_answered(1)
        await client.answer(asked.id, {"action": "accept"})
        messages += await client.call(2, "whoami", {})

    assert of("notifications/cancelled", messages).params["requestId"] == asked.id
    assert (await drive.files.get(alice, made.id)).etag == made.etag


async def test_a_person_is_asked_over_http_too(drive_settings: DriveSettings) -> None:
    async with running(drive_settings) as service:
        person = Person("accept", "decline")
        async with remote(service, await service.add_person("alice@example.com"), person=person) as host:
            await host.call("create_folder", name="Old")
            await host.call("trash_item", item_id="/Old")
            assert (await host.refused("empty_trash"))["code"] == "declined"

    assert "永久删除回收站中的" in person.questions[1]


async def test_no_keyless_address_is_made_over_http_without_a_yes_and_the_scope(drive_settings: DriveSettings) -> None:
    async with running(drive_settings) as service:
        person = Person("decline", "accept")
        async with remote(service, service.token, person=person) as host:
            file = (await host.call("create_file", name="a.md", content="secret"))["id"]
            assert (await host.refused("get_download_url", file_id=file))["code"] == "declined"
            made = await host.call("get_download_url", file_id=file)
        async with service.client() as owner:
            keys = {"name": "reader", "scopes": ["read", "write", "delete"]}
            reader = (await owner.post("/api/auth/keys", json=keys)).json()["key"]
        async with remote(service, reader) as host:
            refused = await host.refused("get_download_url", file_id=file)

    assert "anyone with the address" in person.questions[0]
    assert "/d/" in made["url"]
    assert (refused["code"], refused["details"]["scope"]) == ("missing_scope", "share")


async def test_a_no_tells_the_model_what_to_do(drive: Drive, alice: Actor) -> None:
    await drive.files.create_folder(alice, "root", "Old")
    async with asking_host_of(drive, alice, Person("decline")) as host:
        result = await host.result("trash_item", item_id="/Old")

    assert text_of(result) == "declined: The person said no; nothing was changed. Ask them what they want instead."
