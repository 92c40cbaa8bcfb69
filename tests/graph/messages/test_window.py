"""The messages that a model sees, and the parts of long results."""

from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage

from graph.messages.window import (
    LEFT_OUT,
    STORED,
    StoredResult,
    choose_window,
    references_in,
    render_window,
    result_identity,
)
from tests.graph.talk import asking, turns


def kept(key: str, tokens: int = 500, digest: str = "d") -> ToolMessage:
    noted: StoredResult = {"reference": key, "digest": digest, "characters": 4 * tokens, "tokens": tokens}
    return ToolMessage(f"excerpt {key}", id=f"m{key}", tool_call_id=key, additional_kwargs={STORED: noted})


def reading(count: int, tokens: int = 500) -> list[AnyMessage]:
    messages: list[AnyMessage] = [HumanMessage("go", id="h")]
    for number in range(count):
        messages += [asking(f"a{number}", f"c{number}"), kept(f"c{number}", tokens)]
    return messages


def results(messages: list[AnyMessage]) -> list[str]:
    return [message.text for message in messages if isinstance(message, ToolMessage)]


WHOLE = {f"c{number}": f"whole c{number}" for number in range(10)}


def test_long_results_are_seen_whole_as_long_as_they_fit() -> None:
    messages = reading(4)
    seen = choose_window(messages, None, 10_000)
    assert results(render_window(messages, seen, WHOLE)) == [f"whole c{number}" for number in range(4)]
    assert references_in(messages, seen) == ["c0", "c1", "c2", "c3"]


def test_the_newest_come_first_and_of_the_others_the_excerpt_is_seen() -> None:
    messages = reading(4)
    seen = choose_window(messages, None, 1_400)
    assert results(render_window(messages, seen, WHOLE)) == ["excerpt c0", "excerpt c1", "whole c2", "whole c3"]
    assert references_in(messages, seen) == ["c2", "c3"]


def test_tokens_are_weighed_by_what_the_model_has_reported() -> None:
    assert references_in(reading(4), choose_window(reading(4), None, 1_400, scale=2.0)) == ["c3"]


def test_what_is_not_on_the_shelf_any_more_is_seen_as_its_excerpt() -> None:
    messages = reading(2)
    assert results(render_window(messages, choose_window(messages, None, 10_000), {})) == ["excerpt c0", "excerpt c1"]


def test_too_long_a_turn_loses_its_oldest_results_but_no_call_its_result() -> None:
    long: list[AnyMessage] = [HumanMessage("go", id="h")]
    for number in range(6):
        long += [
            asking(f"a{number}", f"c{number}"),
            ToolMessage("r" * 4_000, id=f"t{number}", tool_call_id=f"c{number}"),
        ]
    messages = render_window(long, choose_window(long, None, 3_700), {})
    assert results(messages) == [LEFT_OUT] * 3 + ["r" * 4_000] * 3
    assert [message.type for message in messages] == ["human", *["ai", "tool"] * 6]


def test_the_results_of_the_newest_rounds_stay_whatever_the_budget() -> None:
    long = [*turns(1, 40_000), asking("a", "c"), ToolMessage("r" * 40_000, id="t", tool_call_id="c")]
    assert results(render_window(long, choose_window(long, None, 10), {}))[-1] == "r" * 40_000


def test_only_what_is_in_the_window_is_seen() -> None:
    messages = turns(5)
    assert render_window(messages, choose_window(messages, "h3", 10_000), {})[0].id == "h3"


def test_what_was_seen_can_be_shown_again_when_the_thread_has_grown() -> None:
    messages = reading(4)
    seen = choose_window(messages, None, 1_400)
    before = render_window(messages, seen, WHOLE)
    later = [*messages, asking("a9", "c9"), kept("c9"), HumanMessage("more", id="h2"), *turns(3)]
    assert render_window(later, seen, WHOLE) == before


def test_a_result_that_came_later_was_not_seen() -> None:
    messages: list[AnyMessage] = [HumanMessage("go", id="h"), asking("a", "c1")]
    seen = choose_window(messages, None, 1_000)
    assert results(render_window([*messages, kept("c1")], seen, WHOLE)) == []


def test_nothing_at_all_is_no_error() -> None:
    assert render_window([], choose_window([], None, 100), {}) == []


def test_two_results_that_say_the_same_are_known_as_such() -> None:
    assert result_identity(kept("c1")) == result_identity(kept("c2"))
    assert result_identity(kept("c1")) != result_identity(kept("c2", digest="e"))
    assert result_identity(ToolMessage("x", tool_call_id="1")) == "x"
