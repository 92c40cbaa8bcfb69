"""Answers as a network delivers them: in odd pieces, compressed, cut, or not at all."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from graph.errors import (
    ModelAuthenticationError,
    ModelOutputError,
    ModelRequestError,
    ModelTimeoutError,
    ModelUnavailableError,
)
from graph.model_factory import Clients, build_models
from graph.models.asking import ask
from graph.models.client import LeanChatModel, transport
from graph.models.client.transport import MAX_REFUSAL_BYTES
from graph.settings import AgentSettings
from tests.fakes.raw_server import CHUNKED, LAST_CHUNK, RawServer, Sent, chunked, raw_server, whole

HI = [HumanMessage("hi")]
END = b"data: [DONE]\n\n"
EVENTS = "content-type: text/event-stream"
Build = Callable[..., LeanChatModel]


@pytest.fixture
async def server() -> AsyncGenerator[RawServer]:
    async with raw_server() as server:
        yield server


@pytest.fixture
async def build(server: RawServer) -> AsyncGenerator[Build]:
    async with aclosing(Clients()) as clients:

        def with_settings(**settings: Any) -> LeanChatModel:
            given = {"model": "scripted", "openai_api_key": "k", "openai_base_url": server.url, "model_retries": 0}
            model = build_models(AgentSettings.model_validate({**given, **settings}), clients)["agent"]
            assert isinstance(model, LeanChatModel)
            return model

        yield with_settings


def said(content: str) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": content}}]}).encode() + b"\n\n"


async def test_an_answer_that_was_whole_when_its_connection_was_lost_is_an_answer(
    build: Build, server: RawServer
) -> None:
    server.replies = [Sent([CHUNKED + chunked(said("四十")), chunked(said("五"), END)], closes=True)]
    async with aclosing(build().endpoint.stream({})) as batches:
        found = await anext(batches)
        server.more.set()
        await server.left.wait()
        found += [chunk async for batch in batches for chunk in batch]
    assert [chunk["choices"][0]["delta"]["content"] for chunk in found[:-1]] == ["四十", "五"]


async def test_an_answer_without_a_length_ends_with_its_connection(build: Build, server: RawServer) -> None:
    server.replies = [Sent([f"HTTP/1.0 200 OK\r\n{EVENTS}\r\n\r\n".encode() + said("Yes") + END], closes=True)]
    assert (await ask(build(), HI)).text == "Yes"


async def test_a_line_of_ten_megabytes_is_read(build: Build, server: RawServer) -> None:
    event = said("x" * 10_000_000) + END
    pieces = chunked(*(event[n : n + 65_536] for n in range(0, len(event), 65_536)))
    server.replies = [Sent([CHUNKED + pieces + LAST_CHUNK])]
    chunks = [chunk async for batch in build().endpoint.stream({}) for chunk in batch]
    assert len(chunks[0]["choices"][0]["delta"]["content"]) == 10_000_000


async def test_what_arrives_while_nobody_reads_is_one_batch(build: Build, server: RawServer) -> None:
    rest = [said(str(number)) for number in range(50)]
    server.replies = [Sent([CHUNKED + chunked(said("a")), chunked(*rest, END)], closes=True)]
    async with aclosing(build().endpoint.stream({})) as batches:
        assert len(await anext(batches)) == 1
        server.more.set()
        await server.left.wait()
        assert len(await anext(batches)) == 51


async def test_a_compressed_answer_is_understood(build: Build, server: RawServer) -> None:
    server.replies = [Sent([whole(gzip.compress(said("مرحبا") + END), EVENTS, "content-encoding: gzip")])]
    assert (await ask(build(), HI)).text == "مرحبا"


async def test_a_body_that_is_compressed_otherwise_than_said_is_an_error_of_ours(
    build: Build, server: RawServer
) -> None:
    server.replies = [Sent([whole(said("Yes") + END, EVENTS, "content-encoding: gzip")])]
    with pytest.raises(ModelUnavailableError):
        await ask(build(), HI)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"220 mail.example ESMTP\r\n\r\n",
        CHUNKED + chunked(said("Hel")) + b"nonsense\r\n",
        CHUNKED + chunked(said("Hel"))[:-9],
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{}",
    ],
)
async def test_a_broken_protocol_is_a_service_that_is_not_available(
    build: Build, server: RawServer, sent: bytes
) -> None:
    server.replies = [Sent([sent], closes=True)]
    with pytest.raises(ModelUnavailableError):
        await ask(build(), HI)


async def test_a_connection_that_is_lost_before_the_answer_is_tried_again(build: Build, server: RawServer) -> None:
    server.replies = [Sent([b""], closes=True), Sent([whole(said("there") + END, EVENTS)])]
    assert (await ask(build(model_retries=1), HI)).text == "there"


@pytest.mark.parametrize("sent", [b"", CHUNKED, CHUNKED + chunked(b": working\n\n"), CHUNKED + chunked(said("Hel"))])
async def test_silence_ends_in_a_timeout_and_closes_the_connection(
    build: Build, server: RawServer, sent: bytes
) -> None:
    server.replies = [Sent([sent], stalls=True)]
    with pytest.raises(ModelTimeoutError):
        await ask(build(model_timeout_seconds=0.2, model_stall_seconds=0.1), HI)
    await server.left.wait()


async def test_whoever_works_long_on_a_piece_is_no_silence_of_the_service(build: Build, server: RawServer) -> None:
    server.replies = [Sent([CHUNKED + chunked(said("a")), chunked(said("b"), END) + LAST_CHUNK], closes=True)]
    model, worked = build(model_timeout_seconds=0.6, model_stall_seconds=0.6), asyncio.Event()
    async with aclosing(model.endpoint.stream({})) as batches:
        assert len(await anext(batches)) == 1
        server.more.set()
        asyncio.get_running_loop().call_later(0.8, worked.set)
        await worked.wait()
        assert len(await anext(batches)) == 2


async def test_a_large_refusal_is_not_read_to_its_end(build: Build, server: RawServer) -> None:
    size = MAX_REFUSAL_BYTES + 1
    head = f"HTTP/1.1 400 Bad Request\r\ncontent-length: {size * 100}\r\n\r\n".encode()
    server.replies = [Sent([head + b"x" * size], stalls=True)]
    with pytest.raises(ModelRequestError):
        await ask(build(), HI)
    await server.left.wait()


@pytest.mark.parametrize("how", [{"closes": True}, {"stalls": True}])
async def test_a_refusal_that_is_cut_is_a_refusal(build: Build, server: RawServer, how: dict[str, bool]) -> None:
    server.replies = [Sent([b'HTTP/1.1 401 Unauthorized\r\ncontent-length: 99\r\n\r\n{"error"'], **how)]
    with pytest.raises(ModelAuthenticationError):
        await ask(build(model_timeout_seconds=0.2), HI)


async def test_a_stream_whose_end_does_not_come_is_an_answer_all_the_same(build: Build, server: RawServer) -> None:
    server.replies = [Sent([CHUNKED + chunked(said("Yes"), END)], stalls=True)]
    assert (await ask(build(), HI)).text == "Yes"
    await server.left.wait()


async def test_a_connection_whose_stream_ends_a_moment_later_is_used_again(build: Build, server: RawServer) -> None:
    server.replies = [Sent([CHUNKED + chunked(said("Yes"), END), LAST_CHUNK])] * 2
    asyncio.get_running_loop().call_later(0.1, server.more.set)
    assert [(await ask(build(), HI)).text for _ in range(2)] == ["Yes", "Yes"]
    assert server.opened == 1


async def test_an_answer_without_a_body_is_no_answer(build: Build, server: RawServer) -> None:
    server.replies = [Sent([b"HTTP/1.1 204 No Content\r\n\r\n"])]
    with pytest.raises(ModelOutputError):
        await ask(build(), HI)


@pytest.fixture
def crowd(build: Build, monkeypatch: pytest.MonkeyPatch) -> LeanChatModel:
    """A model among so many others that its tokens gather for an hour, unless something ends it before."""
    model = build()
    model.endpoint.connections.answers = 100
    monkeypatch.setattr(transport, "MAX_GATHERING_SECONDS", 3600)
    monkeypatch.setattr(transport, "GATHERED_PER_ANSWER", 3600)
    return model


async def test_in_a_crowd_tokens_gather_until_it_is_time_or_the_answer_is_whole(
    crowd: LeanChatModel, server: RawServer
) -> None:
    parts = [CHUNKED + chunked(said("a")), chunked(said("b")), chunked(said("c")), chunked(END) + LAST_CHUNK]
    server.replies = [Sent(parts)]
    async with aclosing(crowd.endpoint.stream({})) as batches:
        assert len(await anext(batches)) == 1
        server.more.set()
        assert len(await anext(batches)) == 3
    assert crowd.endpoint.connections.answers == 100


async def test_an_answer_that_is_cut_while_tokens_gather_fails_at_once(crowd: LeanChatModel, server: RawServer) -> None:
    server.replies = [Sent([CHUNKED + chunked(said("a")), b"no chunk"], closes=True)]
    server.more.set()
    with pytest.raises(ModelUnavailableError):
        await ask(crowd, HI)


def test_few_answers_are_told_token_by_token_and_a_hundred_ten_times_a_second() -> None:
    slow = 0.03
    assert transport.batching_seconds(transport.CROWD - 1, slow) == 0
    assert transport.batching_seconds(20, slow) == pytest.approx(0.02)
    assert transport.batching_seconds(1000, slow) == 0.1


def test_tokens_that_come_faster_than_a_screen_shows_them_wait_for_its_next_picture() -> None:
    assert transport.batching_seconds(1, 0.001) == transport.FRAME_SECONDS
    assert transport.batching_seconds(1, transport.FRAME_SECONDS) == 0
    assert transport.batching_seconds(1000, 0.001) == 0.1


async def test_the_first_words_do_not_wait_although_an_empty_piece_came_right_before(
    build: Build, server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "FRAME_SECONDS", 3600)
    server.replies = [Sent([CHUNKED + chunked(said("")), chunked(said("a"))], stalls=True)]
    async with aclosing(build().endpoint.stream({})) as batches:
        assert len(await anext(batches)) == 1
        server.more.set()
        assert len(await anext(batches)) == 1


async def test_fast_tokens_gather_until_the_answer_is_whole(
    build: Build, server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "FRAME_SECONDS", 3600)
    tokens = [chunked(said(str(number))) for number in range(50)]
    server.replies = [Sent([CHUNKED + chunked(said("a")), *tokens, chunked(END) + LAST_CHUNK])]
    server.more.set()
    batches = [batch async for batch in build().endpoint.stream({})]
    assert sum(map(len, batches)) == 52
    assert len(batches) <= 3
