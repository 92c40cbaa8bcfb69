"""Words by which a plan is paused, resumed and stopped in the chat."""

import pytest

from graph.planning.commands import command_of


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("pause the plan", "pause"),
        ("Please pause!", "pause"),
        ("暂停计划", "pause"),
        ("请先暂停一下", "pause"),
        ("continue the plan", "run"),
        ("go on", "run"),
        ("继续", "run"),
        ("请继续执行计划。", "run"),
        ("stop the plan", "stop"),
        ("停止这个计划", "stop"),
        ("把计划停下", "stop"),
    ],
)
def test_a_wish_is_understood(text: str, wish: str) -> None:
    assert command_of(text) == wish


@pytest.mark.parametrize(
    "text",
    [
        "",
        "don't stop the plan",
        "stop sharing plan.md",
        "move the plan to Archive",
        "继续把报告移到归档",
        "不要停止计划",
        "pause and delete a",
    ],
)
def test_what_says_more_is_a_message_like_any_other(text: str) -> None:
    assert command_of(text) is None
