"""Translate a service's refusals into LangChain's errors; `graph/models/asking.py` translates those into ours."""

from collections.abc import Mapping
from typing import Any, Final, cast

from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelError,
    ModelInvalidRequestError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
    ModelTimeoutError,
)

from graph.models.client.events import read_json
from graph.models.overflow import is_too_long

DETAIL_CHARACTERS: Final = 2_000
SERVER_FAULT: Final = 500
REQUEST_FAULT: Final = 400
KINDS: Final[Mapping[int, type[ModelError]]] = {
    401: ModelAuthenticationError,
    403: ModelPermissionDeniedError,
    404: ModelNotFoundError,
    408: ModelTimeoutError,
    429: ModelRateLimitError,
}


def refusal(status: int, body: bytes) -> ModelError:
    """Return the error for an answer with an HTTP status of 400 or more."""
    try:
        error = read_json(body)
    except ValueError:
        error = body.decode(errors="replace")
    return _error(status, error.get("error", error) if isinstance(error, dict) else error)


def interruption(error: object) -> ModelError:
    """Return the error for one that a stream breaks off with. Some services put the HTTP status into its code."""
    code = cast("Mapping[str, Any]", error).get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) and code >= REQUEST_FAULT else SERVER_FAULT
    return _error(status, error)


def _error(status: int, error: object) -> ModelError:
    details: Mapping[str, Any] = cast("dict[str, Any]", error) if isinstance(error, dict) else {"message": error}
    text = f"{status} {details.get('code') or ''}: {details.get('message') or details.get('detail') or error}"[
        :DETAIL_CHARACTERS
    ]
    if is_too_long(text, status):
        return ContextOverflowError(text)
    otherwise = ModelAPIError if status >= SERVER_FAULT else ModelInvalidRequestError
    return KINDS.get(status, otherwise)(text)
