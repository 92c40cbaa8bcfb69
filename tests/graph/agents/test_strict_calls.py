import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from graph.agents.strict_calls import NAME, sendable


def invalid(name: str | None, args: str | None, key: str = "c1") -> AIMessage:
    call: dict[str, Any] = {"name": name, "args": args, "id": key, "error": "no"}
    return AIMessage("", invalid_tool_calls=[call])


@pytest.mark.parametrize("message", [HumanMessage("hi"), ToolMessage("x", tool_call_id="1"), AIMessage("hello")])
def test_what_has_no_calls_is_sent_as_it_is(message: Any) -> None:
    assert sendable(message) is message


def test_calls_that_are_well_formed_are_sent_as_they_are() -> None:
    message = AIMessage("", tool_calls=[{"name": "read_file", "args": {"file_id": "a"}, "id": "1"}])
    assert sendable(message) is message


@pytest.mark.parametrize("args", ['{"file_id": ', "[1]", "", None, "{}{}"])
def test_arguments_that_are_no_object_are_left_out(args: str | None) -> None:
    sent = sendable(invalid("read_file", args))
    assert isinstance(sent, AIMessage)
    assert sent.invalid_tool_calls == []
    assert [(call["name"], call["args"], call["id"]) for call in sent.tool_calls] == [("read_file", {}, "c1")]


@pytest.mark.parametrize("name", ["rm -rf /", "删除", "", None, "n" * 500, "a\x00b", "🗑️"])
def test_a_name_that_is_none_becomes_one(name: str | None) -> None:
    sent = sendable(invalid(name, "{}"))
    assert isinstance(sent, AIMessage)
    assert NAME.fullmatch(sent.tool_calls[0]["name"])
    json.dumps(sent.tool_calls[0]["args"])


def test_the_message_in_the_thread_stays_as_it_was() -> None:
    message = invalid("read_file", "{")
    sendable(message)
    assert message.invalid_tool_calls[0]["args"] == "{"
