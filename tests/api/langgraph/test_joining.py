"""`GET /threads/{id}/stream`, as LangGraph's client joins a thread: all runs of it, whoever begins them."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from langgraph_sdk.errors import NotFoundError, UnprocessableEntityError

from tests.api.langgraph.talking import AGENT, asks, new_thread, said, texts

if TYPE_CHECKING:
    from tests.e2e.person import Person

YES: dict[str, Any] = {"decisions": [{"type": "approve"}]}
MODES = ["values", "messages-tuple", "custom"]


def joined(client: Any, thread_id: str, runs: int, last_event_id: str | None = "-1", **more: Any) -> list[Any]:
    """Return the frames of a thread until so many runs of it are done."""
    found: list[Any] = []
    with closing(client.threads.join_stream(thread_id, last_event_id=last_event_id, **more)) as parts:
        for part in parts:
            found.append(part)
            if ended(part):
                runs -= 1
                if not runs:
                    break
    return found


def ended(part: Any) -> bool:
    return part.event == "metadata" and part.data.get("status") == "run_done"


def words(parts: list[Any]) -> str:
    return "".join(part.data[0]["content"] for part in parts if part.event == "messages")


def test_it_follows_the_runs_of_a_thread_by_whichever_door_they_begin(client: Any, owner: Person) -> None:
    thread_id = new_thread(client)
    first = client.runs.create(thread_id, AGENT, input=said("one"), stream_mode=MODES)["run_id"]
    client.runs.join(thread_id, first)
    found: list[Any] = []
    with closing(client.threads.join_stream(thread_id, last_event_id="-1")) as parts:
        for part in parts:
            found.append(part)
            if ended(part) and part.data["run_id"] == first:
                with owner.chat("two", thread_id=thread_id) as turn:
                    turn.finish()
            elif ended(part):
                break
    assert words(found) == "You said oneYou said two"
    last = [part.data for part in found if part.event == "values"][-1]
    assert texts(last) == [("human", "one"), ("ai", "You said one"), ("human", "two"), ("ai", "You said two")]
    assert [part.event for part in found if part.event == "metadata"] == ["metadata"] * 4


def test_any_id_is_a_place_to_go_on(client: Any) -> None:
    thread_id = new_thread(client)
    for text in ("one", "two"):
        assert [*client.runs.stream(thread_id, AGENT, input=said(text), stream_mode=MODES)]
    whole = joined(client, thread_id, 2)
    numbered = [part for part in whole if part.event in {"messages", "custom"} and part.id]
    assert len({part.id for part in numbered}) == len(numbered)
    for index in range(0, len(numbered) - 1, 3):
        last = numbered[index].id
        again = joined(client, thread_id, 2 if last.startswith("1-") else 1, last)
        shown = [part for part in again if part.event in {"messages", "custom"}]
        assert [part.data for part in shown[: len(numbered)]] == [part.data for part in numbered[index + 1 :]], last


@pytest.mark.parametrize("place", ["-1", "0", "x", "1e9", "0-0-0", "17-0", "9" * 40, "%00"])
def test_an_id_that_is_none_begins_at_the_first_run(client: Any, place: str) -> None:
    thread_id = new_thread(client)
    client.runs.wait(thread_id, AGENT, input=said("one"))
    client.runs.wait(thread_id, AGENT, input=said("two"))
    parts = joined(client, thread_id, 2, place)
    assert [part.data["attempt"] for part in parts if part.event == "metadata" and not ended(part)] == [1, 1]


@pytest.mark.parametrize("place", [None, "999999999-999999999-9", "7-0-0"])
def test_behind_the_last_run_only_later_ones_come(client: Any, owner: Person, place: str | None) -> None:
    thread_id = new_thread(client)
    client.runs.wait(thread_id, AGENT, input=said("one"))
    headers = {"Last-Event-ID": place} if place else {}
    with owner.http.stream("GET", f"/threads/{thread_id}/stream", headers=headers) as answer:
        lines = answer.iter_lines()
        assert next(lines) == ": heartbeat"
        run_id = client.runs.create(thread_id, AGENT, input=said("two"), stream_mode=MODES)["run_id"]
        first = next(line for line in lines if line.startswith("data:"))
    assert json.loads(first[5:])["run_id"] == run_id


def test_a_question_ends_a_run_and_its_answer_is_another_one(client: Any, owner: Person) -> None:
    thread_id, interrupt = asks(client, owner, "joined.txt")
    answered = client.runs.create(thread_id, AGENT, command={"resume": YES})["run_id"]
    client.runs.join(thread_id, answered)
    parts = joined(client, thread_id, 2, stream_mode="lifecycle")
    first, second = [run["run_id"] for run in client.runs.list(thread_id)][::-1]
    assert [part.data["run_id"] for part in parts] == [first, first, second, second]
    assert second == answered
    whole = joined(client, thread_id, 2)
    assert interrupt["id"] not in str([part.data for part in whole if part.event == "values"][-1])


def test_only_its_owner_joins_a_thread(client: Any, stranger: Any, reader: Any) -> None:
    thread_id = new_thread(client)
    client.runs.wait(thread_id, AGENT, input=said("one"))
    assert joined(reader, thread_id, 1)
    with pytest.raises(NotFoundError):
        joined(stranger, thread_id, 1)
    with pytest.raises(UnprocessableEntityError):
        joined(client, thread_id, 1, stream_mode="thoughts")
