"""A service's chat completions over HTTP: sent again where that helps, read as they come, closed if nobody waits."""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from random import random
from typing import Any, Final

import aiohttp
import orjson
from langchain_core.exceptions import ContextOverflowError, ModelError, ModelTimeoutError

from graph.models.client.connections import Connections
from graph.models.client.events import PROGRESS, EventReader, read_json
from graph.models.client.failures import interruption, refusal
from graph.models.client.incoming import COMMENT_WAITS, Incoming

REFUSED: Final = 400
PATH: Final = "/chat/completions"
MAX_REFUSAL_BYTES: Final = 64 * 1024
FRAME_SECONDS: Final = 1 / 60
"""As long as a screen shows one picture: nobody sees tokens that come faster one by one."""
CROWD: Final = 10
GATHERED_PER_ANSWER: Final = 0.001
MAX_GATHERING_SECONDS: Final = 0.1
DRAIN_SECONDS: Final = 0.5
"""Wait for the end of a stream after its last event, so that the connection can be used again."""
MAX_ASKED_SECONDS: Final = 120.0
FIRST_PAUSE_SECONDS: Final = 0.5
MAX_PAUSE_SECONDS: Final = 8.0
AGAIN: Final = frozenset({408, 409, 429})
SERVER_FAULT: Final = 500


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a service and its time limits, in seconds.

    `first` is the longest silence before an answer begins, `between` the longest one after that. Any byte ends a
    silence: servers send comments while they read a long request, for `COMMENT_WAITS` times as long at most. `retries`
    is how often a request is sent again.
    """

    url: str
    headers: Mapping[str, str]
    connections: Connections
    proxy: str | None
    first: float
    between: float
    retries: int

    async def stream(self, body: Mapping[str, Any]) -> AsyncGenerator[list[Any]]:
        """Yield the chunks of the answer, all that are there at a time.

        Raises LangChain's model errors for refusals, `aiohttp.ClientError` for lost connections, and ValueError for a
        body that is no answer.
        """
        response = await self._send(orjson.dumps(body))
        incoming = Incoming(response.content, self.first)
        self.connections.answers += 1
        try:
            if response.headers.get("content-type", "").startswith("application/json"):
                incoming.expect(self.first)
                yield [_checked(read_json(await incoming.read_all()))]
                return
            reader, patience = EventReader(), self.first
            asked = -math.inf  # the first piece holds up nothing, for often it has no words yet
            while not reader.ended and not incoming.ended:
                chunks, broken = await _next(reader, incoming, patience)
                waited = incoming.now() - asked
                if chunks:
                    yield chunks
                if broken:
                    raise broken
                if chunks and not reader.ended:
                    await incoming.batch(batching_seconds(self.connections.answers, waited))
                asked = incoming.now()
                if patience != self.between and any(PROGRESS not in chunk for chunk in chunks):
                    patience = self.between
            await incoming.drain(DRAIN_SECONDS)
        finally:
            self.connections.answers -= 1
            incoming.close()
            response.close()

    async def _send(self, content: bytes) -> aiohttp.ClientResponse:
        for attempt in range(self.retries + 1):
            is_last = attempt == self.retries
            headers: Mapping[str, str] = {}
            try:
                response = await self._post(content)
            except (aiohttp.ClientError, ModelTimeoutError):
                if is_last:
                    raise
            else:
                if response.status < REFUSED:
                    return response
                refused, headers = refusal(response.status, await self._refused(response)), response.headers
                is_final = is_last or isinstance(refused, ContextOverflowError)
                if is_final or not is_worth_again(response.status, headers):
                    raise refused
            await asyncio.sleep(pause(attempt, headers))
        raise AssertionError

    async def _post(self, content: bytes) -> aiohttp.ClientResponse:
        try:
            async with asyncio.timeout(self.first):
                return await self.connections.post(self.url + PATH, self.headers, content, self.proxy)
        except TimeoutError as error:
            raise ModelTimeoutError(f"no answer within {self.first:g} s") from error

    async def _refused(self, response: aiohttp.ClientResponse) -> bytes:
        """Return the beginning of a refusal's body, as far as it comes, and let the connection go."""
        body, incoming = b"", Incoming(response.content, self.first)
        incoming.expect(self.first)
        try:
            with suppress(aiohttp.ClientError, ModelTimeoutError):
                while len(body) <= MAX_REFUSAL_BYTES and (piece := await incoming.read()):
                    body += piece
        finally:
            incoming.close()
            response.close()
        return body[:MAX_REFUSAL_BYTES]


def batching_seconds(answers: int, waited: float) -> float:
    """Return how many seconds tokens are batched while so many answers come in at once, and the last took `waited`.

    Handling a token downstream costs more than the token. One person among few sees each as it comes, those that come
    faster than a screen shows them with the next picture; in a crowd of a hundred, ten times a second is as often as
    there is time for.
    """
    of_fast = FRAME_SECONDS if waited < FRAME_SECONDS else 0.0
    of_crowd = min(answers * GATHERED_PER_ANSWER, MAX_GATHERING_SECONDS) if answers >= CROWD else 0.0
    return max(of_fast, of_crowd)


async def _next(
    reader: EventReader, incoming: Incoming, patience: float
) -> tuple[list[Mapping[str, Any]], Exception | None]:
    """Return the chunks that are there, or come next with no silence of `patience` seconds; none at the body's end.

    Chunks that come before an error are part of the answer.
    """
    chunks: list[Mapping[str, Any]] = []
    broken: Exception | None = None
    end = incoming.now() + patience * COMMENT_WAITS
    while not chunks and broken is None and not incoming.ended:
        if incoming.now() >= end:
            raise ModelTimeoutError(f"nothing but comments came for {patience * COMMENT_WAITS:g} s")
        incoming.expect(patience)
        piece = await incoming.read()
        chunks, broken = _checked_until_error(reader.feed(piece) if piece else reader.close())
    incoming.relax()
    return chunks, broken


def _checked_until_error(found: Sequence[Any]) -> tuple[list[Mapping[str, Any]], Exception | None]:
    chunks: list[Mapping[str, Any]] = []
    for chunk in found:
        try:
            chunks.append(_checked(chunk))
        except (ModelError, TypeError) as error:
            return chunks, error
    return chunks, None


def _checked(chunk: Any) -> Mapping[str, Any]:
    if not isinstance(chunk, dict):
        raise TypeError(f"a chunk of an answer is an object, not {type(chunk).__name__}")
    if error := chunk.get("error"):
        raise interruption(error)
    return chunk


def is_worth_again(status: int, headers: Mapping[str, str]) -> bool:
    """Say whether a refusal may pass: by the service's own header, else by its status."""
    asked = seconds_asked_for(headers)
    if asked is not None and asked > MAX_ASKED_SECONDS:
        return False
    said = headers.get("x-should-retry")
    if said in {"true", "false"}:
        return said == "true"
    return status in AGAIN or status >= SERVER_FAULT


def pause(attempt: int, headers: Mapping[str, str]) -> float:
    """Return the seconds before the next attempt, from 0 on: the service's own number, else 0.5 to 8."""
    asked = seconds_asked_for(headers)
    if asked is not None and 0 < asked <= MAX_ASKED_SECONDS:
        return asked
    return min(FIRST_PAUSE_SECONDS * 2 ** min(attempt, 10), MAX_PAUSE_SECONDS) * (1 - 0.25 * random())  # noqa: S311 - it only spreads requests


def seconds_asked_for(headers: Mapping[str, str]) -> float | None:
    """Return the wait that the service asks for (RFC 9110, 10.2.3, and `retry-after-ms`); None without a usable one."""
    for name, per_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers.get(name, "")) / per_second
        except ValueError:
            continue
        return seconds if math.isfinite(seconds) else None
    date = parsedate_tz(headers.get("retry-after", ""))
    return mktime_tz(date) - time.time() if date else None
