from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.knowledge.index.reranking import BACKOFF_SECONDS, MAX_CHARACTERS, MAX_PASSAGES, Reranker
from tests.drive_server.knowledge.rerank_server import Script, rerank_server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

TEXTS = ["good", "better", "the best"]


@pytest.fixture
def server() -> Generator[Script]:
    with rerank_server() as script:
        yield script


@pytest.fixture
async def reranker(server: Script) -> AsyncGenerator[Reranker]:
    reranker = Reranker(server.url, "cross", "secret")
    yield reranker
    await reranker.close()


async def test_the_service_says_what_comes_first(server: Script, reranker: Reranker) -> None:
    assert await reranker.rerank("哪个最好?", TEXTS) == [2, 0, 1]
    (request,) = server.requests
    assert request["path"] == "/v1/rerank"
    assert request["key"] == "Bearer secret"
    assert (request["model"], request["query"], request["documents"]) == ("cross", "哪个最好?", TEXTS)


async def test_an_address_may_name_the_route_itself(server: Script) -> None:
    reranker = Reranker(f"{server.url}/rerank/", "cross")
    await reranker.rerank("q", TEXTS)
    await reranker.close()
    assert (server.requests[0]["path"], server.requests[0]["key"]) == ("/v1/rerank", None)


async def test_it_reads_no_more_than_the_beginning_of_the_best(server: Script, reranker: Reranker) -> None:
    texts = ["x" * (MAX_CHARACTERS + 1)] * (MAX_PASSAGES + 5)
    assert await reranker.rerank("q", texts) == list(range(len(texts)))
    assert [len(text) for text in server.requests[0]["documents"]] == [MAX_CHARACTERS] * MAX_PASSAGES


async def test_what_it_does_not_judge_comes_after_in_its_order(server: Script, reranker: Reranker) -> None:
    server.body = b'{"results": [{"index": 1, "relevance_score": -3}]}'
    assert await reranker.rerank("q", TEXTS) == [1, 0, 2]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"results": null}',
        b'{"results": [{"index": 3, "relevance_score": 1}]}',
        b'{"results": [{"index": -1, "relevance_score": 1}]}',
        b'{"results": [{"index": 0}]}',
        b'{"results": [{"index": 0, "relevance_score": "NaN"}]}',
    ],
)
async def test_an_answer_of_no_use_changes_nothing(server: Script, reranker: Reranker, body: bytes) -> None:
    server.body = body
    assert await reranker.rerank("q", TEXTS) == [0, 1, 2]


async def test_a_slow_service_is_not_waited_for(server: Script) -> None:
    server.held = True
    reranker = Reranker(server.url, "cross", timeout_seconds=0.2)
    assert await reranker.rerank("q", TEXTS) == [0, 1, 2]
    await reranker.close()


async def test_a_service_that_failed_is_left_alone_for_a_while(server: Script) -> None:
    now = 100.0
    reranker = Reranker(server.url, "cross", clock=lambda: now)
    server.status = 503
    assert await reranker.rerank("q", TEXTS) == [0, 1, 2]
    server.status = 200
    assert await reranker.rerank("q", TEXTS) == [0, 1, 2]
    now += BACKOFF_SECONDS
    assert await reranker.rerank("q", TEXTS) == [2, 0, 1]
    await reranker.close()


async def test_nobody_there_changes_nothing() -> None:
    reranker = Reranker("http://127.0.0.1:9/v1", "cross")
    assert await reranker.rerank("q", TEXTS) == [0, 1, 2]
    await reranker.close()
