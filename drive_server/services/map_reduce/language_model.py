"""Language models as the drive uses them: instructions and a text in, a text out; asked again where that may help."""

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

import anyio
import httpx
import orjson

from drive_server.kernel.http_client import limited_client


class LanguageModel(Protocol):
    """Answers one request at a time; several may be under way at once."""

    @property
    def name(self) -> str:
        """The model's name, for people."""
        ...

    async def complete(self, system: str, text: str, max_tokens: int) -> str:
        """Return the answer of about `max_tokens` tokens at most, never empty. Raises `ModelError`."""
        ...


class ModelError(Exception):
    """There is no answer to this request; asking again would give none either. `reason` is for a person."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ModelBusyError(ModelError):
    """There is no answer this time: asking again may give one, after `retry_after` seconds if that is known."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class ModelLostError(ModelError):
    """No request will be answered any more: there is nobody there, or the key is wrong."""


class ModelDeclinedError(ModelLostError):
    """The person in front of the host does not want its model to be used."""


PAUSES: Final = (1.0, 4.0)
"""Seconds before a request is made again, if the model does not say how long it wants to be left alone."""
MAX_FAILURES: Final = 10
"""Requests that may fail one after another before the rest is not tried any more."""

Pause = Callable[[float], Awaitable[None]]


class RetryingModel:
    """Asks a model. `lost` is why it is not asked any more, None as long as it is; `pause` waits for some seconds."""

    def __init__(self, model: LanguageModel, pause: Pause = anyio.sleep) -> None:
        self.lost: ModelLostError | None = None
        self._model = model
        self._pause = pause
        self._failures = 0

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    async def complete(self, system: str, text: str, max_tokens: int) -> str:
        """Return the answer. Raises `ModelError`, and `ModelLostError` if none will come any more."""
        if self.lost is not None:
            raise self.lost
        try:
            answer = await self._answer(system, text, max_tokens)
        except ModelLostError as error:
            self.lost = error
            raise
        except ModelError as error:
            self._failures += 1
            if self._failures >= MAX_FAILURES:
                self.lost = ModelLostError(error.reason)
            raise
        self._failures = 0
        return answer

    async def _answer(self, system: str, text: str, max_tokens: int) -> str:
        for pause in PAUSES:
            try:
                return await self._model.complete(system, text, max_tokens)
            except ModelBusyError as error:
                await self._pause(pause if error.retry_after is None else error.retry_after)
                if self.lost is not None:
                    raise self.lost from error
        return await self._model.complete(system, text, max_tokens)


DEFAULT_URL: Final = "https://api.openai.com/v1"
LIMIT, NEWER_LIMIT = "max_tokens", "max_completion_tokens"
"""OpenAI's newer models know only the newer name, most other services only the older."""
CONNECT_SECONDS: Final = 10.0
MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024
MAX_RETRY_SECONDS: Final = 30.0
OK, BAD_REQUEST, TIMEOUT, TOO_MANY, FIRST_SERVER_ERROR = 200, 400, 408, 429, 500
NEVER: Final = frozenset({401, 402, 403, 404, 405})
"""Statuses for a wrong key, address or model name: a retry would fail too."""
_THOUGHTS: Final = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
"""The reasoning that some models put before their answer."""


class ChatCompletions:
    """A model of the service at a base address such as `https://api.openai.com/v1`; it answers within `seconds`."""

    def __init__(self, url: str, key: str, model: str, *, seconds: float) -> None:
        self.name = model
        self._url = f"{(url or DEFAULT_URL).rstrip('/')}/chat/completions"
        self._headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        self._timeout = httpx.Timeout(seconds, connect=CONNECT_SECONDS)
        self._client: httpx.AsyncClient | None = None
        self._limit_name = LIMIT

    async def complete(self, system: str, text: str, max_tokens: int) -> str:
        """Return the answer.

        Raises `ModelError`: `ModelBusyError` for a fault that may pass, `ModelLostError` if it won't.
        """
        response = await self._post(system, text, max_tokens)
        if response.status_code == BAD_REQUEST and self._limit_name.encode() in response.content:
            self._limit_name = NEWER_LIMIT
            response = await self._post(system, text, max_tokens)
        if response.status_code != OK:
            raise _failure(response)
        return _answer(response.content)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
        self._client = None

    async def _post(self, system: str, text: str, max_tokens: int) -> httpx.Response:
        if self._client is None:
            self._client = limited_client(
                MAX_ANSWER_BYTES, headers=self._headers, timeout=self._timeout, follow_redirects=False
            )
        messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
        body = orjson.dumps({"model": self.name, "messages": messages, self._limit_name: max_tokens})
        try:
            return await self._client.post(self._url, content=body)
        except httpx.TimeoutException as error:
            raise ModelBusyError("the model did not answer in time") from error
        except httpx.HTTPError as error:
            raise ModelBusyError("the model can't be reached") from error


def _failure(response: httpx.Response) -> ModelError:
    status = response.status_code
    if status in NEVER:
        return ModelLostError(f"the model's service refuses requests ({status})")
    if status in {TIMEOUT, TOO_MANY} or status >= FIRST_SERVER_ERROR:
        reason = "the model has too many requests" if status == TOO_MANY else f"the model's service failed ({status})"
        return ModelBusyError(reason, _retry_after(response.headers.get("Retry-After", "")))
    return ModelError(f"the model does not take this text ({status})")


def _answer(body: bytes) -> str:
    """Return the text of the first choice. Source: OpenAI API reference, "Create chat completion"."""
    try:
        found: Any = orjson.loads(body)["choices"][0]["message"]["content"]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ModelBusyError("the model's answer can't be understood") from error
    text = _THOUGHTS.sub("", found).strip() if isinstance(found, str) else ""
    if not text:
        raise ModelBusyError("the model gave no text")
    return text


def _retry_after(header: str) -> float | None:
    """Return the seconds asked for; None for a date, which hardly any such service sends. Source: RFC 9110, 10.2.3."""
    return min(float(header), MAX_RETRY_SECONDS) if header.strip().isdecimal() else None
