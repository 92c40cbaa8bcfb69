from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from api.approvals.service import Approvals
from tests.api.fakes import Gate
from tests.api.serving import RunningService, SmallService, execute

if TYPE_CHECKING:
    from pathlib import Path

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


@pytest.mark.sqlite("looks into the files of the databases")
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


def found(person: Person, words: str, **query: str) -> list[str]:
    return [thread["title"] for thread in person.get("/api/threads", q=words, **query)["items"]]


@pytest.mark.parametrize(
    ("words", "titles"),
    [
        ("leave", ["say parental leave"]),
        ("PAREN leav", ["say parental leave"]),
        ("rental", []),
        ("育儿假", ["say 育儿假的规定"]),
        ("儿假 规定", ["say 育儿假的规定"]),
        ("育兒假", ["say 育儿假的规定"]),
        ("儿育", []),
        ("INV-2024", ["say INV-2024-0031"]),
        ("say", ["say INV-2024-0031", "say 育儿假的规定", "say parental leave"]),
        ("parental 规定", []),
        ("%", []),
        ("_ '", []),
    ],
)
def test_threads_are_found_by_words_that_were_said(alice: Person, bob: Person, words: str, titles: list[str]) -> None:
    for message in ("say parental leave", "say 育儿假的规定", "say INV-2024-0031"):
        talk(alice, message)
    talk(bob, "say parental leave of Bob")
    assert sorted(found(alice, words)) == sorted(titles)


def test_threads_are_found_by_their_answers_earlier_versions_and_newest_titles(alice: Person) -> None:
    with alice.chat("share Quitte") as turn:
        alice.answer(turn.until("approval_needed"), "approve")
        turn.finish()
    thread_id = turn.seen[0]["thread_id"]
    assert found(alice, "done quitte") == ["share Quitte"]
    alice.http.patch(f"/api/threads/{thread_id}", json={"title": "Fruit"})
    path = f"/api/threads/{thread_id}/messages/{turn.seen[0]['run_id']}/edit"
    assert alice.http.post(path, json={"message": "say Birne"}).is_success
    for words in ("fruit", "quitte", "birne"):
        assert found(alice, words) == ["Fruit"]
    alice.http.delete(f"/api/threads/{thread_id}")
    assert found(alice, "quitte") == []


def test_found_threads_come_page_by_page(alice: Person) -> None:
    for number in range(5):
        talk(alice, f"say {'even' if number % 2 == 0 else 'odd'} {number}")
    page = alice.get("/api/threads", q="even", limit="2")
    rest = alice.get("/api/threads", q="even", limit="2", cursor=page["cursor"])
    titles = [thread["title"] for thread in [*page["items"], *rest["items"]]]
    assert sorted(titles) == ["say even 0", "say even 2", "say even 4"]
    assert rest["cursor"] is None
    assert alice.http.get("/api/threads", params={"q": "odd", "cursor": page["cursor"]}).status_code == 422


def test_answers_that_an_earlier_program_left_out_are_found_after_a_start(tmp_path: Path) -> None:
    running = RunningService(SmallService(tmp_path)).start()
    alice = running.person()
    with alice.chat("write it") as turn:
        alice.answer(turn.until("approval_needed"), "approve")
        turn.finish()
    alice.close()
    running.stop()
    execute(tmp_path, "UPDATE thread_words SET is_whole = false, words = ' write it ' WHERE id <> thread_id")
    running = RunningService(SmallService(tmp_path)).start()
    alice = running.person()
    while not execute(tmp_path, "SELECT 1 FROM thread_words WHERE is_whole AND id <> thread_id"):
        alice.get("/api/threads")
    assert found(alice, "done") == ["write it"]
    alice.close()
    running.stop()


def test_a_thread_is_exported_for_people_and_for_programs(alice: Person) -> None:
    with alice.chat("share it") as turn:
        alice.answer(turn.until("approval_needed"), "approve")
        turn.finish()
    thread_id = turn.seen[0]["thread_id"]
    alice.http.patch(f"/api/threads/{thread_id}", json={"title": "A `share` 分享"})
    path = f"/api/threads/{thread_id}/export"
    text = alice.http.get(path)
    assert text.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "filename*=UTF-8''A%20%60share%60%20%E5%88%86%E4%BA%AB.md" in text.headers["content-disposition"]
    lines = [line for line in text.text.splitlines() if line and not line.startswith("Exported")]
    call = '- `share_item {"n":1}` — done'
    assert lines == ["# A \\`share\\` 分享", "## You", "share it", "## Assistant", call, "done"]
    chinese = alice.http.get(path, headers={"Accept-Language": "zh-CN"}).text
    assert "## 助手" in chinese
    assert "— 已完成" in chinese
    exported = alice.get(path, format="json")
    assert exported["schema_version"] == 1
    assert [message["role"] for message in exported["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert exported["messages"][1]["tool_calls"][0]["args"] == {"n": 1}
    assert exported["messages"][2]["status"] == "done"
    assert [(run["run_id"], run["status"]) for run in exported["runs"]] == [(turn.seen[0]["run_id"], "success")]
    assert alice.http.get("/api/threads/nothing/export").status_code == 404
    assert alice.http.get(path, params={"format": "docx"}).status_code == 422


def test_runs_are_listed_by_thread_and_state(alice: Person, bob: Person) -> None:
    thread_id = talk(alice, "say one")
    with alice.chat("fail now", thread_id=thread_id) as turn:
        turn.until("error")
    talk(alice, "say elsewhere")
    talk(bob, "say mine")
    assert len(alice.get("/api/runs")["items"]) == 3
    mine = alice.get("/api/runs", thread_id=thread_id)["items"]
    assert sorted(run["status"] for run in mine) == ["error", "success"]
    failed = alice.http.get("/api/runs", params={"status": ["error", "cancelled"]}).json()["items"]
    assert [run["run_id"] for run in failed] == [turn.seen[0]["run_id"]]
    first = alice.get("/api/runs", limit="2")
    rest = alice.get("/api/runs", limit="2", cursor=first["cursor"])
    assert len({run["run_id"] for run in [*first["items"], *rest["items"]]}) == 3
    assert rest["cursor"] is None
    assert bob.get("/api/runs", thread_id=thread_id)["items"] == []
    assert alice.http.get("/api/runs", params={"status": "odd"}).status_code == 422
    assert alice.http.get("/api/runs", params={"cursor": first["cursor"], "thread_id": thread_id}).status_code == 422


def test_a_title_turns_nothing_that_stands_around_it(alice: Person) -> None:
    with alice.chat("hello") as turn:
        turn.finish()
    thread_id = turn.seen[0]["thread_id"]
    alice.http.patch(f"/api/threads/{thread_id}", json={"title": "invoice\u202egpj.exe \u2067שלום"})
    (listed,) = [one for one in alice.get("/api/threads")["items"] if one["thread_id"] == thread_id]
    assert listed["title"] == "invoicegpj.exe \u2067שלום\u2069"
    text = alice.http.get(f"/api/threads/{thread_id}/export")
    assert text.text.startswith("# invoicegpj.exe שלום\n")
    assert "%E2%80%AE" not in text.headers["content-disposition"]
