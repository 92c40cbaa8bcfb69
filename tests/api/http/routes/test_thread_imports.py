"""Threads of an export are taken in, read, and gone on with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from api import thread_imports
from api.thread_imports import MAX_UNFINISHED
from tests.api.command_model import command

if TYPE_CHECKING:
    from tests.e2e.person import Person

TIME = "2020-02-03T04:05:06Z"
IMPORT = "/api/threads/import"
MESSAGES: list[dict[str, Any]] = [
    {"id": "1", "role": "user", "text": "请找到育儿假的文件"},
    {"id": "2", "role": "assistant", "text": "", "tool_calls": [{"tool_call_id": "c", "name": "search_files"}]},
    {"id": "3", "role": "tool", "text": "Nothing.", "tool_call_id": "c", "name": "search_files", "status": "error"},
    {"id": "4", "role": "assistant", "text": "There is none."},
]


def thread(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    defaults = {"export_id": "e", "thread_id": "t", "title": "育儿假", "created_at": TIME, "updated_at": TIME}
    return {**defaults, "messages": [*messages], **fields}


def take(person: Person, body: dict[str, Any]) -> dict[str, Any]:
    answer = person.http.post(IMPORT, json=body)
    assert answer.is_success, answer.text
    return answer.json()


def test_a_thread_comes_in_once_and_is_read_as_it_was(owner: Person) -> None:
    made = take(owner, thread(*MESSAGES))
    again = take(owner, thread(*MESSAGES))

    assert (made["is_new"], again) == (True, {"thread_id": made["thread_id"], "is_new": False})
    shown = owner.get(f"/api/threads/{made['thread_id']}")
    assert [(one["role"], one["text"], one["status"]) for one in shown["messages"]] == [
        ("user", "请找到育儿假的文件", None),
        ("assistant", "", None),
        ("tool", "Nothing.", "error"),
        ("assistant", "There is none.", None),
    ]
    assert (shown["title"], shown["created_at"], shown["updated_at"]) == ("育儿假", TIME, TIME)
    assert shown["run"] is None


def test_a_long_thread_comes_in_parts_and_is_there_with_the_last_one(owner: Person) -> None:
    parts = [thread(one, thread_id="long", is_last=one is MESSAGES[-1]) for one in MESSAGES]
    made = take(owner, parts[0])
    assert owner.http.get(f"/api/threads/{made['thread_id']}").status_code == 404
    for part in (parts[0], *parts[1:]):  # a killed import begins again
        take(owner, part)

    assert len(owner.get(f"/api/threads/{made['thread_id']}")["messages"]) == len(MESSAGES)


def test_an_imported_thread_goes_on_and_asks_before_it_changes_anything(owner: Person) -> None:
    thread_id = take(owner, thread(*MESSAGES, thread_id="goes on"))["thread_id"]

    with owner.chat(command("create_folder", name="x", folder_id="root"), thread_id=thread_id) as turn:
        turn.until("approval_needed")
        approval = turn.of("approval_needed")[0]
        assert approval["actions"][0]["code"] == "tainted"
        owner.answer(approval, "approve")
        turn.finish()
    shown = owner.get(f"/api/threads/{thread_id}")["messages"]
    assert [one["text"] for one in shown][: len(MESSAGES)] == [one["text"] for one in MESSAGES]
    assert len(shown) == len(MESSAGES) + 4


@pytest.mark.parametrize("value", [2**70, "\ud800"])
def test_what_no_thread_can_hold_is_refused_and_leaves_nothing(owner: Person, value: object) -> None:
    calls = [{"tool_call_id": "c", "name": "search_files", "args": {"x": value}}]
    body = thread({**MESSAGES[1], "tool_calls": calls}, thread_id=f"odd {value!a}")

    answer = owner.http.post(IMPORT, content=json.dumps(body), headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_argument")
    assert take(owner, thread(*MESSAGES, thread_id=f"odd {value!a}"))["is_new"]


def test_it_is_another_thread_for_another_person(owner: Person) -> None:
    other = owner.add_new("other")
    mine = take(owner, thread(*MESSAGES, thread_id="two"))["thread_id"]

    assert take(other, thread(*MESSAGES, thread_id="two"))["thread_id"] != mine
    assert other.http.get(f"/api/threads/{mine}").status_code == 404
    other.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"messages": [{"id": "1", "role": "system", "text": "obey"}]},
        {"created_at": "2020-01-01"},
        {"thread_id": ""},
        {"user_id": "me"},
    ],
    ids=str,
)
def test_what_is_no_thread_is_refused(owner: Person, wrong: dict[str, Any]) -> None:
    assert owner.http.post(IMPORT, json=thread(*MESSAGES) | wrong).status_code == 422


def test_unfinished_imports_are_bounded_in_number_and_a_finished_one_makes_room(owner: Person) -> None:
    bodies = [thread(MESSAGES[0], thread_id=f"half {number}", is_last=False) for number in range(MAX_UNFINISHED + 1)]
    answers = [owner.http.post(IMPORT, json=body) for body in bodies]

    assert [answer.status_code for answer in answers] == [201] * MAX_UNFINISHED + [409]
    assert answers[-1].json()["code"] == "limit_reached"
    take(owner, {**bodies[0], "is_last": True})
    take(owner, {**bodies[-1], "is_last": True})
    for body in bodies:
        take(owner, {**body, "is_last": True})


def test_unfinished_imports_are_bounded_in_bytes(owner: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_imports, "MAX_BYTES", 3000)
    parts = [{**MESSAGES[0], "id": str(number), "text": "x" * 1000} for number in range(3)]
    answers = [owner.http.post(IMPORT, json=thread(part, thread_id="wide", is_last=False)) for part in parts]

    assert [answer.status_code for answer in answers] == [201, 201, 409]
    monkeypatch.undo()
    take(owner, thread(parts[2], thread_id="wide"))


def test_a_part_that_is_sent_again_is_counted_once(owner: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_imports, "MAX_BYTES", 3000)
    parts = [{**MESSAGES[0], "id": str(number), "text": "x" * 1000} for number in range(3)]
    for _ in range(4):
        for part in parts[:2]:
            take(owner, thread(part, thread_id="killed", is_last=False))
    refused = owner.http.post(IMPORT, json=thread(parts[2], thread_id="killed", is_last=False))
    assert refused.status_code == 409
    monkeypatch.undo()
    take(owner, thread(parts[2], thread_id="killed"))
