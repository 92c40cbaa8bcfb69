"""What the person in front of a host outside is asked, and that nothing is done without a yes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.types import INVALID_REQUEST, ElicitResult, ErrorData

from drive_server.access import Scope
from drive_server.connect import open_drive
from drive_server.mcp.calls.consent import FORM, question
from drive_server.messages import Message
from drive_server.models import Effect
from drive_server.services.sharing.links import LinkTerms
from tests.drive_server.actors import new_person
from tests.drive_server.hosts import Person, asking_host_of, assistant_of, host_of, text_of
from tests.drive_server.http.service import running
from tests.drive_server.http.streamable_http.test_endpoint import remote
from tests.drive_server.raw import RawClient, raw_client

if TYPE_CHECKING:
    from drive_server.access import Actor
    from drive_server.drive import Drive
    from drive_server.settings import DriveSettings

PATIENCE = 20
DRY_RUN = {"drive-agent/dry-run": True}
KEY = {"drive-agent/idempotency-key": "call-1"}
REPLACE = {"on_conflict": "replace"}
# Of every tool that may ask whoever sees what it changes, a call that does; `{...}` stands for what is in the
# prepared drive.
CALLS: dict[str, dict[str, Any]] = {
    "rename_item": {"item_id": "/a.md", "name": "b.md", **REPLACE},
    "move_item": {"item_id": "/a.md", "folder_id": "/Folder", **REPLACE},
    "move_items": {"item_ids": ["/a.md"], "folder_id": "/Folder", **REPLACE},
    "copy_item": {"item_id": "/a.md", "folder_id": "/Folder", **REPLACE},
    "restore_item": {"item_id": "{trashed}", **REPLACE},
    "create_file": {"name": "a.md", "content": "new", **REPLACE},
    "write_file": {"file_id": "/a.md", "content": "new"},
    "patch_file": {"file_id": "/a.md", "edits": [{"find": "a", "replace": "b"}]},
    "trash_item": {"item_id": "/a.md"},
    "delete_item": {"item_id": "{trashed}"},
    "empty_trash": {},
    "share_item": {"item_id": "/a.md", "email": "carol@example.com"},
    "create_share_link": {"item_id": "/a.md"},
    "update_share": {"item_id": "/Folder", "email": "bob@example.com", "role": "editor"},
    "revoke_share": {"item_id": "/Folder", "email": "bob@example.com"},
    "undo_changes": {},
    "redo_changes": {},
    "append_to_file": {"file_id": "/a.md", "content": "more"},
    "restore_version": {"file_id": "/b.md", "version": 1},
    "get_download_url": {"file_id": "/a.md"},
}
UNRECORDED = {"get_download_url"}
# Calls that ask if others see the place that `{place}` stands for.
PLACED_CALLS: dict[str, dict[str, Any]] = {
    "create_folder": {"name": "New", "parent_id": "{place}"},
    "create_file": {"name": "c.md", "content": "new", "parent_id": "{place}"},
    "rename_item": {"item_id": "{place}/a.md", "name": "c.md"},
    "move_item": {"item_id": "/b.md", "folder_id": "{place}"},
    "move_items": {"item_ids": ["/b.md"], "folder_id": "{place}"},
    "copy_item": {"item_id": "/b.md", "folder_id": "{place}"},
    "restore_item": {"item_id": "{trashed}", "folder_id": "{place}"},
}
QUIET_CALLS: dict[str, dict[str, Any]] = {
    "undo_changes": {"preview": True},
    "list_shares": {"item_id": "/Folder"},
    "read_file": {"file_id": "/a.md"},
}
# So that the calls can be made one after another.
OWN_NAMES: dict[str, dict[str, Any]] = {
    "create_file": {"name": "d.md"},
    "copy_item": {"item_id": "/gone.md"},
    "move_items": {"item_ids": ["/a.md"], "on_conflict": "rename"},
    "restore_item": {"on_conflict": "rename"},
}


async def prepare(drive: Drive, alice: Actor) -> dict[str, str]:
    """Put something of everything into the drive; return what the calls name."""
    await drive.documents.create(alice, "root", "gone.md", "a")
    trashed = (await drive.files.trash(alice, "/gone.md")).value.id
    await drive.documents.create(alice, "root", "gone.md", "b")
    folder = (await drive.files.create_folder(alice, "root", "Folder")).value.id
    await drive.files.create_folder(alice, "root", "Private")
    linked = (await drive.files.create_folder(alice, "root", "Linked")).value.id
    for place in ("/", "/Folder", "/Private", "/Linked"):
        await drive.documents.create(alice, place, "a.md", f"a in {place}")
    await drive.documents.create(alice, "root", "b.md", "b")
    await drive.documents.write_text(alice, "/b.md", "b, again")
    await drive.sharing.share(alice, folder, "bob@example.com", "viewer")
    await drive.links.create(alice, linked, LinkTerms("viewer"))
    await drive.files.create_folder(alice, "root", "Undone")
    await drive.undo.undo(alice)
    return {"trashed": trashed}


def filled(arguments: dict[str, Any], known: dict[str, str]) -> dict[str, Any]:
    return {
        name: value.format(**known) if isinstance(value, str) and "{" in value else value
        for name, value in arguments.items()
    }


def of(method: str, messages: list[Any]) -> Any:
    """Return the one message with this method."""
    (found,) = [message for message in messages if getattr(message, "method", None) == method]
    return found


async def question_of(client: RawClient) -> Any:
    """Return the next question of the server."""
    while (message := (await client.reading.receive()).message.root).method != "elicitation/create":
        pass
    return message


async def state(drive: Drive, alice: Actor) -> list[Any]:
    return [
        [(item.path, item.etag) for item in (await drive.files.list_folder(alice, folder)).items]
        for folder in ("root", "/Folder")
    ] + [len((await drive.journal.list_changes(alice, limit=200)).items)]


async def test_every_tool_whose_record_says_so_has_a_call_here(drive: Drive) -> None:
    specs = drive.server.specs
    asking = {name: spec.asks_for(CALLS.get(name)) for name, spec in specs.items()}

    assert set(CALLS) == {name for name, asks in asking.items() if asks == "always"}
    assert set(PLACED_CALLS) == {name for name, spec in specs.items() if spec.asks_for({}) == "when_shared"}
    changing = {name for name, spec in specs.items() if spec.scope not in {None, Scope.READ}}
    assert changing == set(CALLS) | set(PLACED_CALLS)


async def test_a_call_that_destroys_or_shares_does_nothing_after_a_no(drive: Drive, alice: Actor) -> None:
    known = await prepare(drive, alice)
    before = await state(drive, alice)
    person = Person(*["decline"] * len(CALLS))
    async with asking_host_of(drive, alice, person) as host:
        for number, (tool, arguments) in enumerate(CALLS.items()):
            refused = await host.refused(tool, **filled(arguments, known))
            assert (tool, refused["code"], len(person.questions)) == (tool, "declined", number + 1)
            assert "请确认：更改云盘内容" not in person.questions[-1]
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


@pytest.mark.parametrize("tool", ["delete_item", "empty_trash", "share_item", "write_file"])
async def test_a_host_that_can_not_ask_does_it_unasked(drive: Drive, alice: Actor, tool: str) -> None:
    known = await prepare(drive, alice)
    async with host_of(drive, alice) as host:
        await host.call(tool, **filled(CALLS[tool], known))


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
        "请确认：把“Old”共享给 bob@example.com，角色：编辑者；涉及 1 项；获得访问权限：bob@example.com；可以撤销。",
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
