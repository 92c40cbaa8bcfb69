"""Roles alternate in every request, whatever the thread has been through."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from graph.models.roles import NO_ANSWER, alternating, is_alternating
from tests.linting import FAMILIES, refusals

SYSTEM, ASKED, ANSWER = SystemMessage("You help."), HumanMessage("Find it."), AIMessage("It is here.")
CALL = AIMessage("", tool_calls=[{"name": "search_files", "args": {}, "id": "c1"}])
RESULT = ToolMessage("found", tool_call_id="c1")
AFTER_A_FAILED_TURN = [SYSTEM, ASKED, HumanMessage("Once more.")]
AFTER_A_STOPPED_CALL = [SYSTEM, ASKED, CALL, RESULT, HumanMessage("And now?")]
CUT_WINDOW = [SYSTEM, ANSWER, HumanMessage("Go on.")]
STEPS = [SYSTEM, ASKED, HumanMessage("<step>1</step>"), ANSWER, HumanMessage("<step>2</step>")]


@pytest.mark.parametrize("messages", [AFTER_A_FAILED_TURN, AFTER_A_STOPPED_CALL, CUT_WINDOW, STEPS, [SYSTEM, ANSWER]])
@pytest.mark.parametrize("family", FAMILIES)
def test_no_family_of_models_refuses_the_order(family: str, messages: list[BaseMessage]) -> None:
    assert refusals(family, alternating(messages)) == []


def test_the_linter_sees_what_strict_families_refuse() -> None:
    for messages in (AFTER_A_FAILED_TURN, AFTER_A_STOPPED_CALL, CUT_WINDOW):
        assert refusals("mistral", messages)
        assert refusals("gemma", messages)
    assert not refusals("qwen", AFTER_A_FAILED_TURN)


def test_no_word_of_the_person_is_lost_where_messages_are_joined() -> None:
    joined = alternating(AFTER_A_FAILED_TURN)
    assert [message.text for message in joined] == ["You help.", "Find it.\n\nOnce more."]
    picture: dict[str, Any] = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    seen = alternating([ASKED, HumanMessage([{"type": "text", "text": "This one."}, picture])])
    assert seen[0].content == [{"type": "text", "text": "Find it."}, {"type": "text", "text": "This one."}, picture]


def test_a_stopped_turn_is_said_to_have_ended() -> None:
    assert [message.text for message in alternating(AFTER_A_STOPPED_CALL)][-2:] == [NO_ANSWER, "And now?"]


def test_an_order_that_alternates_stays_as_it_is() -> None:
    messages = [SYSTEM, ASKED, CALL, RESULT, RESULT, ANSWER, HumanMessage("More.")]
    assert alternating(messages) is messages


@given(st.lists(st.sampled_from([ASKED, ANSWER, CALL, AIMessage(""), HumanMessage("More.")]), min_size=1, max_size=12))
def test_any_order_becomes_one_that_alternates(messages: list[BaseMessage]) -> None:
    with_results = [part for one in messages for part in ((one, RESULT) if one is CALL else (one,))]
    assert is_alternating(alternating([SYSTEM, *with_results]))
