"""The one seam between the drive's errors and those of JSON-RPC and MCP."""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from mcp.shared.exceptions import McpError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, ErrorData

from drive_server.kernel.errors import (
    CallCancelledError,
    DriveError,
    InvalidInputError,
    NotFoundError,
    StateConflictError,
    UnsupportedContentError,
)
from drive_server.kernel.messages import Message
from drive_server.kernel.telemetry.security import record_if_refused

logger = logging.getLogger(__name__)

RESOURCE_NOT_FOUND: Final = -32002
REFUSED: Final = -32000
REQUEST_CANCELLED: Final = -32800


def public_error(error: BaseException | None, where: str) -> DriveError:
    """Return the error as a client may know it. An unforeseen one is logged, and its text goes to nobody."""
    if isinstance(error, DriveError):
        record_if_refused(error.code)
        return error
    logger.error("%s failed", where, exc_info=error)
    return DriveError(Message.of("internal"))


def error_data(error: DriveError, *, not_found: int = INVALID_PARAMS, unusable_is_invalid: bool = False) -> ErrorData:
    """Return the error as JSON-RPC carries it, with `{code, message, hint, details}` as its data.

    `not_found` is the number for a missing item: -32002 for a resource, -32602 for an item that an argument names
    (MCP 2025-11-25, server/resources and server/prompts). `unusable_is_invalid`: an item that exists but can't be used
    here, such as a file without text, is the fault of the argument that names it.
    """
    code = REFUSED
    if isinstance(error, InvalidInputError):
        code = INVALID_PARAMS
    elif isinstance(error, NotFoundError):
        code = not_found
    elif unusable_is_invalid and isinstance(error, (StateConflictError, UnsupportedContentError)):
        code = INVALID_PARAMS
    elif error.code == DriveError.code:
        code = INTERNAL_ERROR
    return ErrorData(code=code, message=error.message, data=error.to_dict())


def call_cancelled() -> ErrorData:
    """Return the answer to a cancelled request (MCP 2025-11-25, basic/utilities/cancellation)."""
    data = error_data(CallCancelledError(Message.of("cancelled")))
    return ErrorData(code=REQUEST_CANCELLED, message=data.message, data=data.data)


@contextmanager
def as_protocol_error(
    where: str, *, not_found: int = INVALID_PARAMS, unusable_is_invalid: bool = False
) -> Generator[None]:
    """Turn any exception inside into `McpError`; one that is raised already passes."""
    try:
        yield
    except McpError:
        raise
    except Exception as error:
        shown = error_data(public_error(error, where), not_found=not_found, unusable_is_invalid=unusable_is_invalid)
        raise McpError(shown) from error
