"""A run's events can be read again, from any point, while it runs and afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.api.serving import rest_of

if TYPE_CHECKING:
    from tests.api.serving import RunningService
    from tests.e2e.person import Person


def test_a_dropped_stream_goes_on_where_it_broke_with_nothing_lost_or_doubled(
    service: RunningService, alice: Person
) -> None:
    with alice.chat("slow " + " ".join(str(n) for n in range(50))) as turn:
        turn.until("content")
        seen = list(turn.seen)
    service.parts.graph.gate.open()
    with alice.follow(seen[0]["run_id"], after=seen[-1]["_id"]) as rest:
        rest.finish()
    with alice.follow(seen[0]["run_id"]) as whole:
        whole.finish()
    assert seen + rest.seen == whole.seen
    assert whole.text == " ".join(str(n) for n in range(50))
    numbers = [int(event["_id"]) for event in whole.seen]
    assert numbers == list(range(1, len(numbers) + 1))


def test_every_point_of_a_finished_run_can_be_resumed_from(alice: Person) -> None:
    with alice.chat("say a b c") as turn:
        turn.finish()
    for position, event in enumerate(turn.seen[:-1]):
        with alice.follow(turn.seen[0]["run_id"], after=event["_id"]) as rest:
            assert rest_of(rest) == turn.seen[position + 1 :]


def test_the_query_parameter_works_where_headers_can_not_be_set(alice: Person) -> None:
    with alice.chat("say a") as turn:
        turn.finish()
    response = alice.http.get(f"/api/runs/{turn.seen[0]['run_id']}/events", params={"after": "2"})
    assert response.text.startswith("id: 3\n")
    response = alice.http.get(f"/api/runs/{turn.seen[0]['run_id']}/events", params={"after": "-1"})
    assert response.text.startswith("id: 1\n")


def test_several_clients_see_the_same(service: RunningService, alice: Person) -> None:
    second = service.person()
    with alice.chat("slow x y") as turn:
        run_id = turn.until("run")["run_id"]
        with second.follow(run_id) as other:
            other.until("content")
            service.parts.graph.gate.open()
            other.finish()
        turn.finish()
    assert turn.seen == other.seen
    second.close()


@pytest.mark.parametrize("number", ["x", "1.5", "1; drop", "９x", "1_0", "+1", "٣", "9" * 5000])
def test_what_is_no_event_number_is_refused(alice: Person, number: str) -> None:
    with alice.chat("say a") as turn:
        turn.finish()
    response = alice.http.get(f"/api/runs/{turn.seen[0]['run_id']}/events", params={"after": number})
    assert response.status_code == 422


def test_after_the_last_event_there_is_nothing_to_connect_again_for(alice: Person) -> None:
    with alice.chat("say a") as turn:
        last = turn.finish()
    for number in (last["_id"], "999", "9" * 30):
        response = alice.http.get(f"/api/runs/{turn.seen[0]['run_id']}/events", headers={"Last-Event-ID": number})
        assert (response.status_code, response.text) == (204, "")


def test_after_the_newest_event_of_a_run_that_works_the_next_one_is_waited_for(
    service: RunningService, alice: Person
) -> None:
    with alice.chat("slow a") as turn:
        turn.until("content")
    with alice.follow(turn.seen[0]["run_id"], after=turn.seen[-1]["_id"]) as rest:
        service.parts.graph.gate.open()
        rest.finish()


def test_somebody_elses_run_is_unknown_everywhere(alice: Person, bob: Person) -> None:
    with alice.chat("say a") as turn:
        run_id = turn.until("run")["run_id"]
        turn.finish()
    for method, path in (
        ("GET", ""),
        ("GET", "/events"),
        ("POST", "/cancel"),
        ("GET", "/changes"),
        ("POST", "/undo"),
    ):
        theirs = bob.http.request(method, f"/api/runs/{run_id}{path}")
        unknown = bob.http.request(method, f"/api/runs/00000000-0000-0000-0000-000000000000{path}")
        assert theirs.status_code == unknown.status_code == 404, path
        assert theirs.json() == unknown.json()
