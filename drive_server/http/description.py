"""The description of all routes in OpenAPI, completed at one seam: operation ids, errors, and what a browser needs not.

Each operation has its errors as problem+json: those that its route names, or, if it names none, those that follow from
what it takes; and `default` for what any route may answer, such as 405 or 429.
"""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final, cast

from fastapi import FastAPI
from fastapi.routing import APIRoute

from drive_server.http.problem import MEDIA_TYPE, SCHEMA, Problem, problem_responses

METHODS: Final = frozenset({"get", "put", "post", "delete", "patch", "head", "options"})
READING: Final = frozenset({"get", "head", "options"})
REPLACED: Final = ("HTTPValidationError", "ValidationError")
"""FastAPI's own words for an invalid request; the answer is a problem."""
ANY: Final = "default"

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
