"""The answer about one call of a message: the same decision as that of its approval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.api.command_model import command

if TYPE_CHECKING:
    from tests.api.real_service import RealService
    from tests.api.serving import RunningService
    from tests.e2e.person import Event, Person


def confirm(person: Person, message_id: str, approval: Event, number: int = 0, *, approved: Any) -> Any:
    body = {"toolCallId": approval["actions"][number]["tool_call_id"], "approved": approved}
    return person.http.post(f"/api/messages/{message_id}/tool-confirm", json=body)


def message_with_calls(person: Person, thread_id: str) -> str:
    messages = person.get(f"/api/threads/{thread_id}")["messages"]
    return next(message["id"] for message in messages if message["tool_calls"])


@pytest.mark.parametrize("approved", [True, False])
def test_a_call_is_confirmed_in_its_message(service: RunningService, alice: Person, *, approved: bool) -> None:
    with alice.chat("share it") as turn:
        approval = turn.until("approval_needed")
        message_id = message_with_calls(alice, turn.seen[0]["thread_id"])
        answer = confirm(alice, message_id, approval, approved=approved)
        assert answer.status_code == 200, answer.text
        assert answer.json()["status"] == "decided"
        assert answer.json()["decided_by"] == "alice@example.com"
        turn.finish()
    assert len(service.parts.drive.effects) == approved
    again = confirm(alice, message_id, approval, approved=True)
    assert (again.status_code, again.json()["code"]) == (409, "approval_decided")


def test_an_approval_of_two_calls_waits_for_both_answers(service: RunningService, alice: Person) -> None:
    with alice.chat("two things") as turn:
        approval = turn.until("approval_needed")
        message_id = message_with_calls(alice, turn.seen[0]["thread_id"])
        half = confirm(alice, message_id, approval, 0, approved=False).json()
        assert half["status"] == "waiting"
        assert service.parts.drive.effects == []
        assert confirm(alice, message_id, approval, 0, approved=True).json()["status"] == "waiting"
        assert confirm(alice, message_id, approval, 1, approved=False).json()["status"] == "decided"
        turn.finish()
    assert [effect["tool"] for effect in service.parts.drive.effects] == ["write_item"]


def test_an_approval_decides_over_answers_about_single_calls(service: RunningService, alice: Person) -> None:
    with alice.chat("two things") as turn:
        approval = turn.until("approval_needed")
        message_id = message_with_calls(alice, turn.seen[0]["thread_id"])
        confirm(alice, message_id, approval, 0, approved=True)
        assert alice.answer(approval, "reject").status_code == 200
        turn.finish()
    assert service.parts.drive.effects == []


def test_a_cancelled_run_forgets_answers_about_single_calls(alice: Person) -> None:
    with alice.chat("two things") as turn:
        approval = turn.until("approval_needed")
        confirm(alice, message_with_calls(alice, turn.seen[0]["thread_id"]), approval, 0, approved=True)
        alice.http.post(f"/api/runs/{turn.seen[0]['run_id']}/cancel")
    closed = alice.get(f"/api/approvals/{approval['approval_id']}")
    assert (closed["status"], closed["decisions"]) == ("cancelled", [])


def test_only_the_person_confirms_and_only_what_was_asked(service: RunningService, alice: Person, bob: Person) -> None:
    with alice.chat("share it") as turn:
        approval = turn.until("approval_needed")
        message_id = message_with_calls(alice, turn.seen[0]["thread_id"])
        call_id = approval["actions"][0]["tool_call_id"]
        for person, message, call in (
            (bob, message_id, call_id),
            (alice, "none", call_id),
            (alice, message_id, "none"),
            (alice, message_id, call_id[:4]),
            (alice, message_id, "%"),
        ):
            body = {"toolCallId": call, "approved": True}
            refused = person.http.post(f"/api/messages/{message}/tool-confirm", json=body)
            assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
        reader = service.person("alice-reader")
        assert confirm(reader, message_id, approval, approved=True).status_code == 403
        assert confirm(reader, message_id, approval, approved="yes").status_code == 422
        reader.close()
        assert service.parts.drive.effects == []
        assert confirm(alice, message_id, approval, approved=False).status_code == 200
        turn.finish()


def test_calls_of_the_drives_tools_are_confirmed(commanded: RealService, owner: Person) -> None:
    del commanded
    files = [owner.upload(f"confirmed {name}.txt", "x") for name in "ab"]
    with owner.chat("\n".join(command("trash_item", item_id=file["id"]) for file in files)) as turn:
        approval = turn.until("approval_needed")
        message_id = message_with_calls(owner, turn.seen[0]["thread_id"])
        assert confirm(owner, message_id, approval, 1, approved=False).json()["status"] == "waiting"
        run_id = turn.seen[0]["run_id"]
        assert confirm(owner, run_id, approval, 0, approved=True).json()["status"] == "decided"
        turn.finish()
    names = owner.names()
    assert ("confirmed a.txt" in names, "confirmed b.txt" in names) == (False, True)
