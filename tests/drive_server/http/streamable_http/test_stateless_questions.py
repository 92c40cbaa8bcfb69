"""Questions to the person as results of MCP 2026-07-28: answered once, by whom was asked, about what they saw."""

from __future__ import annotations

import asyncio
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import TYPE_CHECKING, Any

import pytest

from drive_server.mcp.stateless import questions
from tests.databases import IS_POSTGRES
from tests.drive_server.http.alone import ASKS, NO, TASKS, YES, Alone, alone
from tests.drive_server.http.service import Service, running
from tests.drive_server.http.wire import answer_of, wired

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from drive_server.kernel.settings import DriveSettings

WRITE = {"file_id": "/plan.md", "content": "Begin on Tuesday."}


@pytest.fixture
async def client(service: Service) -> AsyncIterator[Alone]:
    async with alone(service, **ASKS) as client:
        await client.call("create_file", name="plan.md", content="Begin on Monday.")
        yield client


async def text_of(client: Alone) -> str:
    read = await client.call("read_file", file_id="/plan.md")
    return read["structuredContent"]["text"]


async def test_a_call_that_asks_ends_with_its_question_and_nothing_is_done(client: Alone) -> None:
    asked = await client.call("write_file", **WRITE)

    question = asked["inputRequests"]["confirm"]
    assert asked["resultType"] == "input_required"
    assert question["method"] == "elicitation/create"
    assert "plan.md" in question["params"]["message"]
    assert "请确认" in question["params"]["message"]
    assert question["params"]["requestedSchema"]["properties"].keys() == {"confirm"}
    assert await text_of(client) == "Begin on Monday."


async def test_a_yes_does_it_and_the_journal_has_who_agreed(client: Alone) -> None:
    asked = await client.call("write_file", **WRITE)

    done = await client.again(asked, YES, "write_file", **WRITE)
    changes = await client.call("list_changes", limit=1)

    assert done["result"]["isError"] is False
    assert await text_of(client) == "Begin on Tuesday."
    assert changes["structuredContent"]["changes"][0]["approved_by"]


@pytest.mark.parametrize(
    "answer", [NO, {"action": "cancel"}, {"action": "accept", "content": {"confirm": False}}, {"action": "perhaps"}, 7]
)
async def test_anything_but_a_yes_declines_it(client: Alone, answer: Any) -> None:
    asked = await client.call("write_file", **WRITE)

    declined = await client.again(asked, answer, "write_file", **WRITE)

    assert declined["result"]["structuredContent"]["code"] == "declined"
    assert await text_of(client) == "Begin on Monday."


@pytest.mark.parametrize("first", [YES, NO])
async def test_an_answer_counts_once(client: Alone, first: dict[str, Any]) -> None:
    asked = await client.call("write_file", **WRITE)
    await client.again(asked, first, "write_file", **WRITE)
    before = await text_of(client)

    again = await client.again(asked, YES, "write_file", **WRITE)

    assert again["result"]["structuredContent"]["code"] == "invalid_argument"
    assert "used before" in again["result"]["structuredContent"]["message"]
    assert await text_of(client) == before


async def test_a_call_that_is_repeated_with_its_key_gets_what_was_recorded(client: Alone) -> None:
    client.meta = {"drive-agent/idempotency-key": "once"}
    asked = await client.call("write_file", **WRITE)
    first = await client.again(asked, YES, "write_file", **WRITE)

    again = await client.again(asked, YES, "write_file", **WRITE)
    without = await client.call("write_file", **WRITE)

    assert first["result"]["_meta"]["drive-agent/replayed"] is False
    assert again["result"]["_meta"]["drive-agent/replayed"] is True
    assert without["_meta"]["drive-agent/replayed"] is True


async def test_of_answers_that_come_at_the_same_time_one_counts(client: Alone) -> None:
    asked = await client.call("append_to_file", **WRITE)

    answers = await asyncio.gather(*(client.again(asked, YES, "append_to_file", **WRITE) for _ in range(4)))

    assert sorted(answer["result"]["isError"] for answer in answers) == [False, True, True, True]
    assert (await text_of(client)).count("Begin on Tuesday.") == 1


async def test_a_yes_without_a_question_only_asks(client: Alone) -> None:
    asked = await client.ask("tools/call", name="write_file", arguments=WRITE, inputResponses={"confirm": YES})

    assert asked["resultType"] == "input_required"
    assert await text_of(client) == "Begin on Monday."


async def test_a_state_without_an_answer_asks_again(client: Alone) -> None:
    asked = await client.call("write_file", **WRITE)
    again = await client.ask("tools/call", name="write_file", arguments=WRITE, requestState=asked["requestState"])

    assert again["resultType"] == "input_required"
    done = await client.again(again, YES, "write_file", **WRITE)
    assert done["result"]["isError"] is False


def forged(state: str) -> str:
    """Return the state for another call: its signature is that of the one which was given."""
    data = urlsafe_b64decode(state + "=" * (-len(state) % 4))
    return urlsafe_b64encode(data.replace(b'"', b"'", 1)).decode().rstrip("=")


STATES: dict[str, Callable[[str], Any]] = {
    "forged": forged,
    "cut": lambda state: state[:-4],
    "spelled otherwise": lambda state: state + "=",
    "empty": lambda _: "",
    "no text": lambda _: 7,
    "long": lambda state: state * 200,
}


@pytest.mark.parametrize("kind", STATES)
async def test_a_state_that_was_not_given_is_refused(client: Alone, kind: str) -> None:
    asked = await client.call("write_file", **WRITE)
    state = STATES[kind](asked["requestState"])

    request = client.request(
        "tools/call", name="write_file", arguments=WRITE, requestState=state, inputResponses={"confirm": YES}
    )
    response = await client.send(request)

    assert (response.status_code, response.json()["error"]["code"]) == (400, -32602)
    assert response.json()["error"]["data"]["messages"]["message"]["zh"]
    assert await text_of(client) == "Begin on Monday."


@pytest.mark.parametrize(
    ("tool", "arguments", "meta"),
    [
        ("write_file", {**WRITE, "content": "Never begin."}, {}),
        ("append_to_file", WRITE, {}),
        ("write_file", {**WRITE, "if_match": "x"}, {}),
        ("write_file", WRITE, {"drive-agent/if-match": "x"}),
        ("write_file", WRITE, {"drive-agent/idempotency-key": "x"}),
    ],
)
async def test_an_answer_is_for_the_call_that_was_asked_about(
    client: Alone, tool: str, arguments: dict[str, Any], meta: dict[str, Any]
) -> None:
    asked = await client.call("write_file", **WRITE)

    client.meta = meta
    refused = await client.again(asked, YES, tool, **arguments)

    assert refused["error"]["code"] == -32602
    client.meta = {}
    assert await text_of(client) == "Begin on Monday."


async def test_an_answer_is_of_the_person_and_the_key_that_were_asked(service: Service, client: Alone) -> None:
    asked = await client.call("write_file", **WRITE)
    async with service.client() as owner:
        made = await owner.post("/api/auth/keys", json={"name": "other", "scopes": ["read", "write"]})
    for key in (await service.add_person("bob@example.com"), made.json()["key"]):
        async with alone(service, key, **ASKS) as other:
            refused = await other.again(asked, YES, "write_file", **WRITE)
            assert refused["error"]["code"] == -32602

    assert await text_of(client) == "Begin on Monday."


async def test_what_changed_while_the_person_thought_is_not_overwritten(client: Alone) -> None:
    asked = await client.call("write_file", **WRITE)
    other = {"file_id": "/plan.md", "content": "Begin on Friday."}
    await client.again(await client.call("write_file", **other), YES, "write_file", **other)

    late = await client.again(asked, YES, "write_file", **WRITE)

    assert late["result"]["structuredContent"]["code"] == "etag_mismatch"
    assert await text_of(client) == "Begin on Friday."


async def test_a_yes_to_deleting_some_deletes_nothing_once_there_is_more(service: Service) -> None:
    key = await service.add_person("carl@example.com")
    async with alone(service, key) as unasked, alone(service, key, **ASKS) as client:
        for name in ("a", "b"):
            await unasked.call("create_folder", name=name)
        await unasked.call("trash_item", item_id="/a")
        asked = await client.call("empty_trash")
        await unasked.call("trash_item", item_id="/b")

        answered = await client.again(asked, YES, "empty_trash")
        trash = await client.call("list_trash")

    assert answered["result"]["structuredContent"]["code"] == "etag_mismatch"
    assert {item["name"] for item in trash["structuredContent"]["items"]} == {"a", "b"}


async def test_an_answer_that_comes_too_late_declines_it(
    drive_settings: DriveSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = questions.State

    def aged(nonce: str, ends: float, *rest: Any) -> questions.State:
        return given(nonce, ends - 61, *rest)

    settings = drive_settings.model_copy(update={"answer_seconds": 60})
    async with running(settings) as service, alone(service, **ASKS) as client:
        await client.call("create_file", name="plan.md", content="Begin on Monday.")
        asked = await client.call("write_file", **WRITE)
        monkeypatch.setattr(questions, "State", aged)
        late = await client.again(asked, YES, "write_file", **WRITE)

        assert late["result"]["structuredContent"]["code"] == "declined"
        assert await text_of(client) == "Begin on Monday."


@pytest.mark.skipif(IS_POSTGRES, reason="used answers are noted in the database there, and outlive the process")
async def test_a_service_that_was_started_anew_asks_anew(drive_settings: DriveSettings) -> None:
    async with running(drive_settings) as service, alone(service, **ASKS) as client:
        await client.call("create_file", name="plan.md", content="Begin on Monday.")
        asked = await client.call("write_file", **WRITE)
    async with running(drive_settings) as service, alone(service, **ASKS) as client:
        refused = await client.again(asked, YES, "write_file", **WRITE)
        assert refused["error"]["code"] == -32602
        assert await text_of(client) == "Begin on Monday."


async def test_a_client_that_can_not_ask_is_held_by_its_scopes_and_dry_runs_ask_nobody(
    service: Service, client: Alone
) -> None:
    client.meta = {"drive-agent/dry-run": True}
    rehearsed = await client.call("write_file", **WRITE)
    async with alone(service) as unasked:
        done = await unasked.call("write_file", **WRITE)

    assert "drive-agent/effect" in rehearsed["_meta"]
    assert done["isError"] is False


async def test_a_call_that_may_become_a_task_asks_before_it_does(service: Service) -> None:
    async with alone(service, await service.add_person("carl@example.com"), **ASKS, **TASKS) as other:
        asked = await other.call("empty_trash")
        declined = await other.again(asked, NO, "empty_trash")
        again = await other.call("empty_trash")
        done = await other.again(again, YES, "empty_trash")

    assert asked["resultType"] == "input_required"
    assert declined["result"]["structuredContent"]["code"] == "declined"
    assert (done["result"]["resultType"], done["result"]["isError"]) == ("complete", False)


async def test_the_state_of_a_question_says_nothing_to_a_session(service: Service, client: Alone) -> None:
    asked = await client.call("write_file", **WRITE)
    async with wired(service) as wire:
        params = {"name": "write_file", "arguments": WRITE, "requestState": asked["requestState"]}
        done = answer_of(await wire.post("tools/call", {**params, "inputResponses": {"confirm": NO}}))["result"]

    assert done["isError"] is False  # this session can't ask, and so acts by its scopes
    late = await client.again(asked, YES, "write_file", **WRITE)
    assert late["result"]["structuredContent"]["code"] == "etag_mismatch"
