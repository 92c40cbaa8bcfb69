"""Errors in OpenAI's shape, with this service's own sentences in the caller's language."""

from collections.abc import Awaitable, Callable, Coroutine
from http import HTTPStatus
from typing import Any, Final

import orjson
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response
from typing_extensions import override

from api.http.filtered_route import filter_error
from drive_server.kernel.errors import DriveError

SERVER_ERROR: Final = "server_error"
TYPES: Final = {
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
    HTTPStatus.CONFLICT: "conflict_error",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
}
KEPT: Final = frozenset({"www-authenticate", "retry-after", "content-language"})
"""Headers of a problem that OpenAI's clients read, too."""

Handler = Callable[[Request, Any], Awaitable[Response]]


class OpenAIRoute(APIRoute):
    """A route of OpenAI's API: its errors have that API's shape."""

    @override
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of requests."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except (DriveError, RequestValidationError, HTTPException) as error:
                if isinstance(error, DriveError):
                    filter_error(error, request.app.state.service.graph.link_filter().clean)
                return await _answer(request, error)

        return handled


async def _answer(request: Request, error: Exception) -> Response:
    """Return the problem that every other route would answer with, in the other shape."""
    handlers: dict[Any, Handler] = request.app.exception_handlers
    handle = next(handlers[kind] for kind in type(error).__mro__ if kind in handlers)
    found = await handle(request, error)
    problem: dict[str, Any] = orjson.loads(bytes(found.body))
    # An unreadable field is a bad request to them.
    status = HTTPStatus.BAD_REQUEST if found.status_code == HTTPStatus.UNPROCESSABLE_ENTITY else found.status_code
    headers = {name: value for name, value in found.headers.items() if name in KEPT}
    body = error_body(
        " ".join(filter(None, [problem["detail"], problem["hint"]])), problem["code"], status, _parameter(problem)
    )
    return Response(orjson.dumps(body), status, headers, media_type="application/json")


def error_body(message: str, code: str, status: int, parameter: str | None = None) -> dict[str, Any]:
    """Return an error in OpenAI's shape."""
    otherwise = SERVER_ERROR if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
    kind = TYPES.get(HTTPStatus(status), otherwise)
    return {"error": {"message": message, "type": kind, "param": parameter, "code": code}}


def _parameter(problem: dict[str, Any]) -> str | None:
    found = problem["details"].get("errors") or [{}]
    return found[0].get("where", "").removeprefix("body.") or None
