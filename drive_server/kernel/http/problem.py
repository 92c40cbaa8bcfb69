"""Errors on the wire: problem+json (RFC 9457) for all that a route raises, and its description in OpenAPI."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from drive_server.kernel.errors import (
    DriveError,
    InvalidInputError,
    MissingScopeError,
    StorageFailureError,
    UnauthenticatedError,
)
from drive_server.kernel.http.challenges import MCP_PATH, challenge
from drive_server.kernel.http.credentials import bearer_token
from drive_server.kernel.http.languages import CONTENT_LANGUAGE, TAGS, language_of
from drive_server.kernel.messages import Language, Message, render
from drive_server.kernel.telemetry.requests import operation_of
from drive_server.kernel.telemetry.security import record_if_refused
from drive_server.kernel.texts import ORIGINAL, Texts

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
MAX_COMPLAINTS = 20
# Statuses of protocols on top of HTTP.
UNREGISTERED = {460: "Checksum Mismatch"}
MAX_PLACE_CHARACTERS = 100
# The codes of errors that come without a `DriveError`, and the examples in OpenAPI; each class has its own.
CODES = {
    400: "bad_request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "state_conflict",
    412: "invalid_argument",
    413: "too_large",
    415: "unsupported_media_type",
    416: "range_not_satisfiable",
    421: "misdirected_request",
    422: "invalid_argument",
    423: "state_conflict",
    429: "rate_limited",
    460: "invalid_argument",
    503: "unavailable",
    507: "storage_failure",
}
TEXTS: Final = Texts.beside(__file__)
"""`fault` has the sentence on a field's fault, by a part of the validator's code for it."""
UNREADABLE_BODY: Final = "There was an error parsing the body"
"""The text of FastAPI's 400 for a body that is not UTF-8, or nested too deep for `json`; no route describes a 400."""
SCHEMA: dict[str, str] = {"$ref": "#/components/schemas/Problem"}
"""`description.py` puts the schema there."""
CHALLENGE: dict[str, str] = {"WWW-Authenticate": 'Bearer realm="drive"'}


class Problem(BaseModel):
    """An error (RFC 9457). `code` is stable; `detail` is a sentence; `hint` names the next step."""

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
    language: Language = "en",
) -> Response:
    """Return an error as problem+json; its texts are in that language."""
    headers = {**(headers or {}), CONTENT_LANGUAGE: TAGS[language]}
    body = Problem(title=_title(status), status=int(status), detail=detail, code=code, hint=hint, details=details or {})
    return Response(orjson.dumps(body.model_dump()), status, headers, media_type=MEDIA_TYPE)


def problem_body(error: Mapping[str, Any], language: Language) -> Problem:
    """Return the problem of an error that was recorded: `DriveError.to_dict` with its status."""
    others = error.get("messages", {})
    detail, hint = (others.get(field, {}).get(language, error[field]) for field in ("message", "hint"))
    status = error["status"]
    return Problem(
        title=_title(status), status=status, detail=detail, code=error["code"], hint=hint, details=error["details"]
    )


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the error answers of a route for the OpenAPI description; 401 and 422 are always among them."""
    return {status: _description(status) for status in sorted({401, 422, *statuses})}


def _description(status: int) -> dict[str, Any]:
    title = _title(status)
    example = Problem(title=title, status=status, detail="It failed.", code=CODES[status], hint="What to do next.")
    content = {MEDIA_TYPE: {"schema": SCHEMA, "example": example.model_dump()}}
    return {"description": title, "content": content}


def _title(status: int) -> str:
    return UNREGISTERED.get(status) or HTTPStatus(status).phrase


def problem_of(error: DriveError, language: Language = "en") -> Response:
    """Return one of the drive's errors as problem+json, in the language."""
    headers = CHALLENGE if isinstance(error, UnauthenticatedError) else {}
    if (seconds := error.details.get("retry_after_seconds")) is not None:
        headers = {**headers, "Retry-After": str(seconds)}
    return problem(error.status, error.code, *error.texts(language), error.details, headers, language)


async def _drive_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, DriveError)  # noqa: S101 - registered for this class only
    if isinstance(error, InvalidInputError):
        error = await _refusal_of_stranger(request) or error
    if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        # The cause of a failure of the disk was logged where it was translated.
        _log_failure(request, error, cause=None if isinstance(error, StorageFailureError) else error)
    # A wrong key or proof was recorded where it was looked up, and a stranger without one is no refusal.
    if hasattr(request.state, "principal") and not isinstance(error, UnauthenticatedError):
        record_if_refused(error.code)
    response = problem_of(error, language_of(request))
    if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN) and (value := _challenge(request, error)):
        response.headers["WWW-Authenticate"] = value
    return response


async def _refusal_of_stranger(request: Request) -> DriveError | None:
    """Return the error for a caller who was not looked up yet, and has no valid key: nothing else is told to them."""
    caller = getattr(request.state, "caller", None)
    if caller is None or hasattr(request.state, "principal"):
        return None
    try:
        await caller.actor()
    except DriveError as refusal:
        return refusal
    return None


def _challenge(request: Request, error: DriveError) -> str | None:
    """Return the WWW-Authenticate that leads a program to the token it lacks, None if no token would help."""
    drive = getattr(request.app.state, "drive", None)
    if drive is None:
        return None
    has_token = bearer_token(request) is not None
    is_for_mcp = request.url.path.rstrip("/") == MCP_PATH
    if isinstance(error, UnauthenticatedError):
        return challenge(drive.settings, error="invalid_token" if has_token else "", is_for_mcp=is_for_mcp)
    if isinstance(error, MissingScopeError) and has_token:
        return challenge(drive.settings, error="insufficient_scope", scopes=(error.details["scope"],))
    return None


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this class only
    if (refusal := await _refusal_of_stranger(request)) is not None:
        return await _drive_error(request, refusal)
    language, found = language_of(request), error.errors()[:MAX_COMPLAINTS]
    complaints = [{"where": _place(one["loc"]), "problem": str(one["msg"])} for one in found]
    shown = [f"{_place(one['loc'])}: {_complaint(one, language)}" for one in found]
    detail = TEXTS.say("faults", language, faults=TEXTS.template("between_faults", language).join(shown))
    hint = render(Message.of("correct_request"), language)
    return problem(422, CODES[422], detail, hint, {"errors": complaints}, language=language)


def _complaint(found: dict[str, Any], language: Language) -> str:
    """Return the problem of a field; the validator's own words are English."""
    if language == ORIGINAL:
        return str(found["msg"])
    kind, faults = str(found["type"]), TEXTS.value("fault", language)
    if kind == "value_error":  # a check of our own, whose words name the right form
        return TEXTS.say("fault_of_ours", language, fault=faults[""], reason=found["msg"])
    return next((words for part, words in faults.items() if part in kind), faults[""])


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
    language, code = language_of(request), CODES.get(error.status_code, "http_error")
    if error.detail == UNREADABLE_BODY:
        return _unreadable(language)
    headers = dict(error.headers) if error.headers else None
    detail = f"{error.detail}." if language == ORIGINAL else render(Message.of(f"error.{code}"), language)
    hint = render(Message.of("see_openapi"), language)
    return problem(error.status_code, code, detail, hint, headers=headers, language=language)


def _unreadable(language: Language) -> Response:
    """Answer a body that is no text, or too deep, as every other body that is wrong."""
    detail, hint = (render(Message.of(key), language) for key in ("unreadable_body", "correct_request"))
    return problem(422, CODES[422], detail, hint, language=language)


async def _unexpected(request: Request, error: Exception) -> Response:
    # The HTTP server gets the exception as well and logs its trace.
    _log_failure(request, error)
    language, sentence = language_of(request), Message.of(f"error.{DriveError.code}")
    return problem(
        500, DriveError.code, render(sentence, language), render(Message.of("see_log"), language), language=language
    )


def _log_failure(request: Request, error: Exception, cause: Exception | None = None) -> None:
    """Name the operation, not the address: names, and secrets of links, may stand in it."""
    logger.error("%s %s failed: %s", request.method, operation_of(request.scope), error, exc_info=cause)


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part)[:MAX_PLACE_CHARACTERS] for part in location)
