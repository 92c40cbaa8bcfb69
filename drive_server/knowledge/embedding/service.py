"""Embedding models of an OpenAI-compatible service (`POST {url}/embeddings`), over one shared HTTP client."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

import anyio
import httpx
import numpy as np
import orjson

from drive_server.kernel.clock import utc_now
from drive_server.kernel.http_client import limited_client
from drive_server.knowledge.embedding.embedder import Nearness, Vectors
from drive_server.knowledge.embedding.vectors import EmbedderUnavailableError

logger = logging.getLogger(__name__)

MAX_TEXTS = 64
MAX_CHARACTERS = 60_000
"""The most characters of one request, unless a single text is longer."""
MAX_ANSWER_BYTES = 16 * 1024 * 1024
"""The most bytes of an answer: 64 vectors of 8,192 numbers."""

RETRIES = 4
MIN_PAUSE_SECONDS = 0.5
MAX_PAUSE_SECONDS = 30.0
BACKOFF_SECONDS = 30.0
"""The backoff after a failure, so that searches don't wait for the service."""

DOCUMENTS_TIMEOUT_SECONDS = 60.0
QUERY_TIMEOUT_SECONDS = 5.0
OK, TOO_MANY, FIRST_SERVER_ERROR = 200, 429, 500


class EmbeddingService:
    """The service at a base address such as `https://api.openai.com/v1`; the client is made at the first use."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        pause: Callable[[float], Awaitable[None]] = anyio.sleep,
        clock: Callable[[], float] = anyio.current_time,
    ) -> None:
        self._url = f"{url.rstrip('/')}/embeddings"
        self._headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        self._pause = pause
        self._clock = clock
        self._client: httpx.AsyncClient | None = None
        self._backoff_until = float("-inf")

    async def embed(self, model: str, texts: Sequence[str], *, retries: int, timeout_seconds: float) -> Vectors:
        """Return one vector of length 1 for each text, of which there is at least one: [texts, dimensions].

        429, 5xx and lost connections are retried, after the pause that the service asks for. Raises
        `EmbedderUnavailableError` if it answers nothing of use.
        """
        if self._clock() < self._backoff_until:
            raise EmbedderUnavailableError("The embedding service failed a moment ago, and is left alone for now.")
        body = orjson.dumps({"model": model, "input": list(texts), "encoding_format": "float"})
        try:
            return _vectors(await self._answer(body, retries, timeout_seconds), len(texts))
        except EmbedderUnavailableError:
            self._backoff_until = self._clock() + BACKOFF_SECONDS
            raise

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
        self._client = None

    async def _answer(self, body: bytes, retries: int, timeout_seconds: float) -> bytes:
        """Return the body of the first good answer."""
        pause = MIN_PAUSE_SECONDS
        for attempt in range(retries + 1):
            wanted: float | None = None
            try:
                response = await self._post(body, timeout_seconds)
            except httpx.HTTPError as error:
                failure = EmbedderUnavailableError(f"The embedding service can't be reached ({type(error).__name__}).")
            else:
                if response.status_code == OK:
                    return response.content
                failure = EmbedderUnavailableError(f"The embedding service answers {response.status_code}.")
                if response.status_code != TOO_MANY and response.status_code < FIRST_SERVER_ERROR:
                    raise failure
                wanted = _retry_after(response.headers.get("Retry-After", ""))
            if attempt == retries or (wanted or 0) > MAX_PAUSE_SECONDS:
                raise failure
            await self._pause(wanted if wanted is not None else pause)
            pause = min(2 * pause, MAX_PAUSE_SECONDS)
        raise AssertionError  # the last attempt returned or raised

    async def _post(self, body: bytes, timeout_seconds: float) -> httpx.Response:
        if self._client is None:
            self._client = limited_client(MAX_ANSWER_BYTES, headers=self._headers, follow_redirects=False)
        return await self._client.post(self._url, content=body, timeout=timeout_seconds)


class RemoteEmbedder:
    """A model of the service, in any language. Its dimensions are known from its first answer on, and 0 before."""

    weight = 0.6
    floor = 0.0

    def __init__(self, service: EmbeddingService, model: str) -> None:
        self.name = f"remote:{model}"
        self.dimensions = 0
        self._service: EmbeddingService | None = service
        self._model = model

    def __getstate__(self) -> dict[str, object]:
        """Return the facts for another process, which must not have the key: it has to ask this one for vectors."""
        return {**vars(self), "_service": None}

    def supports(self, text: str) -> bool:
        """Return whether the text is not blank."""
        return bool(text.strip())

    def nearness(self, query: str) -> Nearness | None:
        """Return None: each model has its own range of cosines."""
        del query

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text. Raises `EmbedderUnavailableError`."""
        found = [
            await self._embed(batch, retries=RETRIES, timeout_seconds=DOCUMENTS_TIMEOUT_SECONDS)
            for batch in _batches(texts)
        ]
        return np.concatenate(found) if found else np.empty((0, self.dimensions), np.float32)

    async def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query, without retries. Raises `EmbedderUnavailableError`."""
        return (await self._embed([text], retries=0, timeout_seconds=QUERY_TIMEOUT_SECONDS))[0]

    async def _embed(self, texts: Sequence[str], *, retries: int, timeout_seconds: float) -> Vectors:
        if self._service is None:
            raise EmbedderUnavailableError("The embedding service is reached from another process.")
        vectors = await self._service.embed(self._model, texts, retries=retries, timeout_seconds=timeout_seconds)
        if self.dimensions and vectors.shape[1] != self.dimensions:
            raise EmbedderUnavailableError("The embedding service now gives vectors of another length.")
        self.dimensions = vectors.shape[1]
        return vectors


def _batches(texts: Sequence[str]) -> list[list[str]]:
    batches: list[list[str]] = []
    size = 0
    for text in texts:
        if not batches or len(batches[-1]) == MAX_TEXTS or size + len(text) > MAX_CHARACTERS:
            batches.append([])
            size = 0
        batches[-1].append(text)
        size += len(text)
    return batches


def _vectors(body: bytes, count: int) -> Vectors:
    """Return the vectors in an answer, in the order of the texts, brought to length 1."""
    try:
        entries: list[dict[str, Any]] = sorted(orjson.loads(body)["data"], key=lambda entry: entry["index"])
        vectors = np.array([entry["embedding"] for entry in entries], np.float32)
        places = [entry["index"] for entry in entries]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise EmbedderUnavailableError("The embedding service's answer can't be understood.") from error
    if places != list(range(count)) or vectors.ndim != 2 or not vectors.size or not np.isfinite(vectors).all():
        raise EmbedderUnavailableError("The embedding service's answer is not a vector for each text.")
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float32).tiny)


def _retry_after(header: str) -> float | None:
    """Return the seconds of a `Retry-After`, None if it is missing or malformed. Source: RFC 9110, 10.2.3."""
    if header.strip().isdecimal():
        return float(header)
    try:
        at = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (at.replace(tzinfo=at.tzinfo or UTC) - utc_now()).total_seconds())
