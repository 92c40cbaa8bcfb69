from __future__ import annotations

import json
import pickle
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest

from drive_server.connect import DriveSettings, open_drive
from drive_server.kernel.access import ALL_SCOPES, Actor
from drive_server.knowledge.embedding.service import (
    BACKOFF_SECONDS,
    MAX_TEXTS,
    RETRIES,
    EmbeddingService,
    RemoteEmbedder,
)
from drive_server.knowledge.embedding.vectors import EmbedderUnavailableError
from tests.drive_server.knowledge import samples
from tests.drive_server.knowledge.embedding_server import DIMENSIONS, Answer, Script, embedding_server, proper, vector

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from drive_server.connect import Drive


@dataclass
class Time:
    """A clock that moves when somebody waits."""

    now: float = 1000.0
    pauses: list[float] = field(default_factory=list[float])

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        return self.now


@pytest.fixture
def script() -> Iterator[Script]:
    with embedding_server() as script:
        yield script


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
async def embedder(script: Script, time: Time) -> AsyncIterator[RemoteEmbedder]:
    service = EmbeddingService(script.url, "secret", pause=time.pause, clock=time.clock)
    yield RemoteEmbedder(service, "some/model")
    await service.close()


def normal(text: str) -> list[float]:
    values = np.array(vector(text))
    return list(values / np.linalg.norm(values))


async def test_vectors_come_back_in_the_order_of_their_texts_and_of_length_one(
    embedder: RemoteEmbedder, script: Script
) -> None:
    texts = ["one", "二 😀", "\u202eעברית"]
    assert embedder.dimensions == 0
    vectors = await embedder.embed_documents(texts)
    assert np.allclose(vectors, [normal(text) for text in texts], atol=1e-5)
    assert embedder.dimensions == DIMENSIONS
    assert np.allclose(await embedder.embed_query("one"), vectors[0])
    request = script.requests[0]
    assert request["path"] == "/v1/embeddings"
    assert request["headers"]["Authorization"] == "Bearer secret"
    assert request["body"] == {"model": "some/model", "input": texts, "encoding_format": "float"}
    assert script.connections == 1


async def test_a_copy_in_another_process_has_the_name_and_neither_key_nor_service(embedder: RemoteEmbedder) -> None:
    await embedder.embed_query("one")
    pickled = pickle.dumps(embedder)
    assert b"secret" not in pickled
    copy: RemoteEmbedder = pickle.loads(pickled)  # noqa: S301 - made above
    assert (copy.name, copy.dimensions) == (embedder.name, DIMENSIONS)
    with pytest.raises(EmbedderUnavailableError):
        await copy.embed_query("one")


async def test_many_and_large_texts_are_asked_for_in_batches(embedder: RemoteEmbedder, script: Script) -> None:
    texts = [f"text {number}" for number in range(MAX_TEXTS + 1)] + ["x" * 50_000, "y" * 50_000]
    vectors = await embedder.embed_documents(texts)
    assert np.allclose(vectors[-1], normal(texts[-1]), atol=1e-5)
    assert [len(request["body"]["input"]) for request in script.requests] == [MAX_TEXTS, 2, 1]
    assert (await embedder.embed_documents([])).shape == (0, DIMENSIONS)


async def test_a_busy_service_is_asked_again_when_it_wants_to_be(
    embedder: RemoteEmbedder, script: Script, time: Time
) -> None:
    script.answers += [Answer(429, headers={"Retry-After": "7"}), Answer(503), Answer(500), proper(["a"])]
    assert np.allclose((await embedder.embed_documents(["a"]))[0], normal("a"), atol=1e-5)
    assert time.pauses == [7.0, 1.0, 2.0]


async def test_a_date_to_come_back_at_is_understood(embedder: RemoteEmbedder, script: Script, time: Time) -> None:
    script.answers += [
        Answer(429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
        Answer(429, headers={"Retry-After": "soon"}),
    ]
    await embedder.embed_documents(["a"])
    assert time.pauses == [0.0, 1.0]


async def test_a_service_that_stays_away_is_left_alone_for_a_while(
    embedder: RemoteEmbedder, script: Script, time: Time
) -> None:
    script.is_down = True
    with pytest.raises(EmbedderUnavailableError, match="503"):
        await embedder.embed_documents(["a"])
    assert len(script.requests) == RETRIES + 1
    for _ in range(3):
        with pytest.raises(EmbedderUnavailableError, match="left alone"):
            await embedder.embed_query("a")
    assert len(script.requests) == RETRIES + 1
    script.is_down = False
    time.now += BACKOFF_SECONDS
    assert len(await embedder.embed_query("a")) == DIMENSIONS


async def test_a_question_is_asked_once(embedder: RemoteEmbedder, script: Script, time: Time) -> None:
    script.is_down = True
    with pytest.raises(EmbedderUnavailableError):
        await embedder.embed_query("a")
    assert (len(script.requests), time.pauses) == (1, [])


async def test_a_service_that_wants_to_be_left_alone_for_long_is(embedder: RemoteEmbedder, script: Script) -> None:
    script.answers += [Answer(429, headers={"Retry-After": "3600"})]
    with pytest.raises(EmbedderUnavailableError, match="429"):
        await embedder.embed_documents(["a"])
    assert len(script.requests) == 1


@pytest.mark.parametrize("status", [301, 400, 401, 404])
async def test_a_refusal_is_not_repeated(embedder: RemoteEmbedder, script: Script, status: int) -> None:
    script.answers += [Answer(status)]
    with pytest.raises(EmbedderUnavailableError, match=str(status)):
        await embedder.embed_documents(["a"])
    assert len(script.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"data": []}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 1, "embedding": [1, 2]}]}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": ["x"]}]}',
        b'{"data": [{"index": 0, "embedding": [1e999]}]}',
        b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1]}]}',
        json.dumps({"data": [{"index": 0, "embedding": None}]}).encode(),
    ],
)
async def test_an_answer_that_makes_no_sense_is_none(embedder: RemoteEmbedder, script: Script, body: bytes) -> None:
    script.answers += [Answer(body=body)]
    with pytest.raises(EmbedderUnavailableError):
        await embedder.embed_documents(["a"])


async def test_vectors_of_zeros_stay_so(embedder: RemoteEmbedder, script: Script) -> None:
    script.answers += [Answer(body=b'{"data": [{"index": 0, "embedding": [0, 0]}]}')]
    assert (await embedder.embed_documents(["a"])).tolist() == [[0, 0]]


async def test_nobody_at_the_address_is_said_so_without_a_trace_of_it(time: Time) -> None:
    service = EmbeddingService("http://127.0.0.1:9/v1", "secret", pause=time.pause, clock=time.clock)
    with pytest.raises(EmbedderUnavailableError) as caught:
        await RemoteEmbedder(service, "m").embed_documents(["a"])
    assert "127.0.0.1" not in str(caught.value)
    assert len(time.pauses) == RETRIES
    await service.close()


async def test_a_drive_with_a_service_finds_words_while_it_is_down_and_meaning_after(
    script: Script, tmp_path: Path
) -> None:
    script.is_down = True
    settings = DriveSettings(data_dir=tmp_path / "data", embedding_model="some/model", embedding_url=script.url)
    async with open_drive(settings) as drive:
        await _write(drive)
        await drive.ingester.drain()
        actor = await _actor(drive)
        (hit,) = (await drive.search.semantic(actor, "parents born adopted")).items
        assert hit.item.name == "leave.txt"
        status = await drive.ingester.status(actor.user_id)
        assert status.counts == {"pending": 1}
        assert "embedding model" in status.problems[0]["reason"]
    script.is_down = False
    async with open_drive(settings) as drive:
        actor = await _actor(drive)
        await drive.ingester.drain()
        assert (await drive.ingester.status(actor.user_id)).counts == {"ready": 1}
        hits = (await drive.search.semantic(actor, "Zwölf Wochen")).items
        assert [hit.item.name for hit in hits] in ([], ["leave.txt"])
        assert "Zwölf Wochen" in script.texts


async def _actor(drive: Drive) -> Actor:
    user, _ = await drive.identity.ensure_local_user()
    return Actor(await drive.identity.principal_for(user.id, ALL_SCOPES), tool="test")


async def _write(drive: Drive) -> None:
    await drive.documents.create(await _actor(drive), "/", "leave.txt", samples.LEAVE)
