"""Servers that cut a request without a word: their own count shows it, and the person is told once how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from graph.models.overflow import cut_request_notice, was_request_cut
from tests.fakes.chat_model import ScriptedChatModel, tool_call
from tests.graph.assistant import assemble

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    from graph.drive.connections import ConnectionPool
    from graph.models.serving import Program


def counted(text: str, read: int) -> AIMessage:
    return AIMessage(text, usage_metadata={"input_tokens": read, "output_tokens": 3, "total_tokens": read + 3})


def calling(read: int) -> AIMessage:
    usage = counted("", read).usage_metadata
    return tool_call("list_folder", folder_id="root").model_copy(update={"usage_metadata": usage})


@pytest.mark.parametrize(
    ("read", "sent", "is_cut"),
    [
        (2_048, 6_000, True),
        (4_096, 9_000, True),
        (4_096, 5_000, False),
        (5_800, 6_000, False),
        (9_000, 6_000, False),
        (0, 6_000, False),
        (7, 6_000, False),
    ],
)
def test_a_request_is_cut_if_far_fewer_tokens_are_counted_than_were_sent(read: int, sent: int, is_cut: bool) -> None:
    assert was_request_cut(counted("Hello", read), sent) is is_cut


@pytest.mark.parametrize(
    ("program", "mend"),
    [("ollama", "num_ctx 16384"), ("llama.cpp", "-c 16384"), ("vllm", "--max-model-len 16384"), ("", "num_ctx 16384")],
)
def test_the_notice_has_the_line_that_mends_it_in_both_languages(program: Program, mend: str) -> None:
    for language in ("en", "zh"):
        notice = cut_request_notice(counted("Hello", 2_048), 6_000, program, (), language)
        assert mend in notice
        assert "2,048" in notice


async def test_the_person_is_told_once_in_a_conversation(pool: ConnectionPool, saver: AsyncSqliteSaver) -> None:
    sent: list[int] = []

    def half(messages: list[BaseMessage]) -> AIMessage:
        sent.append(len(messages))
        return counted("Hello.", 500)

    model = ScriptedChatModel(script=[calling(500), half, half])
    assistant = assemble({"agent": model}, pool, saver)
    first = await assistant.say("list the folder")
    second = await assistant.say("hello")
    assert "read only 500 of about" in first.text
    assert "read only 500 of about" in first.state["messages"][-1].text
    assert "read only" not in second.text
    assert second.state["token_scale"] == 1.0


async def test_a_request_that_is_read_whole_has_no_notice(pool: ConnectionPool, saver: AsyncSqliteSaver) -> None:
    model = ScriptedChatModel(script=[counted("Hello.", 4_000)])
    seen = await assemble({"agent": model}, pool, saver).say("hello")
    assert seen.text.strip() == "Hello."
