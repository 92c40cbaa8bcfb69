from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.api.serving import RunningService
    from tests.e2e.person import Person


def test_a_cancelled_run_stops_says_so_and_leaves_the_thread_usable(service: RunningService, alice: Person) -> None:
    with alice.chat("slow one two three") as turn:
        run = turn.until("run")
        turn.until("content")
        answer = alice.http.post(f"/api/runs/{run['run_id']}/cancel")
        assert answer.status_code == 200
        assert answer.json() == {"run_id": run["run_id"], "status": "cancelled"}
        done = turn.until("done")
    assert done["status"] == "cancelled"
    assert turn.text.strip() == "one"
    assert alice.get(f"/api/runs/{run['run_id']}")["status"] == "cancelled"
    with alice.chat("say again", thread_id=run["thread_id"]) as turn:
        turn.finish()
    assert turn.text == "again"
    service.parts.graph.gate.open()


def test_cancelling_while_an_approval_waits_rejects_it(service: RunningService, alice: Person) -> None:
    with alice.chat("delete it") as turn:
        approval = turn.until("approval_needed")
        assert alice.http.post(f"/api/runs/{turn.seen[0]['run_id']}/cancel").status_code == 200
        done = turn.until("done")
    assert done["status"] == "cancelled"
    (resolved,) = turn.of("approval_resolved")
    assert resolved["decisions"] == [{"tool_call_id": approval["actions"][0]["tool_call_id"], "type": "reject"}]
    assert turn.tools == [("delete_item", "cancelled")]
    assert alice.get("/api/approvals")["items"] == []
    late = alice.answer(approval, "approve")
    assert late.status_code == 409
    assert late.json()["code"] == "approval_cancelled"
    assert service.parts.drive.effects == []
    with alice.chat("say fine", thread_id=turn.seen[0]["thread_id"]) as turn:
        turn.finish()
    assert turn.text == "fine"


def test_what_was_done_before_the_cancel_is_told(service: RunningService, alice: Person) -> None:
    with alice.chat("write and wait") as turn:
        assert alice.answer(turn.until("approval_needed"), "approve").status_code == 200
        assert service.parts.graph.gate.reached.wait(20)
        alice.http.post(f"/api/runs/{turn.seen[0]['run_id']}/cancel")
        done = turn.until("done")
    assert done["status"] == "cancelled"
    assert [change["tool"] for change in done["changes"]] == ["write_item"]


def test_a_finished_run_can_not_be_cancelled(alice: Person) -> None:
    with alice.chat("say a") as turn:
        turn.finish()
    answer = alice.http.post(f"/api/runs/{turn.seen[0]['run_id']}/cancel")
    assert answer.status_code == 409
    assert answer.json()["code"] == "run_finished"
    assert answer.json()["details"]["status"] == "success"


def test_changes_and_undo_of_a_run(alice: Person) -> None:
    with alice.chat("write it") as turn:
        approval = turn.until("approval_needed")
        run_id = turn.seen[0]["run_id"]
        early = alice.http.post(f"/api/runs/{run_id}/undo")
        assert early.status_code == 409
        assert early.json()["code"] == "run_active"
        alice.answer(approval, "approve")
        done = turn.finish()
    assert alice.get(f"/api/runs/{run_id}/changes")["items"] == done["changes"]
    preview = alice.http.post(f"/api/runs/{run_id}/undo", json={"preview": True}).json()
    assert (preview["preview"], preview["change_id"]) == (True, None)
    undone = alice.http.post(f"/api/runs/{run_id}/undo").json()
    assert [change["tool"] for change in undone["undone"]] == ["write_item"]
    assert alice.http.post(f"/api/runs/{run_id}/undo", json={"preview": "perhaps"}).status_code == 422
