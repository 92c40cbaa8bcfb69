"""A second opinion on the best passages, by a model that reads each beside the question: off unless it is configured.

The service is one of those that answer `POST .../rerank` as Cohere's and Jina's do (also vLLM, TEI's proxies, Infinity
and LiteLLM, which put cross-encoders and language models behind it).
"""

import logging
import math
from collections.abc import Callable, Sequence

import anyio
import httpx
import orjson

logger = logging.getLogger(__name__)

MOST_PASSAGES = 30
"""How many of the best are read again: an answer that is further down is seldom worth the time of all the others."""

MOST_CHARACTERS = 2_000
WITHIN_SECONDS = 2.0
LEFT_ALONE_SECONDS = 30.0
"""How long a service that failed or was slow is not asked again, so that searches don't wait for it."""

OK = 200


class Reranker:
    """The service at an address, with or without `/rerank` at its end; the client is made at the first use.

    It gets the question and the texts of passages that the person may see, nothing else.
    """

    def __init__(
        self,
        url: str,
        model: str,
        key: str = "",
        *,
        within_seconds: float = WITHIN_SECONDS,
        clock: Callable[[], float] = anyio.current_time,
    ) -> None:
        self._url = f"{url.rstrip('/').removesuffix('/rerank')}/rerank"
        self._model = model
        self._headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        self._within_seconds = within_seconds
        self._clock = clock
        self._client: httpx.AsyncClient | None = None
        self._left_alone_until = float("-inf")

    async def order(self, query: str, texts: Sequence[str]) -> list[int]:
        """Return the places of the texts, the best first: as they are if the service says nothing of use in time."""
        as_they_are = list(range(len(texts)))
        if len(texts) < 2 or self._clock() < self._left_alone_until:
            return as_they_are
        try:
            with anyio.fail_after(self._within_seconds):
                scores = await self._scores(query, [text[:MOST_CHARACTERS] for text in texts[:MOST_PASSAGES]])
        except (httpx.HTTPError, TimeoutError, ValueError, KeyError, TypeError) as error:
            logger.warning("Not reranked: %s", type(error).__name__)
            self._left_alone_until = self._clock() + LEFT_ALONE_SECONDS
            return as_they_are
        judged = sorted(scores, key=lambda place: (-scores[place], place))
        return [*judged, *(place for place in as_they_are if place not in scores)]

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
        self._client = None

    async def _scores(self, query: str, texts: list[str]) -> dict[int, float]:
        """Return the scores by place. Raises `ValueError`, `KeyError` or `TypeError` for an answer that is none."""
        if self._client is None:
            self._client = httpx.AsyncClient(headers=self._headers, timeout=self._within_seconds)
        body = {"model": self._model, "query": query, "documents": texts, "top_n": len(texts)}
        response = await self._client.post(self._url, content=orjson.dumps(body))
        if response.status_code != OK:
            raise ValueError(response.status_code)
        results = orjson.loads(response.content)["results"]
        scores = {int(result["index"]): float(result["relevance_score"]) for result in results}
        if not all(0 <= place < len(texts) and math.isfinite(score) for place, score in scores.items()):
            raise ValueError("not scores of what was sent")
        return scores
