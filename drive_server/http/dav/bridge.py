"""wsgidav in threads of its own, its answers streamed to the client; bodies of files never pass through it.

Not a2wsgi: that takes a body that breaks off for one that has ended, and would store half a file; and a client that
goes away while an answer is sent leaves its thread waiting for ever. Starlette's own middleware holds whole bodies.
"""

from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from io import BytesIO
from itertools import chain
from typing import Any, Final
from weakref import WeakValueDictionary

import anyio
from anyio import CapacityLimiter
from starlette.responses import Response
from starlette.types import Send
from wsgidav.dav_error import DAVError

from drive_server.http.dav.call import DavCall
from drive_server.http.dav.errors import dav_response
from drive_server.http.dav.href import shielded
from drive_server.http.dav.provider import request_server

HTML: Final = "text/html"


class FairLimiter:
    """Lets `total` calls at once into threads, `each` of one caller: a slow sender holds up nobody else."""

    def __init__(self, total: int, each: int) -> None:
        self._each = each
        self._all = CapacityLimiter(total)
        self._callers: WeakValueDictionary[str, CapacityLimiter] = WeakValueDictionary()

    async def run(self, caller: str, work: Callable[[], None]) -> None:
        """Do the work in a thread, when it is the caller's turn."""
        own = self._callers.get(caller)
        if own is None:
            own = self._callers[caller] = CapacityLimiter(self._each)
        async with own:
            await anyio.to_thread.run_sync(work, limiter=self._all)


def environment(call: DavCall, body: bytes) -> dict[str, Any]:
    """Return the WSGI environment of a request (PEP 3333), as far as wsgidav reads it."""
    scope = call.request.scope
    found: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "PATH_INFO": shielded(call.path),
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": BytesIO(body),
        "wsgi.url_scheme": scope["scheme"],
        "HTTP_HOST": "",
    }
    for raw_name, raw_value in scope["headers"]:
        name = f"HTTP_{raw_name.decode('latin-1').upper().replace('-', '_')}"
        if name not in {"HTTP_CONTENT_LENGTH", "HTTP_AUTHORIZATION", "HTTP_COOKIE"}:
            found[name] = raw_value.decode(errors="replace")
    return found


def serve(call: DavCall, environ: dict[str, Any], send: Send) -> None:
    """Answer the request from a thread of the event loop's."""
    answer = _Answer(call, send)
    server, environ = request_server(call, environ)
    try:
        pieces = iter(server(environ, answer.start))
        answer.send_all(pieces)
    except DAVError as error:
        answer.send_error(error)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - the seam: nobody is to see more of it than that it happened
        answer.send_error(DAVError(HTTPStatus.INTERNAL_SERVER_ERROR, src_exception=error))


class _Answer:
    """Sends wsgidav's answers, without the pages in HTML that it makes for browsers."""

    def __init__(self, call: DavCall, send: Send) -> None:
        self._call = call
        self._send = send
        self._status = HTTPStatus.OK
        self._headers: list[tuple[str, str]] = []
        self._is_begun = False

    def start(self, status: str, headers: Iterable[tuple[str, str]], exc_info: Any = None) -> None:
        """Take note of the status and the headers."""
        del exc_info
        self._status = HTTPStatus(int(status.partition(" ")[0]))
        self._headers = [*headers]

    def send_all(self, pieces: Iterator[bytes]) -> None:
        """Send the answer, each piece when the one before is on its way."""
        first = next(pieces, b"")
        if self._is_page():
            self._send_page()
            return
        self._begin()
        for piece in chain((first,), pieces):
            self._piece(piece)
        self._message({"type": "http.response.body", "body": b""})

    def send_error(self, error: DAVError) -> None:
        """Send an error. Raises it if the answer has begun: it is broken off then."""
        if self._is_begun:
            raise error
        self._respond(dav_response(self._call.request, error))

    def _is_page(self) -> bool:
        is_html = any(name.lower() == "content-type" and value.startswith(HTML) for name, value in self._headers)
        return is_html or self._status >= HTTPStatus.BAD_REQUEST

    def _send_page(self) -> None:
        """Send a status that wsgidav made a page of: an error as the others are, success without a body."""
        if self._status >= HTTPStatus.BAD_REQUEST:
            refusal = self._call.refusal
            error = refusal if refusal and refusal.value == self._status else DAVError(self._status)
            self._respond(dav_response(self._call.request, error))
            return
        dropped = {"content-type", "content-length"}
        headers = {name: value for name, value in self._headers if name.lower() not in dropped} | self._call.headers
        self._respond(Response(None, self._status, headers))

    def _begin(self) -> None:
        if self._status == HTTPStatus.NO_CONTENT and self._call.creates:
            self._status = HTTPStatus.CREATED
        shown = [*self._headers, *self._call.headers.items()]
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in shown]
        if self._status == HTTPStatus.NO_CONTENT:
            headers = [(name, value) for name, value in headers if name != b"content-length"]
        self._message({"type": "http.response.start", "status": int(self._status), "headers": headers})
        self._is_begun = True

    def _piece(self, piece: bytes) -> None:
        if piece:
            self._message({"type": "http.response.body", "body": piece, "more_body": True})

    def _message(self, message: dict[str, Any]) -> None:
        async def sent() -> None:
            await self._send(message)

        anyio.from_thread.run(sent)

    def _respond(self, response: Response) -> None:
        anyio.from_thread.run(response, self._call.request.scope, self._call.request.receive, self._send)
        self._is_begun = True
