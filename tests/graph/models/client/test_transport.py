"""Abilities of the lean client that LangChain's lacks, over real HTTP."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import aclosing
from email.utils import formatdate
from typing import Any

import pytest
from langchain_core.exceptions import ModelRateLimitError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage

from graph.errors import ModelOutputError, ModelTimeoutError, ModelUnavailableError
from graph.model_factory import Clients, build_models
from graph.models.asking import ask
from graph.models.client.transport import is_worth_again, pause, seconds_asked_for
from graph.settings import AgentSettings
from tests.fakes.openai_server import Failure, OpenAIServer, Pieces, Stream, text

HI = [HumanMessage("hi")]
Build = Callable[..., BaseChatModel]


@pytest.fixture
def build(server: OpenAIServer, clients: Clients) -> Build:
    def with_settings(**settings: Any) -> BaseChatModel:
        given = {"model": "scripted", "openai_api_key": "k", "openai_base_url": server.url, "model_retries": 0}
        return build_models(AgentSettings.model_validate({**given, **settings}), clients)["agent"]

    return with_settings


def data(**chunk: Any) -> bytes:
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def said(content: str, finish: str | None = None) -> bytes:
    return data(choices=[{"index": 0, "delta": {"content": content}, "finish_reason": finish}])


async def test_an_answer_that_only_stops_is_cut_off_and_no_answer(build: Build, server: OpenAIServer) -> None:
    server.replies = [Pieces([said("Delete eve")])]
    with pytest.raises(ModelUnavailableError):
        await ask(build(), HI)


async def test_an_answer_whose_end_is_marked_needs_no_reason(build: Build, server: OpenAIServer) -> None:
    server.replies = [Pieces([said("Yes"), b"data: [DONE]\n\n"])]
    assert (await ask(build(), HI)).text == "Yes"


async def test_a_service_that_does_not_stream_is_understood(build: Build, server: OpenAIServer) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "patch", "arguments": '{"a": 1}'}}
    message = {"role": "assistant", "content": "Yes", "tool_calls": [call]}
    whole = {"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    server.replies = [Pieces([json.dumps(whole).encode()], media_type="application/json")]
    answer = await ask(build(), HI)
    assert (answer.text, answer.tool_calls[0]["args"]) == ("Yes", {"a": 1})


@pytest.mark.parametrize("body", [b"[]", b'"yes"', b"7", b"null"])
async def test_json_that_is_no_answer_is_an_output_error(build: Build, server: OpenAIServer, body: bytes) -> None:
    server.replies = [Pieces([body], media_type="application/json"), Pieces([b"data: " + body + b"\n\n"])]
    for _ in range(2):
        with pytest.raises(ModelOutputError):
            await ask(build(), HI)


async def test_the_status_in_an_error_of_the_stream_counts(build: Build, server: OpenAIServer) -> None:
    server.replies = [Pieces([data(error={"code": 429, "message": "slow down"})])]
    with pytest.raises(ModelRateLimitError):
        await build().ainvoke(HI)


async def test_comments_that_keep_the_connection_open_are_silence(build: Build, server: OpenAIServer) -> None:
    server.replies = [Stream([], stalls=True)]
    with pytest.raises(ModelTimeoutError):
        await ask(build(model_stall_seconds=0.05), HI)


async def test_a_service_that_does_not_begin_is_given_up(build: Build, server: OpenAIServer) -> None:
    server.replies = [Pieces([b": working\n\n"] * 3), Pieces([b": working\n\n"])]
    with pytest.raises((ModelOutputError, ModelTimeoutError)):
        await ask(build(model_timeout_seconds=0.2), HI)


async def test_a_lost_connection_is_tried_again(build: Build, server: OpenAIServer) -> None:
    server.replies = [Failure(503, headers={"retry-after-ms": "1"}), text("there")]
    assert (await ask(build(model_retries=1), HI)).text == "there"


async def test_a_long_wait_that_is_asked_for_is_not_waited(build: Build, server: OpenAIServer) -> None:
    server.replies = [Failure(429, headers={"retry-after": "3600"}), text("there")]
    with pytest.raises(ModelRateLimitError):
        await build(model_retries=3).ainvoke(HI)
    assert server.replies
    server.replies = []


async def test_one_connection_serves_one_answer_after_the_other(build: Build, server: OpenAIServer) -> None:
    server.connections.clear()
    model = build(model_retries=1)
    server.replies = [text("a", "b"), Failure(503, headers={"retry-after-ms": "1"}), text("c"), text("d")]
    for _ in range(3):
        await ask(model, HI)
    assert len(server.connections) == 1


async def test_who_stops_reading_closes_the_stream(build: Build, server: OpenAIServer) -> None:
    server.left.clear()
    server.replies = [Stream([{"content": "Hel"}], stalls=True)]
    async with aclosing(build().astream(HI)) as chunks:  # pyright: ignore[reportArgumentType] - it is a generator
        async for chunk in chunks:
            if chunk.text:
                break
    assert await asyncio.to_thread(server.left.wait, 10)


async def test_a_cancelled_turn_closes_the_stream_and_leaves_no_task(build: Build, server: OpenAIServer) -> None:
    server.left.clear()
    server.replies = [Stream([{"content": "Hel"}], stalls=True)]
    begun = asyncio.Event()

    async def read() -> None:
        async for chunk in build().astream(HI):
            if chunk.text:
                begun.set()

    before = asyncio.all_tasks()
    reading = asyncio.create_task(read())
    await begun.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert asyncio.all_tasks() == before
    assert await asyncio.to_thread(server.left.wait, 10)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_a_service_may_say_when(headers: dict[str, str], seconds: float | None) -> None:
    assert seconds_asked_for(headers) == seconds


def test_it_may_say_so_by_a_date() -> None:
    seconds = seconds_asked_for({"retry-after": formatdate(time.time() + 60, usegmt=True)})
    assert seconds is not None
    assert 50 < seconds < 61


@pytest.mark.parametrize(("status", "again"), [(400, False), (401, False), (404, False), (422, False), (408, True)])
def test_the_persons_fault_is_not_tried_again(status: int, *, again: bool) -> None:
    assert is_worth_again(status, {}) is again


@pytest.mark.parametrize("status", [409, 429, 500, 502, 503, 529])
def test_what_may_pass_is_tried_again_unless_the_service_says_no_or_not_for_long(status: int) -> None:
    assert is_worth_again(status, {})
    assert not is_worth_again(status, {"x-should-retry": "false"})
    assert not is_worth_again(status, {"retry-after": "600"})


def test_pauses_grow_to_eight_seconds_and_obey_the_service() -> None:
    assert 0.375 <= pause(0, {}) <= 0.5
    assert 3 <= pause(3, {}) <= 4
    assert 6 <= pause(1000, {}) <= 8
    assert pause(5, {"retry-after": "0.01"}) == 0.01
