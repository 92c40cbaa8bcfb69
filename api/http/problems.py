"""The service's errors on the wire, as problem+json (RFC 9457), and how they are described in OpenAPI."""

import logging
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request
from starlette.responses import Response

from api.errors import ApiError
from api.http.schemas import Problem

logger = logging.getLogger(__name__)

JSON = "application/problem+json"
CODES = {
    401: "unauthenticated",
    403: "missing_scope",
    404: "not_found",
    409: "thread_busy",
    413: "too_large",
    422: "invalid_argument",
    503: "shutting_down",
    507: "storage_failure",
}


def install_problems(app: FastAPI) -> None:
    """Answer the service's own errors in the format that the drive uses for all others."""
    app.add_exception_handler(ApiError, _api_error)


def problem(status: int, code: str, detail: str, hint: str = "", details: dict[str, Any] | None = None) -> Response:
    """Return an error as problem+json."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": int(status),
        "detail": detail,
        "code": code,
        "hint": hint,
        "details": details or {},
    }
    return Response(orjson.dumps(body), status, media_type=JSON)


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the error answers of a route for the OpenAPI description; 401 and 422 are always among them."""
    return {status: _described(status) for status in sorted({401, 422, *statuses})}


def _described(status: int) -> dict[str, Any]:
    phrase = HTTPStatus(status).phrase
    example = Problem(
        title=phrase, status=status, detail="What went wrong.", code=CODES[status], hint="What to do next."
    )
    content = {JSON: {"schema": Problem.model_json_schema(), "example": example.model_dump()}}
    return {"description": phrase, "content": content}


async def _api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)  # noqa: S101 - registered for this class only
    if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        logger.error("%s %s failed: %s", request.method, request.url.path, error.message, exc_info=error)
    return problem(error.status, error.code, error.message, error.hint, error.details)
