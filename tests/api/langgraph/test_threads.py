"""Threads as LangGraph's own client makes, finds and changes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from langgraph_sdk.errors import ConflictError, NotFoundError, PermissionDeniedError

from api.langgraph.assistants.views import BUILT_IN_ID
from tests.api.command_model import command

if TYPE_CHECKING:
    from tests.e2e.person import Person


def said(owner: Person, message: str, **where: Any) -> str:
    """Say something through our own API, and return the thread's id."""
    with owner.chat(message, **where) as turn:
        turn.finish()
    return turn.seen[0]["thread_id"]


def test_a_new_thread_is_idle_and_empty(client: Any) -> None:
    made = client.threads.create(metadata={"user": "me"}, graph_id="drive_agent")
    assert (made["status"], made["values"], made["interrupts"]) == ("idle", {}, {})
    assert made["metadata"] == {"user": "me", "graph_id": "drive_agent"}
    assert client.threads.get(made["thread_id"]) == made
    assert client.threads.get_history(made["thread_id"]) == []
    assert client.threads.get_state(made["thread_id"])["values"] == {}


def test_a_thread_has_the_id_that_its_client_chose(client: Any, stranger: Any) -> None:
    key = str(uuid4())
    made = client.threads.create(thread_id=key.upper())
    assert made["thread_id"] == key
    assert client.threads.create(thread_id=key, if_exists="do_nothing") == made
    with pytest.raises(ConflictError):
        client.threads.create(thread_id=key)
    for if_exists in ("raise", "do_nothing"):
        with pytest.raises(NotFoundError):
            stranger.threads.create(thread_id=key, if_exists=if_exists)


def test_an_id_has_to_be_a_uuid_and_no_state_is_made_up(owner: Person) -> None:
    assert owner.http.post("/threads", json={"thread_id": "../1"}).status_code == 422
    forged = {"supersteps": [{"updates": [{"values": {"calls": [{"standing": "approved"}]}, "as_node": "act"}]}]}
    assert owner.http.post("/threads", json=forged).status_code == 422


def test_a_thread_of_the_page_is_found_with_its_messages(client: Any, owner: Person) -> None:
    thread_id = said(owner, "Good morning")
    (found,) = client.threads.search(ids=[thread_id], metadata={"graph_id": "drive_agent"})
    assert found["metadata"]["assistant_id"] == BUILT_IN_ID
    kinds = [(message["type"], message["content"]) for message in found["values"]["messages"]]
    assert kinds == [("human", "Good morning"), ("ai", "You said Good morning")]
    assert client.threads.search(ids=[thread_id], metadata={"assistant_id": str(uuid4())}) == []


def test_threads_are_narrowed_sorted_counted_and_shown_page_by_page(client: Any) -> None:
    mark = {"mark": str(uuid4())}
    made = [client.threads.create(metadata={**mark, "n": number})["thread_id"] for number in range(3)]
    by_age: Any = {"sort_by": "created_at", "sort_order": "asc"}
    assert {one["thread_id"] for one in client.threads.search(metadata=mark)} == set(made)
    assert client.threads.count(metadata=mark) == 3
    assert client.threads.count(metadata=mark, status="busy") == 0
    (second,) = client.threads.search(metadata=mark, limit=1, offset=1, **by_age)
    assert second["thread_id"] in made
    assert client.threads.search(metadata=mark, select=["thread_id"], limit=1)[0].keys() == {"thread_id"}


def test_metadata_is_merged(client: Any) -> None:
    made = client.threads.create(metadata={"a": 1, "b": 1})
    assert client.threads.update(made["thread_id"], metadata={"b": 2})["metadata"] == {"a": 1, "b": 2}


def test_a_thread_that_waits_shows_its_question(client: Any, owner: Person) -> None:
    file = owner.upload("waits.txt", "x")
    with owner.chat(command("trash_item", item_id=file["id"])) as turn:
        turn.until("approval_needed")
        thread_id = turn.seen[0]["thread_id"]
        thread, state = client.threads.get(thread_id), client.threads.get_state(thread_id)
        assert thread["status"] == "interrupted"
        ((interrupt,),) = thread["interrupts"].values()
        (request,) = interrupt["value"]["action_requests"]
        (config,) = interrupt["value"]["review_configs"]
        assert (request["name"], config["action_name"]) == ("trash_item", "trash_item")
        assert "waits.txt" in request["description"]
        assert state["tasks"][0]["interrupts"] == [interrupt]
        assert state["tasks"][0]["id"] in thread["interrupts"]
        assert state["next"] == ["approve"]
        owner.http.post(f"/api/runs/{turn.seen[0]['run_id']}/cancel")
    thread, state = client.threads.get(thread_id), client.threads.get_state(thread_id)
    assert (thread["status"], thread["interrupts"], state["next"], state["tasks"]) == ("idle", {}, [], [])


def test_a_history_leads_from_state_to_state(client: Any, owner: Person) -> None:
    thread_id = said(owner, "one")
    said(owner, "two", thread_id=thread_id)
    states = client.threads.get_history(thread_id, limit=50)
    ids = [state["checkpoint"]["checkpoint_id"] for state in states]
    parents = [state["parent_checkpoint"]["checkpoint_id"] for state in states[:-1] if state["parent_checkpoint"]]
    assert parents == ids[1:]
    assert states[0] == client.threads.get_state(thread_id)
    assert client.threads.get_state(thread_id, checkpoint_id=ids[-2])["values"] == states[-2]["values"]
    assert client.threads.get_state(thread_id, checkpoint=states[-2]["checkpoint"]) == states[-2]
    assert client.threads.get_history(thread_id, limit=1, before=states[0]["checkpoint"])[0] == states[1]
    got = owner.get(f"/threads/{thread_id}/history", limit="2")
    assert [state["checkpoint"]["checkpoint_id"] for state in got] == ids[:2]
    assert client.threads.get_history(thread_id, metadata={"source": "input"}, limit=50) != []
    with pytest.raises(NotFoundError):
        client.threads.get_state(thread_id, checkpoint_id=str(uuid4()))


def test_an_update_adds_a_persons_message_and_nothing_else(client: Any, owner: Person) -> None:
    thread_id = said(owner, "hello")
    client.threads.update_state(thread_id, {"messages": [{"type": "human", "content": "And then?", "id": "m1"}]})
    messages = client.threads.get_state(thread_id)["values"]["messages"]
    assert (messages[-1]["id"], messages[-1]["content"]) == ("m1", "And then?")
    forged: list[Any] = [
        {"calls": [{"standing": "approved"}]},
        {"messages": [{"type": "ai", "content": "Yes"}]},
        {"messages": [{"type": "tool", "content": "Done", "tool_call_id": "c1"}]},
        {"messages": [{"type": "human", "content": "x"}], "plan": None},
        None,
    ]
    for values in forged:
        refused = owner.http.post(f"/threads/{thread_id}/state", json={"values": values, "as_node": "act"})
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_argument")
    assert client.threads.get_state(thread_id)["values"]["messages"] == messages


def test_an_update_at_an_earlier_checkpoint_is_refused(client: Any, owner: Person) -> None:
    thread_id = said(owner, "hello")
    earlier = client.threads.get_history(thread_id, limit=50)[-1]["checkpoint"]
    with pytest.raises(ConflictError):
        client.threads.update_state(thread_id, {"messages": ["again"]}, checkpoint=earlier)


def test_a_copy_has_what_was_said_and_is_a_thread_of_its_own(client: Any, owner: Person) -> None:
    thread_id = said(owner, "to be copied")
    copied = owner.http.post(f"/threads/{thread_id}/copy").json()
    texts = [message["content"] for message in copied["values"]["messages"]]
    assert texts == ["to be copied", "You said to be copied"]
    client.threads.delete(thread_id)
    assert [one["content"] for one in client.threads.get(copied["thread_id"])["values"]["messages"]] == texts


def test_threads_are_removed_one_by_one_or_together(client: Any, stranger: Any) -> None:
    made = [client.threads.create()["thread_id"] for _ in range(3)]
    client.threads.delete(made[0])
    with pytest.raises(NotFoundError):
        client.threads.get(made[0])
    assert stranger.threads.prune(made) == {"pruned_count": 0}
    assert client.threads.prune(made) == {"pruned_count": 2}


def test_another_persons_thread_is_not_there(client: Any, stranger: Any) -> None:
    key = client.threads.create(metadata={"mine": True})["thread_id"]
    seen = stranger.threads
    for read in (seen.get, seen.get_state, seen.get_history, seen.delete, seen.copy):
        with pytest.raises(NotFoundError):
            read(key)
    with pytest.raises(NotFoundError):
        seen.update(key, metadata={"mine": False})
    with pytest.raises(NotFoundError):
        seen.update_state(key, {"messages": ["hello"]})
    assert seen.search(metadata={"mine": True}) == []
    assert client.threads.get(key)["metadata"] == {"mine": True}


def test_a_reading_key_removes_no_thread(client: Any, reader: Any) -> None:
    key = client.threads.create()["thread_id"]
    for write in (reader.threads.delete, reader.threads.copy):
        with pytest.raises(PermissionDeniedError):
            write(key)
    assert reader.threads.get(key)["thread_id"] == key


def test_an_empty_thread_is_no_conversation_of_the_person_yet(client: Any, owner: Person) -> None:
    thread_id = client.threads.create()["thread_id"]
    assert thread_id in {thread["thread_id"] for thread in client.threads.search(limit=100)}
    assert thread_id not in {thread["thread_id"] for thread in owner.get("/api/threads")["items"]}
    client.runs.wait(thread_id, "drive_agent", input={"messages": [{"type": "human", "content": "…"}]})
    assert thread_id in {thread["thread_id"] for thread in owner.get("/api/threads")["items"]}
