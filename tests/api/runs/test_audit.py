"""The audit of a run leads to its calls, their approvals, and the versions that they made: in the real application."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes.chat_model import tool_call, tool_calls

if TYPE_CHECKING:
    from tests.api.real_service import World
    from tests.e2e.person import Person


@pytest.fixture
def alice(world: World) -> Person:
    return world.person("alice")


def audit_of(person: Person, run_id: str) -> dict[str, Any]:
    return person.get(f"/api/runs/{run_id}/audit")


def run(person: Person, said: str, kind: str = "approve", **decision: Any) -> str:
    """Let a run go through, answering its approvals; return its id."""
    with person.chat(said) as turn:
        while (event := turn.until("approval_needed", "done", "error"))["type"] == "approval_needed":
            answered = person.answer(event, kind, **decision)
            assert answered.is_success, answered.text
    assert event["type"] == "done", event
    return event["run_id"]


def test_an_approved_call_leads_to_the_version_it_made_and_to_who_approved_it(world: World, alice: Person) -> None:
    item = alice.upload("Contract.md", "30 days")
    edits = [{"find": "30", "replace": "45"}]
    world.model.script = [tool_call("patch_file", "p1", file_id=item["id"], edits=edits), "Done."]
    run_id = run(alice, "replace 30 with 45 in Contract.md")
    audit = audit_of(alice, run_id)
    assert (audit["started_by"], audit["mode"], audit["status"]) == (alice.email, "attended", "success")
    assert "replace 30" in audit["message"]
    (call,) = audit["calls"]
    assert (call["tool"], call["tool_call_id"], call["status"], call["covered_by"]) == (
        "patch_file",
        "p1",
        "done",
        None,
    )
    assert call["args"]["edits"] == edits
    (asked,) = call["asked"]
    assert (asked["status"], asked["decision"], asked["decided_by"]) == ("decided", "approve", alice.email)
    (change,) = call["changes"]
    assert change["versions"] == [{"file_id": item["id"], "before": 1, "after": 2}]
    assert (change["approved_by"], change["approval_id"]) == (alice.email, asked["approval_id"])
    assert change["grant_id"] is None
    assert audit["other_changes"] == []


def test_the_journal_alone_has_the_whole_chain_in_one_row(world: World, alice: Person) -> None:
    item = alice.upload("a.txt", "x")
    world.model.script = [tool_call("trash_item", "t1", item_id=item["id"]), "Gone."]
    run_id = run(alice, "delete a.txt")
    (row,) = alice.get("/api/drive/changes", run_id=run_id)["changes"]
    assert (row["run_id"], row["tool_call_id"], row["tool"]) == (run_id, "t1", "trash_item")
    assert row["approved_by"] == alice.email
    assert row["approval_id"] == audit_of(alice, run_id)["calls"][0]["asked"][0]["approval_id"]


def test_a_call_that_nobody_had_to_allow_says_so(world: World, alice: Person) -> None:
    world.model.script = [tool_call("create_folder", "c1", name="New"), "Done."]
    (call,) = audit_of(alice, run(alice, "create the folder New"))["calls"]
    assert (call["asked"], call["covered_by"]) == ([], None)
    assert [change["approved_by"] for change in call["changes"]] == [None]


def test_a_rejected_call_is_there_with_who_rejected_it_and_why_and_changed_nothing(world: World, alice: Person) -> None:
    item = alice.upload("a.txt", "x")
    world.model.script = [
        tool_calls(tool_call("trash_item", "t1", item_id=item["id"]), tool_call("list_folder", "l1", folder_id="root")),
        "Kept.",
    ]
    audit = audit_of(alice, run(alice, "delete a.txt", "reject", message="keep it"))
    by_id = {call["tool_call_id"]: call for call in audit["calls"]}
    assert by_id["t1"]["status"] == "rejected"
    assert by_id["t1"]["changes"] == []
    (asked,) = by_id["t1"]["asked"]
    assert (asked["decision"], asked["message"], asked["decided_by"]) == ("reject", "keep it", alice.email)
    assert (by_id["l1"]["status"], by_id["l1"]["asked"]) == ("done", [])


def test_an_expired_approval_is_there_with_nobody_who_answered(world: World, alice: Person) -> None:
    item = alice.upload("a.txt", "x")
    world.model.script = [tool_call("trash_item", "t1", item_id=item["id"]), "Nobody answered."]
    with alice.chat("delete a.txt") as turn:
        turn.until("approval_needed")
        world.clock.advance(301)
        run_id = turn.until("done")["run_id"]
    (call,) = audit_of(alice, run_id)["calls"]
    assert call["status"] == "rejected"
    (asked,) = call["asked"]
    assert (asked["status"], asked["decision"], asked["decided_by"]) == ("expired", None, None)
    assert call["changes"] == []


def test_an_approval_that_still_waits_and_one_that_was_cancelled_are_there(world: World, alice: Person) -> None:
    item = alice.upload("a.txt", "x")
    world.model.script = [tool_call("trash_item", "t1", item_id=item["id"])]
    with alice.chat("delete a.txt") as turn:
        turn.until("approval_needed")
        run_id = turn.seen[0]["run_id"]
        waiting = audit_of(alice, run_id)
        assert waiting["status"] == "waiting"
        assert (waiting["calls"][0]["status"], waiting["calls"][0]["asked"][0]["status"]) == (None, "waiting")
        alice.http.post(f"/api/runs/{run_id}/cancel")
        turn.until("done")
    (call,) = audit_of(alice, run_id)["calls"]
    assert (call["status"], call["asked"][0]["status"]) == ("cancelled", "cancelled")


def test_a_call_under_a_grant_names_the_grant(world: World, alice: Person) -> None:
    folder = alice.folder("Inbox")
    first, second = (alice.upload(f"{n}.txt", "x", folder["id"]) for n in (1, 2))
    world.model.script = [tool_call("trash_item", "t1", item_id=first["id"]), "Gone."]
    grant = {"folder_id": folder["id"], "minutes": 60, "max_items": 5}
    run(alice, "delete 1.txt", grant=grant)
    world.model.script = [tool_call("trash_item", "t2", item_id=second["id"]), "Gone too."]
    (call,) = audit_of(alice, run(alice, "delete 2.txt"))["calls"]
    (held,) = alice.get("/api/grants")["items"]
    assert call["asked"] == []
    assert call["covered_by"] == held["grant_id"]
    (change,) = call["changes"]
    assert (change["grant_id"], change["approval_id"]) == (held["grant_id"], None)
    alice.http.delete(f"/api/grants/{held['grant_id']}")


def test_an_unattended_run_says_that_it_was_one(world: World, alice: Person) -> None:
    world.model.script = ["Nothing to do."]
    with alice.chat("find the notice period", mode="unattended") as turn:
        run_id = turn.until("done")["run_id"]
    assert audit_of(alice, run_id)["mode"] == "unattended"


def test_what_was_taken_back_says_by_which_change(world: World, alice: Person) -> None:
    world.model.script = [tool_call("create_folder", "c1", name="New"), "Done."]
    run_id = run(alice, "create the folder New")
    undone = alice.http.post(f"/api/runs/{run_id}/undo").json()
    assert undone["change_id"]
    (call,) = audit_of(alice, run_id)["calls"]
    assert [change["undone_by"] for change in call["changes"]] == [undone["change_id"]]


def test_nobody_elses_run_is_told(world: World, alice: Person) -> None:
    world.model.script = ["Hello."]
    run_id = run(alice, "find the notice period")
    answer = world.person("eve").http.get(f"/api/runs/{run_id}/audit")
    assert answer.status_code == 404
    assert alice.email not in json.dumps(answer.json())
    assert alice.http.get("/api/runs/no-such-run/audit").status_code == 404


def test_one_change_of_a_run_is_taken_back_alone_and_done_again(world: World, alice: Person) -> None:
    world.model.script = [
        tool_calls(tool_call("create_folder", "c1", name="A"), tool_call("create_folder", "c2", name="B")),
        "Done.",
    ]
    run_id = run(alice, "新建文件夹 A 和 B")
    listed = alice.get(f"/api/runs/{run_id}/changes")
    assert [group["text"] for group in listed["groups"]] == ["新建了 2 个文件夹：“A”、“B”。"]
    first = next(change for change in listed["items"] if "'A'" in change["summary"])
    assert first["text"] == "在根文件夹中新建了文件夹“A”。"
    body = {"change_id": first["id"]}
    preview = alice.http.post(f"/api/runs/{run_id}/undo", json={**body, "preview": True}).json()
    assert ([change["id"] for change in preview["undone"]], preview["change_id"]) == ([first["id"]], None)
    assert alice.names() == ["A", "B"]
    alice.http.post(f"/api/runs/{run_id}/undo", json=body)
    assert alice.names() == ["B"]
    alice.http.post(f"/api/runs/{run_id}/redo", json={})
    assert alice.names() == ["A", "B"]
    assert alice.http.post(f"/api/runs/{run_id}/undo", json={"change_id": 10**9}).status_code == 404


def test_a_thread_is_taken_back_as_one_change_and_what_changed_since_is_named(world: World, alice: Person) -> None:
    item = alice.upload("a.txt", "30 days")
    world.model.script = [tool_call("rename_item", "r1", item_id=item["id"], name="b.txt"), "Done."]
    with alice.chat("把 a.txt 重命名为 b.txt") as turn:
        thread_id = turn.until("done")["run_id"] and turn.seen[0]["thread_id"]
    world.model.script = [tool_call("create_folder", "c1", name="New"), "Done."]
    with alice.chat("新建文件夹 New", thread_id=thread_id) as turn:
        second = turn.until("done")["run_id"]
    world.model.script = [tool_call("rename_item", "r2", item_id=item["id"], name="mine.txt"), "Done."]
    run(alice, "rename b.txt to mine.txt")
    path = f"/api/threads/{thread_id}/undo"
    only = alice.http.post(path, json={"since_run": second, "preview": True}).json()
    assert [change["tool"] for change in only["undone"]] == ["create_folder"]
    done = alice.http.post(path).json()
    assert [change["tool"] for change in done["undone"]] == ["create_folder"]
    (left,) = done["skipped"]
    assert left["text"].startswith(f"此后被 {alice.email} 于")
    assert alice.names() == ["mine.txt"]
    assert alice.http.post(path, json={"since_run": "another"}).status_code == 404


def test_a_run_that_fails_tells_what_it_had_changed(world: World, alice: Person) -> None:
    world.model.script = [tool_call("create_folder", "c1", name="New"), ValueError("no answer")]
    with alice.chat("create the folder New") as turn:
        last = turn.until("done", "error")
    assert (last["type"], last["code"]) == ("error", "model_output")
    assert [change["tool"] for change in last["changes"]] == ["create_folder"]
    assert last["groups"][0]["count"] == 1
