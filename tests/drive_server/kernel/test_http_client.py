"""Answers of services that are too long, and short ones that are long once they are decompressed."""

from __future__ import annotations

import gzip
import zlib
from ipaddress import ip_network
from typing import TYPE_CHECKING

import httpx
import pytest

from drive_server.kernel import http_client
from drive_server.kernel.http_client import TooLongAnswerError, innermost, is_public, limited_client, public_client
from drive_server.knowledge.embedding import service
from drive_server.knowledge.embedding.service import EmbeddingService
from drive_server.knowledge.embedding.vectors import EmbedderUnavailableError
from drive_server.knowledge.index import reranking
from drive_server.knowledge.index.reranking import Reranker
from drive_server.services.map_reduce import language_model
from drive_server.services.map_reduce.language_model import ChatCompletions, ModelBusyError
from tests.fakes.raw_server import CHUNKED, LAST_CHUNK, RawServer, Sent, chunked, raw_server, whole

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MOST = 100_000
LONG = b"x" * (MOST + 1)
COMPRESS = {"gzip": gzip.compress, "deflate": zlib.compress}


@pytest.fixture
async def server() -> AsyncIterator[RawServer]:
    async with raw_server() as server:
        yield server


def bomb(encoding: str = "gzip") -> Sent:
    return Sent([whole(COMPRESS[encoding](LONG), f"content-encoding: {encoding}")])


async def fetch(server: RawServer, reply: Sent) -> httpx.Response:
    server.replies = [reply]
    async with limited_client(MOST, timeout=20) as client:
        return await client.get(server.url)


async def test_an_answer_up_to_the_limit_is_read(server: RawServer) -> None:
    assert (await fetch(server, Sent([whole(LONG[1:])]))).content == LONG[1:]
    for encoding, compress in COMPRESS.items():
        body = compress(LONG[1:])
        pieces = chunked(*(body[place : place + 1] for place in range(len(body))))
        head = CHUNKED.replace(b"\r\n\r\n", f"\r\ncontent-encoding: {encoding}\r\n\r\n".encode())
        assert (await fetch(server, Sent([head + pieces + LAST_CHUNK]))).content == LONG[1:]


@pytest.mark.parametrize("encoding", COMPRESS)
async def test_an_answer_over_the_limit_is_not_read_to_its_end(server: RawServer, encoding: str) -> None:
    with pytest.raises(TooLongAnswerError):
        await fetch(server, Sent([CHUNKED + chunked(LONG)], stalls=True))
    with pytest.raises(TooLongAnswerError):
        await fetch(server, bomb(encoding))


async def test_an_encoding_that_nobody_asked_for_is_an_error(server: RawServer) -> None:
    for body, encoding in ((b"x", "br"), (b"x", "gzip, gzip"), (b"no gzip", "gzip")):
        with pytest.raises(httpx.DecodingError):
            await fetch(server, Sent([whole(body, f"content-encoding: {encoding}")]))


async def test_no_service_of_the_drive_is_read_further_than_an_answer_can_go(
    server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (service, reranking, language_model):
        monkeypatch.setattr(module, "MAX_ANSWER_BYTES", MOST)
    server.replies = [bomb() for _ in range(3)]
    embedding = EmbeddingService(server.url, "")
    with pytest.raises(EmbedderUnavailableError, match="TooLongAnswerError"):
        await embedding.embed("model", ["text"], retries=0, timeout_seconds=20)
    reranker = Reranker(server.url, "model", timeout_seconds=20)
    assert await reranker.rerank("query", ["a", "b"]) == [0, 1]
    model = ChatCompletions(server.url, "", "model", seconds=20)
    with pytest.raises(ModelBusyError):
        await model.complete("system", "text", 10)
    assert server.replies == []
    for client in (embedding, reranker, model):
        await client.close()


@pytest.mark.parametrize(
    "found", [["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["::1"], ["::ffff:192.168.1.1"], ["64:ff9b::a00:1"], []]
)
async def test_a_name_that_leads_into_the_own_network_is_not_connected_to(server: RawServer, found: list[str]) -> None:
    async def look_up(name: str, port: int) -> list[str]:
        del name, port
        return found

    async with public_client(MOST, lookup=look_up) as client:
        with pytest.raises(httpx.ConnectError):
            await client.get(server.url.replace("127.0.0.1", "host.example"))
    assert not found or not all(is_public(innermost(address)) for address in found)


def is_this_machine(address: http_client.Address) -> bool:
    return address.is_loopback


async def test_a_name_is_looked_up_once_and_connected_to_where_it_was_found(
    server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def look_up(name: str, port: int) -> list[str]:
        del port
        asked.append(name)
        return ["127.0.0.2", "127.0.0.1"]  # nobody listens at the first

    monkeypatch.setattr(http_client, "is_public", is_this_machine)
    server.replies.append(Sent([whole(b"found")]))
    async with public_client(MOST, lookup=look_up) as client:
        answer = await client.get(server.url.replace("127.0.0.1", "host.example"))

    assert (answer.content, asked) == (b"found", ["host.example"])


@pytest.mark.parametrize(("found", "is_reached"), [(["127.0.0.1"], True), (["127.0.0.1", "10.0.0.1"], False)])
async def test_networks_of_the_operator_are_reached_and_no_others(
    server: RawServer, found: list[str], *, is_reached: bool
) -> None:
    async def look_up(name: str, port: int) -> list[str]:
        del name, port
        return found

    server.replies.append(Sent([whole(b"found")]))
    async with public_client(MOST, lookup=look_up, networks=[ip_network("127.0.0.0/8")]) as client:
        if is_reached:
            assert (await client.get(server.url.replace("127.0.0.1", "host.example"))).content == b"found"
        else:
            with pytest.raises(httpx.ConnectError):
                await client.get(server.url.replace("127.0.0.1", "host.example"))
