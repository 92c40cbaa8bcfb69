"""The dependencies between a plan's steps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.planning.shape import dependents, problems_of_order, topological_order, waves


def test_each_comes_after_what_it_needs_and_else_as_it_was_given() -> None:
    assert topological_order({"1": ["3"], "2": [], "3": []}) == ["2", "3", "1"]
    assert topological_order({"1": [], "2": [], "3": ["1"]}) == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("needs", "words"),
    [
        ({"1": ["2"], "2": ["1"]}, "in a circle"),
        ({"1": ["1"]}, "in a circle"),
        ({"1": [], "2": ["9"]}, "depends on 9, which is no step"),
        ({"1": ["2"], "2": ["3"], "3": ["1"], "4": []}, "1, 2, 3"),
    ],
)
def test_what_can_not_be_ordered_is_told(needs: dict[str, list[str]], words: str) -> None:
    assert words in "; ".join(problems_of_order([*needs], needs))


def test_an_id_used_twice_is_told() -> None:
    assert problems_of_order(["1", "1"], {"1": []}) == ["two steps have the id 1"]


def test_steps_that_do_not_need_one_another_are_of_one_wave() -> None:
    assert waves({"a": [], "b": [], "c": ["a", "b"], "d": ["a"]}) == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_what_needs_a_step_through_others_is_a_dependent_too() -> None:
    assert dependents({"a": [], "b": ["a"], "c": ["b"], "d": []}, "a") == {"b", "c"}


@given(st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), max_size=3)))
def test_an_order_never_puts_a_step_before_what_it_needs(needs: dict[str, list[str]]) -> None:
    order = topological_order(needs)
    assert len(set(order)) == len(order)
    for key in order:
        assert all(order.index(one) < order.index(key) for one in needs[key])
    known = all(one in needs for after in needs.values() for one in after)
    if known:
        assert bool(problems_of_order([*needs], needs)) == (len(order) < len(needs))
