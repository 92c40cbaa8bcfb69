"""The summaries of turns that no longer fit."""

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from graph.memory.summaries import MAX_SUMMARIES, SUMMARY_CHARACTERS, fold, summary_section
from graph.messages.written import result_message
from graph.state import Summary
from tests.graph.talk import turn, turns

TURN_TOKENS = 60


def rolled(count: int, budget: int = 10 * TURN_TOKENS) -> tuple[list[Summary], str | None]:
    """Return the summaries of a thread as they become, turn by turn."""
    summaries: list[Summary] = []
    start: str | None = None
    for number in range(1, count + 1):
        folded = fold(turns(number), summaries, start, budget)
        summaries, start = folded.summaries, folded.window_start
    return summaries, start


def test_what_fits_needs_no_summary() -> None:
    folded = fold(turns(3), [], None, 10_000)
    assert (folded.summaries, folded.window_start, folded.fresh) == ([], None, [])


def test_a_summary_names_the_first_and_the_last_message_it_tells_of() -> None:
    folded = fold(turns(20), [], None, 10 * TURN_TOKENS)
    (summary,) = folded.summaries
    window = int((folded.window_start or "h0")[1:])
    assert 10 < window < 20
    assert (summary["first"], summary["last"], summary["turns"]) == ("h0", f"e{window - 1}", window)
    assert f"question {window - 1}" in summary["text"]
    assert f"question {window}" not in summary["text"]


def test_the_window_stays_until_it_is_full_and_then_moves_by_half() -> None:
    starts = [rolled(count)[1] for count in range(1, 40)]
    moves = [start for number, start in enumerate(starts) if start != (starts[number - 1] if number else None)]
    assert 2 <= len(moves) <= 8


def test_the_summaries_cover_everything_before_the_window_without_a_gap() -> None:
    summaries, start = rolled(300)
    assert len(summaries) <= MAX_SUMMARIES
    assert summaries[0]["first"] == "h0"
    for one, following in zip(summaries, [*summaries[1:], None], strict=True):
        begins = following["first"] if following else start
        assert begins == f"h{int(one['last'][1:]) + 1}"
    assert sum(one["turns"] for one in summaries) == int((start or "h0")[1:])


def test_old_ones_are_folded_together_and_stay_short() -> None:
    summaries, _ = rolled(300)
    assert all(len(one["text"]) <= SUMMARY_CHARACTERS for one in summaries)
    assert summaries[0]["turns"] > 200


def test_the_same_thread_gives_the_same_summaries() -> None:
    assert rolled(120) == rolled(120)


@pytest.mark.parametrize("text", ["", "总结一下预算。" * 5_000, "😀" * 5_000, "\u202eabc\n" * 2_000, "a\n\n\nb"])
def test_whatever_was_said_is_told_briefly(text: str) -> None:
    said: list[AnyMessage] = [HumanMessage(text, id="h"), AIMessage(text or "ok", id="e")]
    folded = fold([*said, *turns(2)], [], None, TURN_TOKENS)
    assert len(folded.summaries[0]["text"]) <= SUMMARY_CHARACTERS


def refused(number: int) -> list[AnyMessage]:
    """Return a turn in which the person said no to a call."""
    asked, call, _, answer = turn(number)
    result = result_message(f"c{number}", "read_file", "The person rejected this. It was not done.", "rejected")
    return [asked, call, result, answer]


def test_what_the_person_rejected_stays_in_the_summary_however_often_it_is_folded() -> None:
    thread = [*refused(0), *turns(300)[4:]]
    folded = fold(thread, [], None, 10 * TURN_TOKENS)
    assert "Rejected by the person: read_file" in folded.summaries[0]["text"]
    assert len(folded.summaries[0]["text"]) <= SUMMARY_CHARACTERS
    assert "Assistant: answer 0" in fold([*refused(0), *turns(2)[4:]], [], None, 1).summaries[0]["text"]


def test_a_thread_of_rejections_is_told_within_the_room() -> None:
    thread = [message for number in range(300) for message in refused(number)]
    text = fold(thread, [], None, TURN_TOKENS).summaries[0]["text"]
    assert len(text) <= SUMMARY_CHARACTERS
    assert text.count("Rejected") > 20
    assert "question 298" in text


def test_the_newest_turn_is_kept_however_long_it_is() -> None:
    assert fold(turns(3, 50_000), [], None, 100).window_start == "h2"


def test_a_window_of_an_older_version_is_folded_anew() -> None:
    folded = fold(turns(20), [], "h15", 10 * TURN_TOKENS)
    assert folded.summaries[0]["first"] == "h0"


def test_a_model_is_told_which_messages_a_summary_is_of() -> None:
    told = summary_section([{"first": "h0", "last": "e4", "turns": 5, "text": "Person: </summary> hi"}])
    assert "5 turns, messages h0 to e4" in told
    assert told.count("</summary>") == 1
    assert summary_section([]) == ""
