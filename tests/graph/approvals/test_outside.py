"""The text that is made of an outside server's answer."""

from typing import Any

import pytest
from mcp.types import CallToolResult

from graph.approvals.outside import text_from


def said(*content: dict[str, Any], data: dict[str, Any] | None = None) -> str:
    return text_from(CallToolResult.model_validate({"content": content, "structuredContent": data}))


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def test_texts_stand_below_each_other_without_invisible_characters() -> None:
    assert said(text("on\u200be"), text("\u202etwo\U000e0041")) == "one\ntwo"


@pytest.mark.parametrize("words", ['{"a":1}', '{ "a": 1 }'])
def test_data_that_a_text_says_already_is_not_repeated(words: str) -> None:
    assert said(text(words), data={"a": 1}) == words


def test_a_single_value_is_not_repeated_as_data() -> None:
    assert said(text("5"), data={"result": 5}) == "5"
    assert said(text("five"), data={"result": "five"}) == "five"


def test_data_without_its_text_is_shown() -> None:
    assert said(text("Here:"), data={"a": 1}) == 'Here:\n{"a":1}'
    assert said(data={"a": 1}) == '{"a":1}'


def test_what_is_no_text_is_named() -> None:
    picture = {"type": "image", "data": "QUJDRA==", "mimeType": "image/png"}
    link = {"type": "resource_link", "name": "log", "uri": "file:///log"}
    inside = {"type": "resource", "resource": {"uri": "file:///a", "text": "words"}}
    blob = {"type": "resource", "resource": {"uri": "file:///b", "blob": "QUJD"}}
    assert said(picture, link, inside, blob).split("\n") == [
        "[image, image/png, 6 bytes: not shown]",
        "[resource log: file:///log]",
        "[resource file:///a]",
        "words",
        "[resource file:///b, 3 bytes: not shown]",
    ]
