"""Errors on the wire: problem+json (RFC 9457) for all that a route raises, and its description in OpenAPI."""

import logging
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from drive_server.errors import DriveError, MissingScopeError, UnauthenticatedError
from drive_server.http.access import bearer_token
from drive_server.http.metadata import challenge

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
MOST_COMPLAINTS = 20
# Statuses of protocols on top of HTTP.
UNREGISTERED = {460: "Checksum Mismatch"}
MOST_PLACE_CHARACTERS = 100
# The codes of errors that come without a `DriveError`, and the examples in OpenAPI; each class has its own.
CODES = {
    400: "bad_request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "state_conflict",
    413: "too_large",
    415: "unsupported_media_type",
    416: "range_not_satisfiable",
    421: "misdirected_request",
    422: "invalid_argument",
    503: "unavailable",
    507: "storage_failure",
}
CHALLENGE: dict[str, str] = {"WWW-Authenticate": 'Bearer realm="drive"'}


class Problem(BaseModel):
    """An error (RFC 9457). `code` is stable; `detail` is a sentence; `hint` says what to do next."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    hint: str = ""
    details: dict[str, Any] = {}


def install_problem_handlers(app: FastAPI) -> None:
    """Answer errors of the drive and of those who extend its tree, FastAPI's and unexpected ones as problem+json."""
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
    body = Problem(title=_title(status), status=int(status), detail=detail, code=code, hint=hint, details=details or {})
    return Response(orjson.dumps(body.model_dump()), status, headers, media_type=MEDIA_TYPE)


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the error answers of a route for the OpenAPI description; 401 and 422 are always among them."""
    return {status: _description(status) for status in sorted({401, 422, *statuses})}


def _description(status: int) -> dict[str, Any]:
    title = _title(status)
    example = Problem(title=title, status=status, detail="It failed.", code=CODES[status], hint="What to do next.")
    content = {MEDIA_TYPE: {"schema": Problem.model_json_schema(), "example": example.model_dump()}}
    return {"description": title, "content": content}


def _title(status: int) -> str:
    return UNREGISTERED.get(status) or HTTPStatus(status).phrase


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
    if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN) and (value := _challenge(request, error)):
        response.headers["WWW-Authenticate"] = value
    return response


def _challenge(request: Request, error: DriveError) -> str | None:
    """Return the WWW-Authenticate that leads a program to the token it lacks, None if no token would help."""
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
    detail = "; ".join(f"{complaint['where']}: {complaint['problem']}" for complaint in complaints)
    return problem(422, CODES[422], f"{detail}.", "Correct the request.", {"errors": complaints})


async def _http_error(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
    code = CODES.get(error.status_code, "http_error")
    headers = dict(error.headers) if error.headers else None
    return problem(error.status_code, code, f"{error.detail}.", "See /openapi.json for what there is.", headers=headers)


async def _unexpected(request: Request, error: Exception) -> Response:
    # The HTTP server gets the exception as well and logs its trace.
    logger.error("%s %s failed: %r", request.method, request.url.path, error)
    return problem(500, DriveError.code, "Something went wrong in the drive.", "Try again; its log says more.")


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part)[:MOST_PLACE_CHARACTERS] for part in location)
