"""The description of all routes in OpenAPI, completed at one seam: operation ids and errors.

Each operation has its errors as problem+json: those that its route names, or, if it names none, those that follow from
its parameters; and `default` for answers of any route, such as 405 or 429.
"""

from collections.abc import Iterator
from hashlib import sha256
from http import HTTPStatus
from typing import Any, Final, cast

import orjson
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from drive_server.http.headers.bytes import matches_etag
from drive_server.http.headers.compression import Compressed
from drive_server.http.headers.responses import CACHE, REVALIDATED
from drive_server.kernel.http.problem import MEDIA_TYPE, SCHEMA, Problem, problem_responses

METHODS: Final = frozenset({"get", "put", "post", "delete", "patch", "head", "options"})
READING: Final = frozenset({"get", "head", "options"})
REPLACED: Final = ("HTTPValidationError", "ValidationError")
"""FastAPI's own words for an invalid request; the answer is a problem."""
ANY: Final = "default"
ADDRESS: Final = "/openapi.json"

Document = dict[str, Any]


def operation_id(route: APIRoute) -> str:
    """Return the stable id of an operation, by which generated clients call it: its function's, or the tool's, name."""
    return route.name


def describe(app: FastAPI) -> None:
    """Complete the application's description when it is first asked for."""
    made = app.openapi

    def openapi() -> Document:
        if app.openapi_schema is None:
            app.openapi_schema = completed(made())
        return app.openapi_schema

    app.openapi = openapi
    endpoint = Compressed(_Description(app))
    app.router.routes.append(Route(ADDRESS, endpoint, methods=["GET"], name="openapi", include_in_schema=False))


class _Description:
    """Sends the description. It is the same for everybody until the next version, so clients keep it and ask again."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._sent: tuple[bytes, str] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._sent is None:
            body = orjson.dumps(self._app.openapi())
            # Weak: the compressed bytes have the same etag.
            self._sent = body, f'W/"{sha256(body).hexdigest()[:32]}"'
        body, etag = self._sent
        headers = {"ETag": etag, CACHE: REVALIDATED}
        if matches_etag(Headers(scope=scope).get("if-none-match"), etag):
            response = Response(None, HTTPStatus.NOT_MODIFIED, {**headers, "Vary": "Accept-Encoding"})
        else:
            response = Response(body, headers=headers, media_type="application/json")
        await response(scope, receive, send)


def completed(document: Document) -> Document:
    """Return the document with the errors of every operation, in place."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas["Problem"] = Problem.model_json_schema()
    for name in REPLACED:
        schemas.pop(name, None)
    for method, operation in operations(document):
        responses = operation["responses"]
        if not any(is_problem(response) for response in responses.values()):
            responses.pop("422", None)
            responses |= {str(status): one for status, one in problem_responses(*_statuses(method, operation)).items()}
            if "security" not in operation and method in READING:
                responses.pop("401")
        responses.setdefault(ANY, _any_problem())
    return document


def operations(document: Document) -> Iterator[tuple[str, Document]]:
    """Yield the operations of a document with their methods."""
    for path in document["paths"].values():
        for method, operation in path.items():
            if method in METHODS:
                yield method, operation


def is_problem(response: Document) -> bool:
    """Return whether a response is described as problem+json."""
    return MEDIA_TYPE in cast("Document", response.get("content", {}))


def _statuses(method: str, operation: Document) -> Iterator[int]:
    yield HTTPStatus.FORBIDDEN
    if "requestBody" in operation or any(map(_names_something, operation.get("parameters", ()))):
        yield HTTPStatus.NOT_FOUND
    if method not in READING:
        yield HTTPStatus.CONFLICT
    if "requestBody" in operation:
        yield HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        yield HTTPStatus.INSUFFICIENT_STORAGE


def _names_something(parameter: Document) -> bool:
    return parameter["in"] == "path" or parameter["name"].endswith("_id")


def _any_problem() -> Document:
    example = Problem(
        title="Too Many Requests",
        status=HTTPStatus.TOO_MANY_REQUESTS,
        detail="Too many requests at once.",
        code="rate_limited",
        hint="Wait, and try again.",
        details={"retry_after_seconds": 5},
    )
    content = {MEDIA_TYPE: {"schema": SCHEMA, "example": example.model_dump()}}
    return {"description": "Any other error", "content": content}
