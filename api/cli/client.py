"""The client of the service: JSON over HTTP, retries, and every failure as a `CommandError`."""

from __future__ import annotations

import time
from contextlib import contextmanager
from http import HTTPStatus
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import httpx

from api.cli.failure import CommandError, LostConnectionError, ServiceError
from api.cli.texts import text

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

Json = dict[str, Any]
T = TypeVar("T")

PAGE_SIZE = 200
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104 - compared with, never bound
PORTS = {"http": 80, "https": 443}
DEFAULT_PORT = 8000
RECONNECTION_TRIES = 12
FIRST_PAUSE_SECONDS = 0.2
MAX_PAUSE_SECONDS = 10.0
UNAVAILABLE = frozenset({502, 503, 504})
# Server-sent events are silent for one heartbeat at most; an upload's answer waits for the disk.
TIMEOUT = httpx.Timeout(connect=10, read=120, write=120, pool=None)


class ServiceClient:
    """A connection to one service, for several threads; `reopen` makes a new HTTP client: the address may change."""

    def __init__(self, http: httpx.Client, reopen: Callable[[], httpx.Client]) -> None:
        self._http = http
        self._reopen = reopen

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def reconnect(self) -> None:
        """Connect again. Raises `CommandError` if there is no service."""
        fresh = self._reopen()
        self._http.close()
        self._http = fresh

    def get(self, path: str, **params: Any) -> Any:
        """Return the JSON at a path."""
        return read_json(self.send("GET", path, params=params))

    def post(self, path: str, body: Json | None = None, **params: Any) -> Any:
        """Post JSON and return the JSON that answers."""
        return read_json(self.send("POST", path, params=params, json=body if body is not None else {}))

    def delete(self, path: str) -> None:
        """Delete the resource at a path."""
        self.send("DELETE", path)

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send one request. Raises `ServiceError` for a refusal, `LostConnectionError` without a connection."""
        return check(self.send_unchecked(method, path, **options))

    def send_unchecked(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send one request and return the response, with any status. Raises `LostConnectionError`."""
        with translated_errors():
            return self._http.request(method, path, **options)

    @contextmanager
    def stream(self, method: str, path: str, **options: Any) -> Generator[httpx.Response]:
        """Send a request whose answer is read in pieces; raises as `send` does, also when it breaks."""
        with translated_errors(), self._http.stream(method, path, **options) as response:
            if not response.is_success:
                response.read()
            yield check(response)

    def pages(self, path: str, **params: Any) -> Iterator[Json]:
        """Yield the entries of all pages of a list."""
        cursor: str | None = None
        while True:
            page = self.get(path, limit=PAGE_SIZE, **params, **({"cursor": cursor} if cursor else {}))
            yield from page["items"]
            cursor = page.get("cursor")
            if not cursor:
                return

    def item(self, ref: str) -> Json:
        """Return the file or folder with an id or at a path of the drive."""
        return self.get(f"/api/drive/items/{quote(ref, safe='')}")


@contextmanager
def translated_errors() -> Generator[None]:
    """Translate httpx's errors; no other module does."""
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise LostConnectionError.of("unreachable", attempt=_start_of(error)) from error
    except httpx.TimeoutException as error:
        raise LostConnectionError.of("timeout") from error
    except (httpx.TransportError, httpx.DecodingError) as error:
        raise LostConnectionError.of("broken") from error
    except httpx.InvalidURL as error:
        raise CommandError.of("bad_url", url=error) from error


def _start_of(error: httpx.RequestError) -> list[str]:
    """Return the command that starts the service where it was looked for; none for another machine."""
    url = error.request.url
    if url.host not in LOCAL_HOSTS:
        return []
    port = url.port or PORTS.get(url.scheme, DEFAULT_PORT)
    return ["serve"] if port == DEFAULT_PORT else ["serve", "--port", str(port)]


def check(response: httpx.Response) -> httpx.Response:
    """Return the response if it is a success; raise its problem as `ServiceError` if not."""
    if response.is_success:
        return response
    problem = _problem(response)
    hint = str(problem.get("hint") or "")
    if response.status_code == HTTPStatus.UNAUTHORIZED:
        hint = text("bad_token")
    raise ServiceError(
        response.status_code,
        str(problem.get("code") or ""),
        str(problem.get("detail") or problem.get("message") or text("status", status=response.status_code)),
        hint=hint,
        details=problem.get("details"),
    )


def read_json(response: httpx.Response) -> Any:
    """Return the JSON of a response. Raises `CommandError` if it is none."""
    try:
        return response.json()
    except ValueError as error:
        raise CommandError.of("no_service") from error


def _problem(response: httpx.Response) -> Mapping[str, Any]:
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def is_transient(error: LostConnectionError | ServiceError) -> bool:
    """Return whether another try may succeed."""
    return isinstance(error, LostConnectionError) or error.status in UNAVAILABLE


def retry(request: Callable[[], T], wait: Callable[[int, CommandError], None]) -> T:
    """Send a repeatable request until it is answered; `wait(failures, error)` waits, or raises to give up."""
    for failures in count(1):
        try:
            return request()
        except (LostConnectionError, ServiceError) as error:
            if not is_transient(error):
                raise
            wait(failures, error)
    raise AssertionError  # the loop has no end of its own


class Reconnection:
    """Reconnects a client with backoff. `pause` waits for a number of seconds."""

    def __init__(self, client: ServiceClient, pause: Callable[[float], None] = time.sleep) -> None:
        self._client = client
        self._pause = pause

    def wait(self, failures: int, error: CommandError | None = None) -> None:
        """Wait, longer with every failure, and connect. Raises `LostConnectionError` after the last failure."""
        if failures >= RECONNECTION_TRIES:
            raise LostConnectionError.of("lost") from error
        self._pause(min(FIRST_PAUSE_SECONDS * 2 ** (failures - 1), MAX_PAUSE_SECONDS))
        try:
            self._client.reconnect()
        except CommandError:
            # The next try fails as well, and counts.
            return

    def post(self, path: str, body: Json) -> Any:
        """Post a body that may be posted twice, until the service answers."""
        return retry(lambda: self._client.post(path, body), self.wait)
