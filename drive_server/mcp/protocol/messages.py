"""JSON-RPC messages as bytes: read with care, since the SDK stumbles over malformed ones, and written fast."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from drive_server.kernel.errors import DriveError, InvalidInputError, TooLargeError
from drive_server.kernel.lenient.json_text import read_json

logger = logging.getLogger(__name__)

VERSION: Final = "2.0"
BATCHES_IN: Final = "2025-03-26"
"""The only version of the protocol with batches (MCP 2025-03-26, basic: "Batching")."""
MAX_VALUES: Final = 100_000
MAX_ID_CHARACTERS: Final = 200


class MessageError(Exception):
    """The input is no message. `error` is the answer, to the request `request_id`, None if it is unknown."""

    def __init__(self, code: int, error: DriveError, request_id: RequestId | None = None) -> None:
        super().__init__(error.message)
        self.error = as_error(code, error)
        self.request_id = request_id


def as_error(code: int, error: DriveError) -> ErrorData:
    """Return one of the drive's errors under a number of JSON-RPC."""
    return ErrorData(code=code, message=error.message, data=error.to_dict())


@dataclass(frozen=True, slots=True)
class Batch:
    """Several messages in one text (JSON-RPC 2.0, section 6); an entry that is no message is its error."""

    entries: Sequence[JSONRPCMessage | MessageError]


@dataclass(slots=True)
class BatchAnswers:
    """The answers to a batch, each written already; `open` counts those to come, and one until all was passed on."""

    answers: list[bytes] = field(default_factory=list[bytes])
    open: int = 1


def read_message(data: bytes | bytearray) -> JSONRPCMessage:
    """Return the one message. Raises `MessageError` for anything else."""
    found = read_messages(data, takes_batches=False)
    assert not isinstance(found, Batch)  # noqa: S101 - they are not taken
    return found


def read_messages(data: bytes | bytearray, *, takes_batches: bool) -> JSONRPCMessage | Batch:
    """Return the message, or the batch where the session's protocol has them. Raises `MessageError`.

    Half a surrogate pair becomes U+FFFD: a caller that waits for an answer to its request gets one.
    """
    try:
        found = read_json(data)
    except ValueError as error:
        raise MessageError(
            PARSE_ERROR, InvalidInputError("This is not JSON.", hint="Send one JSON-RPC message, in UTF-8.")
        ) from error
    if not isinstance(found, list):
        return _message(found)
    if not takes_batches:
        raise _invalid("Messages are not taken in batches.", "Send each JSON-RPC message by itself.")
    return _batch(found)


def _batch(found: list[Any]) -> Batch:
    if not found:
        raise _invalid("This batch is empty.", "Send at least one JSON-RPC message.")
    if _has_too_many_values(found):
        raise _too_many_values()
    return Batch([_entry(one) for one in found])


def _entry(found: Any) -> JSONRPCMessage | MessageError:
    try:
        return _message(found)
    except MessageError as error:
        return error


def _message(found: Any) -> JSONRPCMessage:
    if not isinstance(found, dict) or found.get("jsonrpc") != VERSION:
        raise _invalid("This is no JSON-RPC 2.0 message.", 'Send an object with "jsonrpc": "2.0".')
    if _has_too_many_values(found):
        raise _too_many_values(found["id"] if _is_id(found.get("id")) else None)
    return JSONRPCMessage(_parsed(found))


def _too_many_values(request_id: RequestId | None = None) -> MessageError:
    error = TooLargeError(
        "This message has too many values.",
        hint=f"A message has {MAX_VALUES} values at most.",
        details={"limit": MAX_VALUES},
    )
    return MessageError(INVALID_REQUEST, error, request_id)


def write_message(message: JSONRPCMessage) -> bytes:
    """Return the message as JSON in one line.

    A message that can't be written becomes an internal error with the same id.
    """
    root = message.root
    try:
        if isinstance(root, JSONRPCResponse):
            return orjson.dumps({"jsonrpc": VERSION, "id": root.id, "result": root.result})
        return orjson.dumps(root.model_dump(mode="json", by_alias=True, exclude_none=True))
    except (TypeError, ValueError):
        return _written_slowly(message)


def _written_slowly(message: JSONRPCMessage) -> bytes:
    """Unlike orjson's, pydantic's JSON has whole numbers of any size; neither has halves of surrogate pairs."""
    try:
        return message.model_dump_json(by_alias=True, exclude_none=True).encode()
    except ValueError:
        logger.exception("A message could not be written.")
        failure = DriveError("The answer could not be written.", hint="The log says more.")
        return write_failure(getattr(message.root, "id", None), as_error(INTERNAL_ERROR, failure))


def write_batch(answers: Sequence[bytes]) -> bytes:
    """Return the answers to a batch, each written already, as one JSON array."""
    return b"[" + b",".join(answers) + b"]"


def write_failure(request_id: RequestId | None, error: ErrorData) -> bytes:
    """Return an error as JSON, also one that answers no request in particular (JSON-RPC 2.0, section 5.1)."""
    return orjson.dumps({"jsonrpc": VERSION, "id": request_id, "error": error.model_dump(exclude_none=True)})


def _parsed(found: dict[str, Any]) -> JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError:
    request_id = found.get("id")
    if "id" in found and not _is_id(request_id):
        raise _invalid("The id of this message can't be used.", "Use a text or a whole number, not null.")
    method, params = found.get("method"), found.get("params")
    if "method" in found:
        if not isinstance(method, str) or not (params is None or isinstance(params, dict)):
            raise _invalid(
                "This request has no proper method and params.", "`method` is a text, `params` an object.", request_id
            )
        if request_id is None:
            return JSONRPCNotification(jsonrpc=VERSION, method=method, params=params)
        return JSONRPCRequest(jsonrpc=VERSION, id=request_id, method=method, params=params)
    return _parsed_answer(found, request_id)


def _parsed_answer(found: dict[str, Any], request_id: Any) -> JSONRPCResponse | JSONRPCError:
    result, error = found.get("result"), found.get("error")
    if request_id is not None and isinstance(result, dict):
        return JSONRPCResponse(jsonrpc=VERSION, id=request_id, result=result)
    if request_id is not None and isinstance(error, dict):
        code, text = error.get("code"), error.get("message")
        if isinstance(code, int) and isinstance(text, str):
            return JSONRPCError(
                jsonrpc=VERSION, id=request_id, error=ErrorData(code=code, message=text, data=error.get("data"))
            )
    raise _invalid("This is neither a request nor an answer.", "Send a `method`, or an `id` with `result` or `error`.")


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_ID_CHARACTERS
    return isinstance(value, int) and not isinstance(value, bool)


def _has_too_many_values(found: Any) -> bool:
    """Return whether a small text holds so many values that checking it would hold up everybody else."""
    waiting, seen = [found], 0
    while waiting:
        value = waiting.pop()
        children = value.values() if isinstance(value, dict) else value
        seen += len(value)
        if seen > MAX_VALUES:
            return True
        waiting.extend(child for child in children if isinstance(child, dict | list))
    return False


def _invalid(text: str, hint: str, request_id: RequestId | None = None) -> MessageError:
    return MessageError(INVALID_REQUEST, InvalidInputError(text, hint=hint), request_id)
