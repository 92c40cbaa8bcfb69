"""Errors on the wire: problem+json (RFC 9457) for whatever a route raises, in one place."""

import logging
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from drive_server.errors import DriveError, MissingScopeError, UnauthenticatedError
from drive_server.http.access import NO_STORE, bearer_token
from drive_server.http.metadata import challenge

logger = logging.getLogger(__name__)

MOST_COMPLAINTS = 20
# Of protocols on top of HTTP.
UNREGISTERED = {460: "Checksum Mismatch"}
MOST_PLACE_CHARACTERS = 100
CODES = {
    400: "bad_request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
    416: "range_not_satisfiable",
    421: "misdirected_request",
    422: "invalid_argument",
}
CHALLENGE: dict[str, str] = {"WWW-Authenticate": 'Bearer realm="drive"'}


def install_problem_handlers(app: FastAPI) -> None:
    """Answer the drive's errors, FastAPI's and the unexpected ones as problem+json."""
    app.add_exception_handler(DriveError, _drive_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unexpected)


def problem(
    status: int,
    code: str,
    detail: str,
    hint: str = "",
    details: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """Return an error as problem+json."""
    body = {
        "type": "about:blank",
        "title": UNREGISTERED.get(status) or HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        "hint": hint,
        "details": details or {},
    }
    # Some errors may be kept by proxies unless they are told not to, 404 for one: the item may be there a moment later.
    told = {"Cache-Control": NO_STORE, **(headers or {})}
    return Response(orjson.dumps(body), status, told, media_type="application/problem+json")


def problem_of(error: DriveError) -> Response:
    """Return one of the drive's errors as problem+json."""
    headers = CHALLENGE if isinstance(error, UnauthenticatedError) else {}
    if (seconds := error.details.get("retry_after_seconds")) is not None:
        headers = {**headers, "Retry-After": str(seconds)}
    return problem(error.status, error.code, error.message, error.hint, error.details, headers)


async def _drive_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, DriveError)  # noqa: S101 - registered for this class only
    if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        logger.error("%s %s failed: %s", request.method, request.url.path, error.message, exc_info=error)
    response = problem_of(error)
    if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN) and (told := _challenge(request, error)):
        response.headers["WWW-Authenticate"] = told
    return response


def _challenge(request: Request, error: DriveError) -> str | None:
    """Return what tells a program how to get the token that it lacks, None if none would help."""
    drive = getattr(request.app.state, "drive", None)
    if drive is None:
        return None
    has_token = bearer_token(request) is not None
    if isinstance(error, UnauthenticatedError):
        return challenge(drive.settings, error="invalid_token" if has_token else "")
    if isinstance(error, MissingScopeError) and has_token:
        return challenge(drive.settings, error="insufficient_scope", scopes=(error.details["scope"],))
    return None


async def _validation_error(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this class only
    complaints = [
        {"where": _place(found["loc"]), "problem": str(found["msg"])} for found in error.errors()[:MOST_COMPLAINTS]
    ]
    told = "; ".join(f"{complaint['where']}: {complaint['problem']}" for complaint in complaints)
    return problem(422, CODES[422], f"{told}.", "Correct the request.", {"errors": complaints})


async def _http_error(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
    code = CODES.get(error.status_code, "http_error")
    headers = dict(error.headers) if error.headers else None
    return problem(error.status_code, code, f"{error.detail}.", "See /docs for what there is.", headers=headers)


async def _unexpected(request: Request, error: Exception) -> Response:
    # The HTTP server gets the exception as well and logs its trace.
    logger.error("%s %s failed: %r", request.method, request.url.path, error)
    return problem(500, DriveError.code, "Something went wrong in the drive.", "Try again; its log says more.")


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part)[:MOST_PLACE_CHARACTERS] for part in location)
