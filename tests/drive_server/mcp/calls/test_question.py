"""The question to the person: its words, and the answers that count as a yes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.types import INVALID_REQUEST, ElicitResult, ErrorData

from drive_server.connect import open_drive
from drive_server.kernel.messages import Message
from drive_server.mcp.calls.consent import FORM, question
from drive_server.models.changes import Effect
from tests.drive_server.actors import new_person
from tests.drive_server.hosts import Person, asking_host_of
from tests.drive_server.mcp.calls.consenting import (
    of,
    question_of,
)
from tests.drive_server.raw import raw_client

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.kernel.settings import DriveSettings


async def test_the_question_says_what_happens_in_plain_words(drive: Drive, alice: Actor) -> None:
    await drive.files.create_folder(alice, "root", "Old")
    await drive.files.create_folder(alice, "/Old", "里面")
    await drive.documents.create(alice, "root", "a.md", "30 days\n")
    person = Person("accept", "accept", "accept", "accept")
    async with asking_host_of(drive, alice, person) as host:
        await host.call("share_item", item_id="/Old", email="bob@example.com", role="editor")
        await host.call("revoke_share", item_id="/Old", email="bob@example.com")
        await host.call("trash_item", item_id="/Old")
        await host.call("patch_file", file_id="/a.md", edits=[{"find": "30", "replace": "45"}])
    shared, revoked, trashed, patched = person.questions

    assert shared.splitlines()[1:] == [
        "- /Old",
        "Gains access: bob@example.com.",
        "This can be undone.",
        "请确认：把“Old”共享给 bob@example.com，角色：编辑者。"
        "此邮箱在这里没有账户：不会通知任何人，权限要等有了账户才生效。改用链接则不需要账户；"
        "涉及 1 项；获得访问权限：bob@example.com；可以撤销。",
    ]
    assert "Loses access: bob@example.com." in revoked.splitlines()
    assert trashed.splitlines() == [
        "Move 'Old' with 1 item in it to the trash, from where it can be restored.",
        "- /Old",
        "- /Old/里面",
        "This can be undone.",
        "请确认：把“Old”（含 1 项）移到回收站，之后可以恢复；涉及 2 项；可以撤销。",
    ]
    assert "-30 days\n+45 days" in patched


async def test_the_question_says_what_can_not_be_undone(drive: Drive, alice: Actor) -> None:
    await drive.files.create_folder(alice, "root", "Old")
    await drive.files.trash(alice, "/Old")
    person = Person("accept")
    async with asking_host_of(drive, alice, person) as host:
        await host.call("empty_trash")

    assert person.questions[0].splitlines()[-2:] == [
        "This can't be undone.",
        "请确认：永久删除回收站中的 1 项，无法撤销；涉及 1 项；无法撤销。",
    ]


def test_the_question_is_short_and_shows_what_a_name_hides() -> None:
    items = tuple({"path": f"/{'长' * 300}/\u200bfile{number}\u2215x"} for number in range(100))
    diff = "--- a\n+++ a\n" + "".join(f"+line {number}\u202e\t{'y' * 500}\n" for number in range(100))
    asked = question(Effect(Message.of("changed_since"), count=2345, items=items, diff=diff))

    assert "\\u{200b}file0\\u{2215}x" in asked
    assert "\\u{202e}" in asked
    assert "- and 2,335 more" in asked
    assert all(len(line) < 400 for line in asked.splitlines())
    assert len(asked.splitlines()) < 40


def test_the_form_asks_for_nothing_that_has_to_be_filled_in() -> None:
    assert FORM["type"] == "object"
    assert FORM["properties"], "hosts show a form without fields as one that can't be sent off"
    assert "required" not in FORM
    assert all(field["type"] == "boolean" and field["default"] for field in FORM["properties"].values())


class Answering(Person):
    """Answers with whatever was prepared, errors too."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer

    async def __call__(self, context: Any, params: Any) -> Any:
        del context
        self.questions.append(params.message)
        return self.answer


YES = (
    ElicitResult(action="accept"),
    ElicitResult(action="accept", content={}),
    ElicitResult(action="accept", content={"confirm": True}),
    ElicitResult(action="accept", content={"confirm": None}),
    ElicitResult(action="accept", content={"other": "x"}),
)
NO = (
    ElicitResult(action="decline"),
    ElicitResult(action="cancel"),
    ElicitResult(action="accept", content={"confirm": False}),
    ElicitResult(action="accept", content={"confirm": "false"}),
    ElicitResult(action="accept", content={"confirm": "no"}),
    ElicitResult(action="accept", content={"confirm": 0}),
    ElicitResult(action="accept", content={"confirm": []}),
    ErrorData(code=INVALID_REQUEST, message="Elicitation not supported"),
)


async def test_accepting_is_enough(drive: Drive, alice: Actor) -> None:
    for answer in YES:
        await drive.files.create_folder(alice, "root", "Old")
        async with asking_host_of(drive, alice, Answering(answer)) as host:
            await host.call("trash_item", item_id="/Old")


async def test_anything_but_a_yes_is_a_no(drive: Drive, alice: Actor) -> None:
    made = (await drive.files.create_folder(alice, "root", "Old")).value
    for answer in NO:
        async with asking_host_of(drive, alice, Answering(answer)) as host:
            assert (await host.refused("trash_item", item_id="/Old"))["code"] == "declined", answer
            assert (await host.refused("undo_changes"))["code"] == "declined", answer

    assert (await drive.files.get(alice, made.id)).etag == made.etag


async def test_an_answer_that_is_none_is_a_no(drive: Drive, alice: Actor) -> None:
    made = (await drive.files.create_folder(alice, "root", "Old")).value
    async with raw_client(drive, alice, elicitation={}) as client:
        await client.ask(1, "tools/call", {"name": "trash_item", "arguments": {"item_id": "/Old"}})
        asked = await question_of(client)
        await client.answer(asked.id, {"action": "perhaps"})
        *_, answer = await client.until_answered(1)

    assert asked.method == "elicitation/create"
    assert answer.result["structuredContent"]["code"] == "declined"
    assert (await drive.files.get(alice, made.id)).etag == made.etag


async def test_no_answer_in_time_is_a_no_and_the_question_is_withdrawn(drive_settings: DriveSettings) -> None:
    async with open_drive(drive_settings.model_copy(update={"answer_seconds": 1})) as drive:
        alice = await new_person(drive.identity, "alice@example.com")
        await drive.files.create_folder(alice, "root", "Old")
        async with raw_client(drive, alice, elicitation={"form": {}}) as client:
            await client.ask(1, "tools/call", {"name": "trash_item", "arguments": {"item_id": "/Old"}})
            messages = await client.until_answered(1)
            asked, withdrawn = of("elicitation/create", messages), of("notifications/cancelled", messages)
            await client.answer(asked.id, {"action": "accept"})
            *_, listing = await client.call(2, "list_folder", {})

    assert withdrawn.params["requestId"] == asked.id
    assert messages[-1].result["structuredContent"]["code"] == "declined"
    assert [item["name"] for item in listing.result["structuredContent"]["items"]] == ["Old"]
