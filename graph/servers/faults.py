"""The one place where the errors of httpx, the SDK and the system become reasons that people can read."""

import json
import re
import ssl
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

import anyio
import httpx
from httpx_sse import SSEError
from mcp import McpError
from mcp.types import CONNECTION_CLOSED, LATEST_PROTOCOL_VERSION, METHOD_NOT_FOUND, ErrorData
from pydantic import ValidationError

from graph.servers.reasons import FaultError, Reason, timed_out

REQUEST_TIMEOUT: Final = 408
"""The code that the SDK gives an answer that did not come in time."""
SESSION_TERMINATED: Final = 32600
"""The code that the SDK gives to an HTTP status 404."""
NEWER_CODES: Final = frozenset({METHOD_NOT_FOUND, -32001, -32020, -32022})
"""Answers to `initialize` of a server that has no such method any more (MCP 2026-07-28)."""
ENVELOPE: Final = ("_meta", "io.modelcontextprotocol/")
"""In the words of a server that misses the keys which each request has since then."""
NEWER: Final = "2026-07-28"
VERSION: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
MAX_VERSIONS: Final = 5
REFUSED: Final = frozenset({400, 401, 403, 404, 405, 410, 413, 415, 429})
"""Statuses of a request that was not looked into: a session that is over, a sign-in that is, a limit."""
SIGN_IN: Final = frozenset({401, 403})
SIGN_IN_MARKS: Final = re.compile(r"\bresource_metadata=|\berror=\"?insufficient_scope\b")
"""Signs of OAuth in a `WWW-Authenticate` (RFC 9728 section 5.1, RFC 6750 section 3.1)."""


class LostError(Exception):
    """The connection broke before the answer came; the cause is why."""


BROKEN: Final = (
    *(httpx.TransportError, ConnectionError, LostError),
    *(anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream),
)


def leaves(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the errors in exception groups, and each one's causes after it."""
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from leaves(inner)
    elif error is not None:
        yield error
        yield from leaves(error.__cause__ or error.__context__)


def reason_of(error: BaseException | None, host: str, seconds: float) -> Reason:
    """Return why a connection to `host` failed or ended; `seconds` is how long the caller would have waited.

    Several errors come at once when a connection breaks: the end of the connection says least.
    """
    found = [reason for leaf in leaves(error) if (reason := _reason(leaf, host, seconds))]
    telling = [reason for reason in found if reason.code != "closed"]
    return next(iter(telling or found), Reason("internal"))


def _reason(error: BaseException, host: str, seconds: float) -> Reason | None:
    match error:
        case FaultError():
            return error.reason
        case McpError():
            return _answered(error.error, seconds)
        case httpx.HTTPStatusError():
            return _of_status(error.response)
        case SSEError() | ValidationError() | ValueError():
            return Reason("not_mcp")
        case httpx.InvalidURL() | httpx.UnsupportedProtocol():
            return Reason("definition", {"detail": "base_url"})
        case ssl.SSLError() | httpx.ConnectError() | httpx.ConnectTimeout():
            tls = any(isinstance(cause, ssl.SSLError) for cause in leaves(error))
            return Reason("tls" if tls else "unreachable", {"host": host})
        case _ if isinstance(error, BROKEN):
            return Reason("closed")
        case TimeoutError():
            return timed_out(seconds)
        case RuntimeError():  # the SDK's, also for an event stream that ends before it begins
            return _newer(str(error)) if "Unsupported protocol version" in str(error) else Reason("not_mcp")
        case _:
            return None


def _answered(error: ErrorData, seconds: float) -> Reason:
    """Return the reason in an error that the server answered with, or the SDK for it."""
    if error.code == REQUEST_TIMEOUT:
        return timed_out(seconds)
    if error.code == SESSION_TERMINATED:
        return Reason("http_status", {"status": 404})
    if error.code == CONNECTION_CLOSED:
        return Reason("closed")
    return _of_version(error) or Reason("refused", detail=error.message)


def _of_version(error: ErrorData) -> Reason | None:
    data = cast("Mapping[str, Any]", error.data) if isinstance(error.data, dict) else {}
    if isinstance(data.get("supported"), list):
        return _newer(" ".join(map(str, data["supported"])))
    wants_envelope = any(word in error.message for word in ENVELOPE)
    return _newer("") if error.code in NEWER_CODES or wants_envelope else None


def _newer(text: str) -> Reason:
    versions = [version for version in VERSION.findall(text) if version != LATEST_PROTOCOL_VERSION][:MAX_VERSIONS]
    return Reason("protocol", {"versions": ", ".join(versions) or NEWER, "supported": LATEST_PROTOCOL_VERSION})


def _of_status(response: httpx.Response) -> Reason:
    status = response.status_code
    if status in SIGN_IN:
        if SIGN_IN_MARKS.search(response.headers.get("www-authenticate", "")):
            return Reason("sign_in")
        return Reason("unauthorized", {"status": status})
    if response.is_redirect:
        return Reason("redirect", detail=_target(response))
    return _of_body(response) or Reason("http_status", {"status": status})


def _of_body(response: httpx.Response) -> Reason | None:
    """Return the reason in a JSON-RPC error that came with an HTTP status."""
    try:
        return _of_version(ErrorData.model_validate(response.json()["error"]))
    except (httpx.StreamError, ValueError, TypeError, KeyError):
        return None


def _target(response: httpx.Response) -> str:
    """Return the target of a redirect, without possible secrets in it."""
    try:
        location = response.url.join(response.headers.get("location", ""))
    except httpx.InvalidURL:
        return ""
    return str(location.copy_with(userinfo=b"", query=None, fragment=None))


def was_not_sent(error: BaseException, request_id: int | str | None) -> bool:
    """Say whether a request certainly had no effect: it found no connection, or the server refused it as such."""
    for leaf in leaves(error):
        if isinstance(leaf, anyio.ClosedResourceError | anyio.BrokenResourceError):
            return True
        if isinstance(leaf, McpError) and leaf.error.code == SESSION_TERMINATED:
            return True
        is_refused = isinstance(leaf, httpx.HTTPStatusError) and leaf.response.status_code in REFUSED
        if isinstance(leaf, httpx.HTTPStatusError) and is_refused and _id_of(leaf) == request_id:
            return True
        if isinstance(leaf, httpx.ConnectError) and _id_of(leaf) == request_id:
            return True
    return False


def _id_of(error: httpx.HTTPError) -> int | str | None:
    """Return the id of the JSON-RPC request that failed; a broken connection ends those of other callers, too."""
    try:
        return json.loads(error.request.content)["id"]
    except (RuntimeError, httpx.StreamError, ValueError, TypeError, KeyError):
        return None
