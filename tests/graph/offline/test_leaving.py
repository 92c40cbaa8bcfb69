"""A person asks the built-in model to leave what others shared with them."""

from __future__ import annotations

import pytest

from graph.offline.understanding.requests import understand
from graph.routing.intents import pattern_agent, read_intent


@pytest.mark.parametrize(
    "text",
    [
        "leave the shared folder Plans",
        "Please leave the shared folder Plans",
        "leave the share Plans",
        'quit the shared folder "Plans"',
        "退出共享文件夹 Plans",
        "退出“Plans”的共享",
        "请退出共享的文件夹Plans",
    ],
)
def test_leaving_a_share_is_understood_in_both_languages(text: str) -> None:
    (intent,) = understand(text)
    assert (intent.action, intent.target and intent.target.text) == ("leave", "Plans")
    assert pattern_agent(read_intent(text, in_document=False)) == "drive_agent"


@pytest.mark.parametrize(
    "text",
    [
        "leave the shared folder alone",
        "leave the shared folder Plans as it is",
        "leave it as it is",
        "don't leave the shared folder Plans",
        "不要退出共享文件夹 Plans",
    ],
)
def test_leaving_things_as_they_are_is_no_request(text: str) -> None:
    assert [intent.action for intent in understand(text) if intent.action == "leave"] == []
