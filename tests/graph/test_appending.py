"""Messages are added as LangGraph's own reducer adds them, whatever is written."""

import random
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langgraph.graph.message import (
    _messages_delta_reducer,  # pyright: ignore[reportPrivateUsage] - langgraph exports it under this name only
)

from graph.appending import SHORT, appended


def thread(length: int) -> list[AnyMessage]:
    return [HumanMessage(str(number), id=f"m{number}") for number in range(length)]


@pytest.mark.parametrize("seed", range(40))
def test_any_writes_lead_to_the_same_thread(seed: int) -> None:
    chosen = random.Random(seed)
    ours = theirs = thread(chosen.choice([0, 1, SHORT - 1, SHORT, 3 * SHORT]))
    for step in range(60):
        writes: list[Any] = []
        for number in range(chosen.randint(1, 3)):
            key = chosen.choice([f"m{chosen.randint(0, 200)}", f"s{step}-{number}"])
            message: Any = chosen.choice([AIMessage(f"{step}", id=key)] * 6 + [RemoveMessage(id=key), ("user", "hi")])
            writes.append(chosen.choice([message, [message]]))
        branch = appended(ours, [[AIMessage("another way", id=f"b{step}")]])
        assert [m.id for m in branch[:-1]] == [m.id for m in ours]
        before = list(ours)
        ours_after, theirs = appended(ours, writes), _messages_delta_reducer(theirs, writes)
        assert ours == before
        ours = ours_after
        assert [(m.type, m.id, m.content) for m in ours] == [(m.type, m.id, m.content) for m in theirs]


def test_the_same_write_again_is_the_same_and_in_a_longer_thread_replaces() -> None:
    state = thread(3 * SHORT)
    once = appended(state, [[AIMessage("a", id="x")]])
    assert appended(list(state), [[AIMessage("a", id="x")]]) == once
    assert [m.content for m in appended(once, [[AIMessage("b", id="x")]])][-1] == "b"
    assert len(appended(once, [[AIMessage("b", id="x")]])) == len(once)


def test_batches_may_be_applied_one_by_one_or_at_once() -> None:
    state = thread(2 * SHORT)
    one, two = [AIMessage("a", id="x")], [AIMessage("b", id="y"), AIMessage("c", id="x")]
    assert appended(appended(state, [one]), [two]) == appended(state, [one, two])
