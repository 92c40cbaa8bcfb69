"""Answers of a model that are too long, and short ones that are long once they are decompressed."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage

from graph.errors import ModelOutputError, ModelUnavailableError
from graph.model_factory import Clients, build_models
from graph.models.asking import ask
from graph.models.client import events, incoming
from graph.settings import AgentSettings
from tests.fakes.raw_server import CHUNKED, RawServer, Sent, chunked, raw_server, whole

HI = [HumanMessage("hi")]
EVENTS, JSON = "content-type: text/event-stream", "content-type: application/json"
GZIP = "content-encoding: gzip"
Build = Callable[[str], BaseChatModel]


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[RawServer]:
    monkeypatch.setattr(incoming, "MAX_BYTES", 400_000)
    monkeypatch.setattr(incoming, "MAX_BODY_BYTES", 100_000)
    monkeypatch.setattr(events, "MAX_BYTES", 100_000)
    async with raw_server() as server:
        yield server


@pytest.fixture
async def build(server: RawServer) -> AsyncGenerator[Build]:
    async with aclosing(Clients()) as clients:

        def of_kind(kind: str) -> BaseChatModel:
            given = {"model": "scripted", "openai_api_key": "k", "openai_base_url": server.url, "model_retries": 0}
            return build_models(AgentSettings.model_validate({**given, "chat_client": kind}), clients)["agent"]

        yield of_kind


def said(content: str) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": content}}]}).encode() + b"\n\n"


LONG = {
    "one long event": said("x" * 200_000),
    "an event of many lines": b"data: \n" * 50_000,
    "a comment that never ends": b": " + b"x" * 200_000,
    "many events": said("x" * 1000) * 1000,
}
BODY = json.dumps({"choices": [{"message": {"role": "assistant", "content": "x" * 200_000}}]}).encode()


@pytest.mark.parametrize("body", LONG.values(), ids=LONG)
@pytest.mark.parametrize("kind", ["lean", "openai"])
async def test_a_stream_that_does_not_end_is_not_read_to_its_end(
    server: RawServer, build: Build, kind: str, body: bytes
) -> None:
    pieces = chunked(*(body[start : start + 10_000] for start in range(0, len(body), 10_000)))
    server.replies = [Sent([CHUNKED + pieces], stalls=True)]
    with pytest.raises((ModelOutputError, ModelUnavailableError)):
        await ask(build(kind), HI)


@pytest.mark.parametrize("body", [LONG["one long event"], LONG["many events"]], ids=["event", "events"])
@pytest.mark.parametrize("kind", ["lean", "openai"])
async def test_a_compressed_stream_is_limited_in_what_it_is_decompressed_to(
    server: RawServer, build: Build, kind: str, body: bytes
) -> None:
    server.replies = [Sent([whole(gzip.compress(body), EVENTS, GZIP)])]
    with pytest.raises((ModelOutputError, ModelUnavailableError)):
        await ask(build(kind), HI)


async def test_a_body_is_limited_compressed_and_plain(server: RawServer, build: Build) -> None:
    server.replies = [Sent([whole(BODY, JSON)]), Sent([whole(gzip.compress(BODY), JSON, GZIP)])]
    for _ in range(2):
        with pytest.raises(ModelOutputError):
            await ask(build("lean"), HI)


async def test_only_the_beginning_of_a_refusal_is_read(
    server: RawServer, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    server.replies = [Sent([whole(gzip.compress(b"x" * 10_000_000), GZIP, status="400 Bad Request")])]
    with pytest.raises(Exception, match="400") as refused:
        await build("lean").ainvoke(HI)
    assert len(str(refused.value)) < 3000


@pytest.mark.parametrize("kind", ["lean", "openai"])
async def test_answers_within_the_limits_are_taken(server: RawServer, build: Build, kind: str) -> None:
    end = b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    server.replies = [Sent([whole(said("x" * 1000) * 200 + end, EVENTS)])]
    assert len((await ask(build(kind), HI)).text) == 200_000
