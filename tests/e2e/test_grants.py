"""A grant over real HTTP on the real drive: given once, used without a question, listed and withdrawn."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.e2e.person import Person
    from tests.e2e.service import Service


def folder_with(person: Person, name: str, parent_id: str, *files: str) -> dict[str, Any]:
    folder = person.folder(name, parent_id)
    for file in files:
        person.upload(file, file, folder["id"])
    return folder


def command(service: Service, person: Person, *words: str) -> str:
    done = service.run(*words, "--url", service.url, "--token", person.token)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_was_granted_is_done_unasked_inside_its_folder_and_asked_about_outside(
    service: Service, alice: Person
) -> None:
    work = alice.folder("Work")
    first = folder_with(alice, "Old", work["id"], "a.txt")
    second = folder_with(alice, "Older", work["id"], "b.txt")
    third = folder_with(alice, "Elsewhere", "root", "c.txt")
    with alice.chat("delete everything in Old") as turn:
        approval = turn.until("approval_needed")
        grant = {"folder_id": "/Work", "minutes": 60, "max_items": 5}
        answer = alice.answer(approval, "approve", grant=grant)
        assert answer.status_code == 200, answer.text
        turn.finish()
    assert alice.names(first["id"]) == []
    (held,) = alice.get("/api/grants")["items"]
    assert (held["kinds"], held["folder_ids"], held["used"]) == (["trash"], [work["id"]], 0)

    with alice.chat("delete everything in Older") as turn:
        turn.finish()
    assert turn.of("approval_needed") == []
    assert [event["grant_id"] for event in turn.of("tool_progress") if event.get("reason") == "granted"] == [
        held["grant_id"]
    ]
    assert alice.names(second["id"]) == []
    (held,) = json.loads(command(service, alice, "grants", "list", "--json"))
    assert held["used"] == 1
    assert "trash inside /Work" in command(service, alice, "grants", "list")

    with alice.chat("delete everything in Elsewhere") as turn:
        alice.answer(turn.until("approval_needed"), "reject")
        turn.finish()
    assert alice.names(third["id"]) == ["c.txt"]

    assert held["grant_id"] in command(service, alice, "grants", "withdraw", held["grant_id"])
    assert alice.get("/api/grants")["items"] == []


def test_a_run_that_nobody_watches_waits_and_is_gone_on_with_in_the_terminal(service: Service, alice: Person) -> None:
    old = folder_with(alice, "Old", "root", "a.txt")
    lines = command(service, alice, "chat", "delete everything in Old", "--unattended", "--json").splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["type"] for event in events][-2:] == ["approval_needed", "run_parked"]
    assert alice.names(old["id"]) == ["a.txt"]
    (waiting,) = alice.get("/api/approvals")["items"]
    assert waiting["approval_id"] == events[-1]["approval_id"]
    assert alice.answer(waiting, "approve").status_code == 200
    with alice.follow(waiting["run_id"]) as turn:
        turn.finish()
    assert alice.names(old["id"]) == []
