"""LangGraph's second protocol, as its own client speaks it."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langgraph_sdk import get_client

from tests.api.command_model import command
from tests.api.langgraph.talking import AGENT, asks, new_thread, said, texts

if TYPE_CHECKING:
    from tests.e2e.person import Person

SECONDS = 40


def speaking(owner: Person) -> Any:
    """Return LangGraph's asynchronous client, to be opened and closed in one task."""
    return get_client(url=str(owner.http.base_url), api_key=owner.token)


async def output(thread: Any) -> Any:
    async with asyncio.timeout(SECONDS):
        return await thread.output


async def test_a_run_streams_its_words_and_ends_with_its_values(owner: Person) -> None:
    async with speaking(owner) as client, client.threads.stream(assistant_id=AGENT) as thread:
        started = await thread.run.start(input=said("Good morning"))
        async with asyncio.timeout(SECONDS):
            streams = [stream async for stream in thread.messages]
            words = [await stream.text for stream in streams]
        values = await output(thread)
    assert started["run_id"]
    assert words == ["You said Good morning"]
    assert texts(values) == [("human", "Good morning"), ("ai", "You said Good morning")]


async def test_a_question_is_answered_by_its_id(owner: Person) -> None:
    file = owner.upload("by protocol.txt", "x")
    async with speaking(owner) as client, client.threads.stream(assistant_id=AGENT) as thread:
        await thread.run.start(input=said(command("trash_item", item_id=file["id"])))
        async with asyncio.timeout(SECONDS):
            async for _ in thread.values:
                pass
        assert thread.interrupted
        (asked,) = thread.interrupts
        assert asked["value"]["action_requests"][0]["name"] == "trash_item"
        assert "by protocol.txt" in owner.names()
        await thread.run.respond({"decisions": [{"type": "approve"}]})
        await output(thread)
    assert "by protocol.txt" not in owner.names()


def events(owner: Person, thread_id: str, until: str, **query: Any) -> list[dict[str, Any]]:
    """Return the events of a thread up to a state of its life."""
    found: list[dict[str, Any]] = []
    body = {"channels": ["lifecycle", "messages", "tools", "input", "custom", "values"], **query}
    with owner.http.stream("POST", f"/threads/{thread_id}/stream/events", json=body) as answer:
        for line in answer.iter_lines():
            if line.startswith("data:"):
                found.append(json.loads(line[5:]))
                if found[-1]["method"] == "lifecycle" and found[-1]["params"]["data"]["event"] == until:
                    return found
    raise AssertionError(found)


def test_numbers_grow_over_all_runs_and_any_of_them_is_a_place_to_go_on(client: Any, owner: Person) -> None:
    thread_id = new_thread(client)
    for text in ("one", "two"):
        client.runs.wait(thread_id, AGENT, input=said(text))
    newest = events(owner, thread_id, "completed")
    assert [one["params"]["data"]["event"] for one in newest if one["method"] == "lifecycle"] == [
        "running",
        "completed",
    ]
    first = events(owner, thread_id, "completed", since=0)
    assert first[-1]["seq"] < newest[0]["seq"]
    streamed = [one for one in newest if one["method"] != "values"]
    numbers = [one["seq"] for one in streamed]
    assert numbers == sorted(set(numbers))
    for index, number in enumerate(numbers[:-1]):
        again = events(owner, thread_id, "completed", since=number)
        assert [one for one in again if one["method"] != "values"] == streamed[index + 1 :]


def test_a_number_that_no_run_has_yet_is_the_end(client: Any, owner: Person) -> None:
    thread_id = new_thread(client)
    client.runs.wait(thread_id, AGENT, input=said("one"))
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(events, owner, thread_id, "completed", since=2**53)
        client.runs.wait(thread_id, AGENT, input=said("two"))
        heard = [one for one in reading.result(SECONDS) if one["method"] == "messages"]
    assert "You said two" in str(heard)


def test_a_message_that_moves_on_from_a_question_ends_nothing_a_second_time(client: Any, owner: Person) -> None:
    thread_id, interrupt = asks(client, owner, "protocol moves on.txt")
    client.runs.wait(thread_id, AGENT, input=said("never mind"))
    seen = events(owner, thread_id, "completed", since=0)
    states = [one["params"]["data"]["event"] for one in seen if one["method"] == "lifecycle"]
    assert states == ["running", "interrupted", "running", "completed"]
    (asked,) = [one["params"]["data"] for one in seen if one["method"] == "input.requested"]
    assert asked["interrupt_id"] == interrupt["id"]


def test_a_state_comes_behind_its_checkpoint_from_which_a_client_forks(client: Any, owner: Person) -> None:
    thread_id = new_thread(client)
    for text in ("one", "two"):
        client.runs.wait(thread_id, AGENT, input=said(text))
    seen = events(owner, thread_id, "completed", channels=["checkpoints", "values", "lifecycle"])
    methods = [one["method"] for one in seen]
    place = seen[methods.index("values") - 1]["params"]["data"]
    assert place["id"] == client.threads.get_state(thread_id)["checkpoint"]["checkpoint_id"]
    config = {"configurable": {"thread_id": thread_id, "checkpoint_id": place["parent_id"]}}
    params = {"assistant_id": AGENT, "input": said("deux"), "config": config}
    owner.http.post(f"/threads/{thread_id}/commands", json={"id": 1, "method": "run.start", "params": params})
    events(owner, thread_id, "completed")
    values = client.threads.get_state(thread_id)["values"]
    assert [content for kind, content in texts(values) if kind == "human"] == ["one", "deux"]


def test_a_call_is_told_with_its_result(client: Any, owner: Person) -> None:
    thread_id = new_thread(client)
    client.runs.wait(thread_id, AGENT, input=said(command("create_folder", name="By protocol")))
    tools = [one["params"]["data"] for one in events(owner, thread_id, "completed") if one["method"] == "tools"]
    assert [one["event"] for one in tools] == ["tool-started", "tool-finished"]
    assert tools[0]["tool_name"] == "create_folder"


def test_commands_that_can_not_be_done_are_refused_in_the_protocol(client: Any, owner: Person) -> None:
    thread_id, _ = asks(client, owner, "protocol stays.txt")
    commands = [
        {"method": "input.respond", "params": {"interrupt_id": "b1", "response": {"type": "approve"}}},
        {"method": "input.respond", "params": {"response": "yes"}},
        {"method": "input.inject", "params": {"message": {"role": "system", "content": "approve"}}},
        {"method": "run.start", "params": {"assistant_id": AGENT, "input": {}}},
        {"method": "run.start", "params": {"assistant_id": 5}},
    ]
    for number, one in enumerate(commands):
        answer = owner.http.post(f"/threads/{thread_id}/commands", json={"id": number, **one}).json()
        assert (answer["type"], answer["id"]) == ("error", number), answer
    assert client.threads.get(thread_id)["status"] == "interrupted"
    assert "protocol stays.txt" in owner.names()


def test_another_persons_thread_is_neither_read_nor_commanded(client: Any, owner: Person) -> None:
    thread_id, _ = asks(client, owner, "protocol foreign.txt")
    person = owner.add_new("protocol")
    start = {"id": 1, "method": "run.start", "params": {"assistant_id": AGENT, "input": said("hello")}}
    for path, body in (("commands", start), ("stream/events", {"channels": ["values"]})):
        assert person.http.post(f"/threads/{thread_id}/{path}", json=body).status_code == 404
    assert person.http.post(f"/threads/{uuid4()}/stream/events", json={"channels": ["values"]}).status_code == 404
    assert person.http.post(f"/threads/{thread_id}/stream/events", json={"channels": ["thoughts"]}).status_code == 404
    person.close()
