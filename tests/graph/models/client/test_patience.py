"""A service that reads a long request for longer than any answer may be silent, on a clock that a test sets."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass

import pytest
from langchain_core.messages import HumanMessage

from graph.errors import ModelTimeoutError
from graph.model_factory import Clients, build_models
from graph.models.asking import ask
from graph.settings import AgentSettings
from tests.fakes.clock import Seconds
from tests.fakes.raw_server import CHUNKED, LAST_CHUNK, chunked, listening

HI = [HumanMessage("hi")]
ANSWER = b'data: {"choices":[{"index":0,"delta":{"content":"Yes"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
PING = b": ping\n\n"
PROGRESS = (
    b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null}}],'
    b'"prompt_progress":{"total":4207,"cache":0,"processed":512,"time_ms":9000}}\n\n'
)
YIELDS = 20
"""How often the event loop runs in a second of the clock: a piece that was sent has been read by then."""


@dataclass
class ReadingServer:
    """Says one of `signs` a second for `seconds`, then nothing for `silence` seconds, then answers."""

    clock: Seconds
    signs: tuple[bytes, ...] = (PING,)
    seconds: int = 80
    silence: int = 0
    url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await self._answer(reader, writer)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(CHUNKED)
        for second in range(self.seconds):
            writer.write(chunked(self.signs[second % len(self.signs)]))
            await self._pass_second(writer)
        for _ in range(self.silence):
            await self._pass_second(writer)
        writer.write(chunked(ANSWER) + LAST_CHUNK)

    async def _pass_second(self, writer: asyncio.StreamWriter) -> None:
        await writer.drain()
        for _ in range(YIELDS):
            await asyncio.sleep(0)
        self.clock.now += 1


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Seconds:
    seconds = Seconds(1000.0)

    def time(loop: asyncio.BaseEventLoop) -> float:
        del loop
        return seconds()

    monkeypatch.setattr(asyncio.BaseEventLoop, "time", time)
    return seconds


@asynccontextmanager
async def answer_of(server: ReadingServer, client: str, first: float = 20) -> AsyncGenerator[str]:
    async with listening(server.serve) as listener, aclosing(Clients()) as clients:
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
        settings = AgentSettings.model_validate(
            {"model": "m", "openai_base_url": url, "model_retries": 0, "chat_client": client}
            | {"local_model_timeout_seconds": first, "model_stall_seconds": 10}
        )
        yield (await ask(build_models(settings, clients)["agent"], HI)).text


@pytest.mark.parametrize("client", ["lean", "openai"])
async def test_a_server_that_pings_for_eighty_seconds_is_waited_for(clock: Seconds, client: str) -> None:
    async with answer_of(ReadingServer(clock), client) as said:
        assert said == "Yes"


async def test_progress_is_no_beginning_of_an_answer(clock: Seconds) -> None:
    async with answer_of(ReadingServer(clock, signs=(PROGRESS,), silence=15), "lean") as said:
        assert said == "Yes"


@pytest.mark.parametrize("client", ["lean", "openai"])
async def test_a_server_that_falls_silent_after_its_pings_is_given_up(clock: Seconds, client: str) -> None:
    with pytest.raises(ModelTimeoutError):
        async with answer_of(ReadingServer(clock, seconds=5, silence=100), client):
            pass


@pytest.mark.parametrize("client", ["lean", "openai"])
async def test_a_server_that_sends_nothing_but_comments_is_given_up(clock: Seconds, client: str) -> None:
    begun = clock()
    with pytest.raises(ModelTimeoutError):
        async with answer_of(ReadingServer(clock, seconds=500), client):
            pass
    assert 100 < clock() - begun < 300


@pytest.mark.parametrize(
    ("url", "seconds"),
    [
        ("http://127.0.0.1:8080/v1", 600),
        ("http://[::1]:8080/v1", 600),
        ("http://localhost:11434/v1", 600),
        ("http://192.168.1.20/v1", 600),
        ("http://10.0.0.7:8000/v1", 600),
        ("http://ollama:11434/v1", 600),
        ("http://gpu.internal/v1", 600),
        ("127.0.0.1:11434", 600),
        ("", 600),
        ("https://api.openai.com/v1", 120),
        ("https://8.8.8.8/v1", 120),
        ("https://models.example.org/v1", 120),
    ],
)
def test_the_first_byte_may_take_longer_on_a_private_network(url: str, seconds: float) -> None:
    assert AgentSettings().first_byte_seconds(url) == seconds


def test_a_wait_that_is_set_for_all_services_holds_for_local_ones_unless_theirs_is_set() -> None:
    local = "http://127.0.0.1:8080/v1"
    assert AgentSettings(model_timeout_seconds=5).first_byte_seconds(local) == 5
    both = AgentSettings(model_timeout_seconds=5, local_model_timeout_seconds=50)
    assert both.first_byte_seconds(local) == 50
    assert both.first_byte_seconds("https://api.openai.com/v1") == 5
