"""Servers that say what they have for a model, over real HTTP."""

import json
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import httpx
import pytest
from langchain_core.messages import HumanMessage

from graph.events.sending import Delta, ReadingDelta
from graph.model_factory import Clients, build_models
from graph.models.asking import ask
from graph.models.client import LeanChatModel
from graph.models.serving import UNKNOWN, ServedModel, ServedModelReader, served_model, serving
from graph.settings import AgentSettings
from tests.fakes.clock import Seconds
from tests.fakes.openai_server import OpenAIServer, Pieces
from tests.fakes.raw_server import CHUNKED, LAST_CHUNK, Sent, chunked, raw_server

HI = [HumanMessage("hi")]
LLAMA: dict[str, Any] = {
    "/props": {"default_generation_settings": {"n_ctx": 8192}, "build_info": "b6000"},
    "/v1/models": {
        "data": [{"id": "m.gguf", "owned_by": "llamacpp", "meta": {"n_ctx": 8192, "n_params": 630_167_424}}]
    },
}
VLLM: dict[str, Any] = {"/v1/models": {"data": [{"id": "a", "max_model_len": 1}, {"id": "m", "max_model_len": 40_960}]}}
SHOWN: dict[str, Any] = {
    "details": {"family": "qwen2", "parameter_size": "3.1B"},
    "model_info": {"general.parameter_count": 3_085_938_688, "qwen2.context_length": 32_768},
}
OLLAMA: dict[str, Any] = {"/api/show": SHOWN, "/v1/models": {"data": [{"id": "m", "owned_by": "library"}]}}
RUNNING: dict[str, Any] = {"models": [{"name": "m:latest", "context_length": 16_384}]}


@contextmanager
def answering(answers: dict[str, Any]) -> Generator[str]:
    """Serve these answers as JSON, and 404 for anything else."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            found = self.path in answers
            body = json.dumps(answers.get(self.path)).encode()
            self.send_response(200 if found else 404)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - named by the library

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - named by the library
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
async def client() -> AsyncGenerator[httpx.AsyncClient]:
    async with httpx.AsyncClient() as client:
        yield client


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        (LLAMA, ServedModel("llama.cpp", 8192, 630_167_424)),
        ({"/props": LLAMA["/props"]}, ServedModel("llama.cpp", 8192)),
        (VLLM, ServedModel("vllm", 40_960)),
        (OLLAMA, ServedModel("ollama", 4_096, 3_085_938_688)),
        ({**OLLAMA, "/api/ps": RUNNING}, ServedModel("ollama", 16_384, 3_085_938_688)),
        ({"/api/show": {**SHOWN, "parameters": "stop x\nnum_ctx   8192"}}, ServedModel("ollama", 8_192, 3_085_938_688)),
        ({"/api/show": {"details": SHOWN["details"]}}, ServedModel("ollama", 4_096, 3_100_000_000)),
        ({"/v1/models": {"data": [{"id": "m"}]}}, UNKNOWN),
        ({"/v1/models": {"data": "none"}, "/props": [1]}, UNKNOWN),
        ({}, UNKNOWN),
    ],
)
async def test_a_server_says_how_much_its_model_reads(
    client: httpx.AsyncClient, answers: dict[str, Any], found: ServedModel
) -> None:
    with answering(answers) as url:
        assert await served_model(url, "m", client) == found


async def test_the_context_that_each_request_asks_for_counts_up_to_what_the_model_can(
    client: httpx.AsyncClient,
) -> None:
    with answering(OLLAMA) as url:
        assert (await served_model(url, "m", client, 16_384)).context == 16_384
        assert (await served_model(url, "m", client, 65_536)).context == 32_768


async def test_a_server_is_asked_once_in_ten_minutes_and_one_on_the_internet_never(client: httpx.AsyncClient) -> None:
    clock, answers = Seconds(100), dict(LLAMA)
    with answering(answers) as url:
        reader = ServedModelReader(url, "m", lambda: client, clock=clock)
        assert (await reader.read()).context == 8192
        answers["/props"] = {"default_generation_settings": {"n_ctx": 4096}}
        assert (await reader.read()).context == 8192
        clock.now += 601
        assert (await reader.read()).context == 4096

    def no_client() -> httpx.AsyncClient:
        raise AssertionError

    assert await ServedModelReader("https://api.example.com/v1", "m", no_client).read() == UNKNOWN


async def test_a_server_that_cannot_be_reached_tells_nothing(client: httpx.AsyncClient) -> None:
    assert await served_model("http://127.0.0.1:9/v1", "m", client) == UNKNOWN


@pytest.mark.parametrize(("answers", "asked"), [(LLAMA, True), (VLLM, None)])
async def test_progress_is_asked_of_servers_that_are_known_to_tell_it(
    server: OpenAIServer, answers: dict[str, Any], asked: bool | None
) -> None:
    server.replies = [Pieces([b'data: {"choices":[{"index":0,"delta":{"content":"Yes"}}]}\n\n', b"data: [DONE]\n\n"])]
    with answering(answers) as url:
        async with aclosing(Clients()) as clients:
            settings = AgentSettings.model_validate({"model": "m", "openai_base_url": server.url, "model_retries": 0})
            model = build_models(settings, clients)["agent"]
            assert isinstance(model, LeanChatModel)
            model.served = ServedModelReader(url, "m", lambda: clients.openai(60))
            await serving(model)
            await ask(model, HI)
    assert server.requests[-1].get("return_progress") is asked


async def test_progress_in_reading_is_told_and_is_no_part_of_the_answer(clients: Clients) -> None:
    empty = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]}
    progress = {**empty, "prompt_progress": {"total": 100, "cache": 0, "processed": 40, "time_ms": 1}}
    said = {"choices": [{"index": 0, "delta": {"content": "Yes"}, "finish_reason": "stop"}]}
    first, last = (chunked(f"data: {json.dumps(line)}\n\n".encode()) for line in (progress, said))
    heard: list[Delta] = []
    async with raw_server() as server:

        def hear(delta: Delta) -> None:
            heard.append(delta)
            server.more.set()

        server.replies = [Sent([CHUNKED + first, last + LAST_CHUNK])]
        model = build_models(AgentSettings.model_validate({"model": "m", "openai_base_url": server.url}), clients)
        answer = await ask(model["agent"], HI, said=hear)
    assert heard[0] == ReadingDelta(40, 100)
    assert (answer.text, answer.additional_kwargs) == ("Yes", {})
