"""Second turns: some stay with the specialist of the first, others are routed anew."""

import pytest
from langchain_core.messages import AIMessage

from graph.routing.followups import is_follow_up, may_need_plan
from graph.routing.route import by_pattern, by_stickiness
from graph.state import AGENTS
from tests.graph.routing.followup_set import FOLLOW_UPS, GOES_ON, LETS_GO, FollowUp
from tests.graph.states import state_of

PRECISION = 0.98


def decided(case: FollowUp) -> str | None:
    state = state_of(case.text, in_document=case.in_document, last=case.last)
    route = by_pattern(state) or by_stickiness(state)
    return route["agent"] if route else None


def test_whoever_is_kept_is_the_right_one() -> None:
    kept = [case for case in FOLLOW_UPS if decided(case) is not None]
    right = [case for case in kept if decided(case) == case.expected]
    assert len(FOLLOW_UPS) == 60
    assert len(right) >= PRECISION * len(kept)


def test_follow_ups_are_followed() -> None:
    assert sum(decided(case) == case.expected for case in GOES_ON) >= 0.95 * len(GOES_ON)


def test_a_clear_shift_is_let_go() -> None:
    assert sum(decided(case) is None for case in LETS_GO) >= 0.95 * len(LETS_GO)


@pytest.mark.parametrize(
    "text", ["yes", "and the second one, the one from last year that we talked about?", "继续", "那第二个呢"]
)
def test_a_continuation_is_recognised(text: str) -> None:
    assert is_follow_up(text)


@pytest.mark.parametrize(
    "text", ["My colleague would like to know how the budget of next year came about", "x" * 5_000, "", "🙏", "?!"]
)
def test_a_new_subject_or_nothing_is_no_continuation(text: str) -> None:
    assert not is_follow_up(text)


@pytest.mark.parametrize(
    "text",
    [
        "now write a summary of it into a new file and share that with Li",
        "translate it and share it with bob@example.com",
        "把它翻译成中文然后分享给bob@example.com",
        "then find the others and move them there too",
    ],
)
def test_a_follow_up_that_asks_for_several_things_is_judged_by_the_router(text: str) -> None:
    for agent in AGENTS:
        assert by_stickiness(state_of(text, last=agent)) is None


@pytest.mark.parametrize("text", ["and the second one?", "yes, and then the second one", "那就改成表格", "shorter"])
def test_a_follow_up_of_one_thing_needs_no_plan(text: str) -> None:
    assert not may_need_plan(text)


@pytest.mark.parametrize(
    ("said", "waits"),
    [
        ("Which of the two do you mean?\n1. `/a.md`\n2. `/b.md`", True),
        ("改成什么标题？", True),
        ("Done. Anything else?", False),
        ("改好了。还有什么需要吗?", False),
    ],
)
def test_a_question_keeps_the_specialist_and_an_offer_of_more_help_does_not(said: str, waits: bool) -> None:
    state = state_of("the second one", last="document_agent")
    state["messages"].insert(0, AIMessage(said))
    assert (by_stickiness(state) is not None) == waits
