from __future__ import annotations

import pytest

from api.cli.chat.event_stream import FINAL, read_events
from api.cli.failure import CommandError
from graph.events.definitions import EVENTS


def test_events_are_read_with_their_ids_and_comments_are_left_out() -> None:
    lines = [
        ": heartbeat",
        "",
        "id: 1",
        "event: content",
        'data: {"type": "content", "text": "你好"}',
        "",
        "id: 2",
        'data: {"type":',
        'data:  "done"}',
        "retry: 5",
        "",
        'data: {"type": "cut off"}',
    ]
    assert list(read_events(iter(lines))) == [
        ("1", {"type": "content", "text": "你好"}),
        ("2", {"type": "done"}),
    ]


@pytest.mark.parametrize("data", ["{", "[]", '"text"', "{}", '{"type": 1}', "null"])
def test_what_is_no_event_is_refused(data: str) -> None:
    with pytest.raises(CommandError, match="The service sent an event"):
        list(read_events(iter([f"data: {data}", ""])))


def test_the_last_events_are_those_that_the_service_defines() -> None:
    assert {name for name, event in EVENTS.items() if event.is_final} == FINAL
