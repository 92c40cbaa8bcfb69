"""Which approvals wait, as a stream that a page follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.person import read_events

if TYPE_CHECKING:
    from tests.e2e.person import Person

EVENTS = "/api/approvals/events"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.approvals.service.POLL_SECONDS", 0.02)


def test_a_page_hears_of_each_approval_when_it_comes_and_when_it_is_decided(alice: Person, bob: Person) -> None:
    with alice.http.stream("GET", EVENTS) as stream, bob.http.stream("GET", EVENTS) as others:
        assert stream.headers["content-type"].startswith("text/event-stream")
        events = read_events(stream.iter_lines())
        assert next(events) == {"type": "approvals", "waiting": 0, "approval_ids": [], "_id": "1"}
        with alice.chat("share it") as turn:
            approval = turn.until("approval_needed")
            waiting = next(events)
            assert (waiting["waiting"], waiting["approval_ids"]) == (1, [approval["approval_id"]])
            alice.answer(approval, "reject")
            turn.finish()
        assert next(events) == {"type": "approvals", "waiting": 0, "approval_ids": [], "_id": "3"}
        with bob.chat("share it") as turn:
            approval = turn.until("approval_needed")
            theirs = read_events(others.iter_lines())
            assert [next(theirs)["waiting"] for _ in range(2)] == [0, 1]
            bob.answer(approval, "reject")
            turn.finish()


def test_nobody_without_a_key_follows_approvals(alice: Person) -> None:
    assert alice.http.get(EVENTS, headers={"Authorization": ""}).status_code == 401


def test_a_quiet_stream_stays_open_by_heartbeats(alice: Person) -> None:
    with alice.http.stream("GET", EVENTS) as stream:
        lines = stream.iter_lines()
        assert next(line for line in lines if line.startswith(":")) == ": heartbeat"
