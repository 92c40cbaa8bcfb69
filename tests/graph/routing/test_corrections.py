"""Messages that correct what was done just before, and those that only look like it."""

import pytest

from graph.approvals.review import ALLOWED_TOOLS
from graph.drive.tool_names import EDITS
from graph.routing.corrections import corrected_value, is_correction


@pytest.mark.parametrize(
    "said",
    [
        "no, make it 11 days",
        "No - make it 11 days.",
        "sorry, I meant Bob",
        "actually, call it plan-b.md",
        "wait, it should be 2027",
        "no, 11 days",
        "make it 11 days instead",
        "make it 11 days",
        "that's wrong, it should say Friday",
        "not that. use the one in Old",
        "No, put it in Archive!",
        "不对，改成11天",
        "不，改成 11 天",
        "不是，应该是11天",
        "错了，叫 plan-b.md",
        "改成11天",
        "应该是王芳",
        "写错了，是十一天",
        "不对，放到归档里",
        "等等，我说的是周五",
    ],
)
def test_it_says_that_something_should_have_been_otherwise(said: str) -> None:
    assert is_correction(said)


@pytest.mark.parametrize(
    "said",
    [
        "no",
        "no, thanks",
        "no, don't do that",
        "no, undo that",
        "wait, what is it called?",
        "sorry, how long is the notice period?",
        "no, is it 11 days?",
        "actually, never mind",
        "create a folder called 2027",
        "rename a.md to b.md",
        "what should it be?",
        "不对，撤销",
        "不用了",
        "不是11天吗？",
        "别改了",
        "把 a.md 改名为 b.md",
        "no, make it 11 days " + "and so on " * 30,
    ],
)
def test_it_does_not(said: str) -> None:
    assert not is_correction(said)


def test_whose_change_it_was_follows_from_the_tools_of_the_specialists() -> None:
    assert ALLOWED_TOOLS["document_agent"] >= EDITS
    assert not EDITS & ALLOWED_TOOLS["drive_agent"]


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("no, make it 11 days", "11 days"),
        ("No - make it 11 days.", "11 days"),
        ("actually, call it plan-b.md", "plan-b.md"),
        ("wait, it should be 2027", "2027"),
        ("no, 11 days", "11 days"),
        ("sorry, I meant Bob", "Bob"),
        ("make it 11 days instead", "11 days"),
        ("不对，改成11天", "11天"),
        ("不是，应该是“王芳”。", "王芳"),
        ("错了，叫 plan-b.md", "plan-b.md"),
        ("rename a.md to b.md", ""),
    ],
)
def test_it_says_what_is_to_stand_there_instead(said: str, value: str) -> None:
    assert corrected_value(said) == value
