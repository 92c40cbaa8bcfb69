"""Errors on the wire: problem+json (RFC 9457) for whatever a route raises, in one place."""

import logging
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from drive_server.errors import DriveError, UnauthenticatedError

logger = logging.getLogger(__name__)

MOST_COMPLAINTS = 20
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
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="drive"'}


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
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        "hint": hint,
        "details": details or {},
    }
    return Response(orjson.dumps(body), status, headers, media_type="application/problem+json")


def problem_of(error: DriveError) -> Response:
    """Return one of the drive's errors as problem+json."""
    headers = CHALLENGE if isinstance(error, UnauthenticatedError) else None
    return problem(error.status, error.code, error.message, error.hint, error.details, headers)


async def _drive_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, DriveError)  # noqa: S101 - registered for this class only
    if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        logger.error("%s %s failed: %s", request.method, request.url.path, error.message, exc_info=error)
    return problem_of(error)


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
