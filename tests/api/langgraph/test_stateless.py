"""Runs without a thread, and what a person's programs keep in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from langgraph_sdk.errors import NotFoundError, PermissionDeniedError, UnprocessableEntityError

from tests.api.command_model import command
from tests.api.langgraph.talking import AGENT, said, texts

if TYPE_CHECKING:
    from tests.e2e.person import Person


def threads(owner: Person) -> set[str]:
    return {thread["thread_id"] for thread in owner.get("/api/threads", limit="1000")["items"]}


def until_gone(client: Any, thread_id: str) -> None:
    """Ask for the thread until it is deleted, which follows the answer."""
    for _ in range(1_000):
        try:
            client.threads.get(thread_id)
        except NotFoundError:
            return
    raise AssertionError(thread_id)


def test_a_run_without_a_thread_leaves_none(client: Any, owner: Person) -> None:
    before = threads(owner)
    assert texts(client.runs.wait(None, AGENT, input=said("alone")))[-1] == ("ai", "You said alone")
    parts = [*client.runs.stream(None, AGENT, input=said("alone"), stream_mode="values")]
    assert texts(parts[-1].data)[-1] == ("ai", "You said alone")
    run = client.runs.create(None, AGENT, input=said("alone"))
    until_gone(client, run["thread_id"])
    for left in threads(owner) - before:
        until_gone(client, left)


def test_its_thread_stays_if_the_client_says_so(client: Any) -> None:
    run = client.runs.create(None, AGENT, input=said("kept"), on_completion="keep")
    client.runs.join(run["thread_id"], run["run_id"])
    assert client.threads.get(run["thread_id"])["status"] == "idle"


def test_a_question_without_a_thread_is_answered_by_no(client: Any, owner: Person) -> None:
    file = owner.upload("alone.txt", "x")
    values = client.runs.wait(None, AGENT, input=said(command("trash_item", item_id=file["id"])))
    assert values["__interrupt__"]
    assert "alone.txt" in owner.names()


def test_nothing_is_left_of_a_run_that_is_refused(client: Any, owner: Person) -> None:
    before = threads(owner)
    for wrong in ({"input": {}}, {"input": said("x"), "webhook": "http://127.0.0.1/"}):
        with pytest.raises(UnprocessableEntityError):
            client.runs.create(None, AGENT, **wrong)
    assert threads(owner) <= before


def test_several_runs_begin_at_once_and_are_stopped_together(client: Any, owner: Person) -> None:
    payloads = [{"assistant_id": AGENT, "input": said(text)} for text in ("one", "two")]
    made = client.runs.create_batch(payloads)
    assert len({run["thread_id"] for run in made}) == 2
    client.runs.cancel_many(status="all")
    for run in made:
        until_gone(client, run["thread_id"])
    assert owner.http.post("/runs/cancel", json={}).status_code == 422


def test_a_value_is_kept_found_and_removed(client: Any) -> None:
    store = client.store
    store.put_item(["notes", "work"], "a", {"text": "one", "n": 1})
    store.put_item(["notes", "home"], "b", {"text": "two", "n": 2})
    found = store.get_item(["notes", "work"], "a")
    assert (found["namespace"], found["value"]) == (["notes", "work"], {"text": "one", "n": 1})
    items = store.search_items(["notes"])["items"]
    assert {item["key"] for item in items} == {"a", "b"}
    assert [item["key"] for item in store.search_items(["notes"], filter={"n": 2})["items"]] == ["b"]
    assert {tuple(one) for one in store.list_namespaces(prefix=["notes"])["namespaces"]} == {
        ("notes", "work"),
        ("notes", "home"),
    }
    store.delete_item(["notes", "work"], "a")
    with pytest.raises(NotFoundError):
        store.get_item(["notes", "work"], "a")


@pytest.mark.parametrize("namespace", [["gateway"], ["threads"], ["prompts"], ["clients"]])
def test_no_namespace_leads_out_of_a_persons_own(client: Any, stranger: Any, namespace: list[str]) -> None:
    client.store.put_item(namespace, "secret", {"of": "mine"})
    with pytest.raises(NotFoundError):
        stranger.store.get_item(namespace, "secret")
    assert stranger.store.search_items([])["items"] == []
    assert stranger.store.list_namespaces()["namespaces"] == []
    (listed,) = [item["namespace"] for item in client.store.search_items(namespace)["items"]]
    assert listed == namespace


def test_a_namespace_has_labels_without_dots(client: Any, owner: Person) -> None:
    for wrong in ([], [""], ["a.b"], ["a\x00"]):
        body = {"namespace": wrong, "key": "k", "value": {}}
        assert owner.http.put("/store/items", json=body).status_code == 422
    assert client.store.search_items(["a"])["items"] == []


def test_a_reading_key_keeps_nothing(reader: Any) -> None:
    with pytest.raises(PermissionDeniedError):
        reader.store.put_item(["notes"], "a", {})
