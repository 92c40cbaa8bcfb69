"""Reranking of the best passages by a cross-encoder behind HTTP; off unless it is configured."""

import logging
import math
from collections.abc import Callable, Sequence

import anyio
import httpx
import orjson

from drive_server.kernel.http_client import limited_client

logger = logging.getLogger(__name__)

MAX_PASSAGES = 30
"""How many of the best are reranked: an answer further down is seldom worth the time."""

MAX_CHARACTERS = 2_000
MAX_ANSWER_BYTES = 1024 * 1024
TIMEOUT_SECONDS = 2.0
BACKOFF_SECONDS = 30.0
"""The backoff after a failure or a slow answer, so that searches don't wait for the service."""

OK = 200


class Reranker:
    """The service at an address, with or without `/rerank` at its end; the client is made at the first use."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str = "",
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        clock: Callable[[], float] = anyio.current_time,
    ) -> None:
        self._url = f"{url.rstrip('/').removesuffix('/rerank')}/rerank"
        self._model = model
        self._headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        self._within_seconds = timeout_seconds
        self._clock = clock
        self._client: httpx.AsyncClient | None = None
        self._backoff_until = float("-inf")

    async def rerank(self, query: str, texts: Sequence[str]) -> list[int]:
        """Return the indices of the texts, best first; in the given order if the service fails or is slow."""
        given_order = list(range(len(texts)))
        if len(texts) < 2 or self._clock() < self._backoff_until:
            return given_order
        try:
            with anyio.fail_after(self._within_seconds):
                scores = await self._scores(query, [text[:MAX_CHARACTERS] for text in texts[:MAX_PASSAGES]])
        except (httpx.HTTPError, TimeoutError, ValueError, KeyError, TypeError) as error:
            logger.warning("Not reranked: %s", type(error).__name__)
            self._backoff_until = self._clock() + BACKOFF_SECONDS
            return given_order
        ranked = sorted(scores, key=lambda place: (-scores[place], place))
        return [*ranked, *(place for place in given_order if place not in scores)]

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
        self._client = None

    async def _scores(self, query: str, texts: list[str]) -> dict[int, float]:
        """Return the scores by index. Raises `ValueError`, `KeyError` or `TypeError` for a malformed answer."""
        if self._client is None:
            self._client = limited_client(MAX_ANSWER_BYTES, headers=self._headers, timeout=self._within_seconds)
        body = {"model": self._model, "query": query, "documents": texts, "top_n": len(texts)}
        response = await self._client.post(self._url, content=orjson.dumps(body))
        if response.status_code != OK:
            raise ValueError(response.status_code)
        results = orjson.loads(response.content)["results"]
        scores = {int(result["index"]): float(result["relevance_score"]) for result in results}
        if not all(0 <= place < len(texts) and math.isfinite(score) for place, score in scores.items()):
            raise ValueError("not scores of what was sent")
        return scores
