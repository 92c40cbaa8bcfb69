from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from api.approvals.service import Approvals
from tests.api.fakes import Gate

if TYPE_CHECKING:
    from tests.api.serving import RunningService
    from tests.e2e.person import Person


def talk(person: Person, message: str) -> str:
    with person.chat(message) as turn:
        turn.finish()
    return turn.seen[0]["thread_id"]


def test_threads_are_listed_newest_first_page_by_page(alice: Person, bob: Person) -> None:
    ids = [talk(alice, f"say {number}") for number in range(5)]
    talk(bob, "say mine")
    found: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        page = alice.get("/api/threads", limit="2", **cursor)
        found += [thread["thread_id"] for thread in page["items"]]
        if not page["cursor"]:
            break
        cursor = {"cursor": page["cursor"]}
    assert sorted(found) == sorted(ids)
    assert len(found) == 5


@pytest.mark.parametrize("cursor", ["x", "AAAA", "線", "=" * 100])
def test_a_made_up_cursor_is_refused(alice: Person, cursor: str) -> None:
    response = alice.http.get("/api/threads", params={"cursor": cursor})
    assert response.status_code == 422


@pytest.mark.parametrize("limit", ["0", "-1", "1001", "x"])
def test_a_limit_out_of_range_is_refused(alice: Person, limit: str) -> None:
    assert alice.http.get("/api/threads", params={"limit": limit}).status_code == 422


def test_a_thread_is_called_by_its_first_message_until_it_is_renamed(alice: Person) -> None:
    thread_id = talk(alice, "say  the\tannual\nreport")
    assert alice.get(f"/api/threads/{thread_id}")["title"] == "say the annual"
    renamed = alice.http.patch(f"/api/threads/{thread_id}", json={"title": " 年度报告 📊 "})
    assert renamed.json()["title"] == "年度报告 📊"
    assert alice.get("/api/threads")["items"][0]["title"] == "年度报告 📊"


@pytest.mark.parametrize("title", ["", "  ", 7, None, ["a"], "a\0b", "a\x1b[2J"])
def test_a_title_needs_text(alice: Person, title: Any) -> None:
    thread_id = talk(alice, "say hi")
    assert alice.http.patch(f"/api/threads/{thread_id}", json={"title": title}).status_code == 422
    assert alice.get(f"/api/threads/{thread_id}")["title"] == "say hi"


def test_a_thread_shows_the_message_the_run_and_the_approval_that_waits(alice: Person) -> None:
    with alice.chat("share it") as turn:
        approval = turn.until("approval_needed")
        thread = alice.get(f"/api/threads/{turn.seen[0]['thread_id']}")
        assert thread["messages"][0] == {**thread["messages"][0], "role": "user", "text": "share it"}
        assert thread["messages"][1]["tool_calls"][0]["name"] == "share_item"
        assert thread["run"]["status"] == "waiting"
        assert thread["approval"]["approval_id"] == approval["approval_id"]
        alice.answer(approval, "approve")
        turn.finish()
    thread = alice.get(f"/api/threads/{turn.seen[0]['thread_id']}")
    assert [message["role"] for message in thread["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert thread["approval"] is None
    assert thread["run"]["status"] == "success"


def test_a_long_thread_is_read_from_its_end(alice: Person) -> None:
    thread_id = talk(alice, "say one")
    with alice.chat("say two", thread_id=thread_id) as turn:
        turn.finish()
    thread = alice.get(f"/api/threads/{thread_id}", limit="2")
    assert [message["text"] for message in thread["messages"]] == ["say two", "two"]
    assert thread["has_earlier"] is True


def test_a_deleted_thread_is_gone_with_all_that_was_said(alice: Person) -> None:
    with alice.chat("say secret") as turn:
        turn.finish()
    thread_id, run_id = turn.seen[0]["thread_id"], turn.seen[0]["run_id"]
    assert alice.http.delete(f"/api/threads/{thread_id}").status_code == 204
    assert alice.get("/api/threads")["items"] == []
    for response in (
        alice.http.get(f"/api/threads/{thread_id}"),
        alice.http.get(f"/api/runs/{run_id}/events"),
        alice.http.delete(f"/api/threads/{thread_id}"),
        alice.http.post("/api/chat", json={"message": "say hi", "thread_id": thread_id}),
    ):
        assert response.status_code == 404


def test_nothing_of_a_deleted_thread_stays_on_disk(service: RunningService, alice: Person) -> None:
    thread_id = talk(alice, "say Xylophon")
    alice.http.delete(f"/api/threads/{thread_id}")
    alice.close()
    service.stop()
    for name in ("api.db", "graph.db"):
        tables = rows_of(service.parts.data_dir / name)
        assert "Xylophon" not in tables


def rows_of(path: Any) -> str:
    connection = sqlite3.connect(path)
    dump = "\n".join(connection.iterdump())
    connection.close()
    return dump


def test_a_thread_at_work_is_not_deleted(service: RunningService, alice: Person) -> None:
    with alice.chat("slow a b") as turn:
        thread_id = turn.until("run")["thread_id"]
        refused = alice.http.delete(f"/api/threads/{thread_id}")
        assert refused.status_code == 409
        assert refused.json()["code"] == "thread_busy"
        service.parts.graph.gate.open()
        turn.finish()


def test_deleting_a_thread_that_waits_rejects_its_approval(service: RunningService, alice: Person) -> None:
    with alice.chat("delete it") as turn:
        approval = turn.until("approval_needed")
        assert alice.http.delete(f"/api/threads/{turn.seen[0]['thread_id']}").status_code == 204
        assert turn.until("done")["status"] == "cancelled"
    assert alice.answer(approval, "approve").status_code == 404
    assert service.parts.drive.effects == []


def test_a_thread_whose_run_ends_while_it_is_deleted_is_deleted(
    service: RunningService, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, waiting = Gate(), Approvals.waiting

    async def late(*given: Any) -> Any:
        found = await waiting(*given)
        await gate.wait()
        return found

    with alice.chat("write it") as turn, ThreadPoolExecutor(1) as pool:
        thread_id = turn.until("run")["thread_id"]
        asked = turn.until("approval_needed")
        monkeypatch.setattr(Approvals, "waiting", late)
        deleted = pool.submit(alice.http.delete, f"/api/threads/{thread_id}")
        assert gate.reached.wait(20)
        assert alice.answer(asked, "approve").status_code == 200
        turn.finish()
        gate.open()
        assert deleted.result().status_code == 204
    assert len(service.parts.drive.effects) == 1


def test_somebody_elses_thread_is_unknown(alice: Person, bob: Person) -> None:
    thread_id = talk(alice, "say mine")
    for method, body in (("GET", None), ("PATCH", {"title": "yours"}), ("DELETE", None)):
        theirs = bob.http.request(method, f"/api/threads/{thread_id}", json=body)
        unknown = bob.http.request(method, "/api/threads/00000000-0000-0000-0000-000000000000", json=body)
        assert theirs.status_code == unknown.status_code == 404
        assert theirs.json() == unknown.json()
    assert alice.get(f"/api/threads/{thread_id}")["title"] == "say mine"


def test_a_reading_key_neither_renames_nor_deletes(service: RunningService, alice: Person) -> None:
    thread_id = talk(alice, "say mine")
    reader = service.person("alice-reader")
    assert reader.http.patch(f"/api/threads/{thread_id}", json={"title": "x"}).status_code == 403
    assert reader.http.delete(f"/api/threads/{thread_id}").json()["details"] == {"scope": "write"}
    assert reader.get(f"/api/threads/{thread_id}")["title"] == "say mine"
    reader.close()
