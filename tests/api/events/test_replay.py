from __future__ import annotations

import pytest

from api.events.events import Event, Frame, encode
from api.events.replay import Replay


def text(delta: str) -> Event:
    return {"type": "content", "text": delta}


def replay(*logged: Event) -> Replay:
    return Replay([Frame(number, event["type"], encode(event)) for number, event in enumerate(logged, 1)])


def heard(replayed: Replay, *deltas: str) -> list[Event]:
    return [event for delta in deltas for event in replayed.text(delta)]


START: Event = {"type": "tool_call_start", "tool_call_id": "1", "name": "t", "args": {}}
END: Event = {"type": "tool_call_end", "tool_call_id": "1", "name": "t", "status": "done", "duration_ms": 5}


def test_a_new_run_says_everything() -> None:
    assert heard(Replay(), "a", "a") == [text("a"), text("a")]
    assert list(Replay().event(START)) == [START]
    assert list(Replay().end()) == []


@pytest.mark.parametrize("deltas", [("one ", "two ", "three"), ("one two three",), tuple("one two three")])
def test_the_same_text_goes_on_where_it_broke(deltas: tuple[str, ...]) -> None:
    events = heard(replay(text("one "), text("tw")), *deltas)
    assert "".join(event["text"] for event in events) == "o three"
    assert not any("restarts" in event for event in events)


def test_another_text_begins_anew() -> None:
    replayed = replay(START, text("one two"))
    assert heard(replayed, "one ", "three", " four") == [{**text("one three"), "restarts": True}, text(" four")]


def test_a_shorter_text_begins_anew_when_it_ends() -> None:
    replayed = replay(text("one two"))
    assert heard(replayed, "one") == []
    assert list(replayed.end()) == [{**text("one"), "restarts": True}]


def test_the_whole_text_again_is_nothing_new() -> None:
    replayed = replay(text("one"))
    assert heard(replayed, "one") == []
    assert list(replayed.event(START)) == [START]


def test_only_the_text_after_the_last_other_event_can_repeat() -> None:
    assert heard(replay(text("one"), START, END), "one") == [text("one")]


def test_events_that_clients_have_are_dropped_until_the_first_new_one() -> None:
    route: Event = {"type": "route_decision", "agent": "a"}
    replayed = replay(route, START, text("on"))
    assert list(replayed.event(route)) == []
    assert heard(replayed, "one") == [text("e")]
    assert list(replayed.event(route)) == [route]


def test_a_call_starts_and_ends_once_though_it_took_another_time() -> None:
    replayed = replay(START, END)
    assert list(replayed.event({"type": "route_decision"})) != []
    assert list(replayed.event({**END, "duration_ms": 9})) == []
    assert list(replayed.event({**END, "tool_call_id": "2"})) != []
