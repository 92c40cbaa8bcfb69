"""Cancelled requests (MCP 2025-11-25, basic/utilities/cancellation): the work ends, the session goes on."""

from functools import partial
from typing import Any, Final

from mcp.shared.session import RequestResponder
from mcp.types import ErrorData

from drive_server.errors import CallCancelledError
from drive_server.mcp.protocol.failures import error_data
from drive_server.messages import Message

REQUEST_CANCELLED: Final = -32800
"""The code of the answer that ends a cancelled request's event stream; its client does not wait for it."""


def can_be_cancelled(responder: RequestResponder[Any, Any]) -> None:
    """Let the request be cancelled from now on.

    The SDK forgets a cancellation that comes before the request's handler has begun, and answers with the code 0.
    """
    responder.cancel = partial(_cancel, responder)


def was_cancelled(responder: RequestResponder[Any, Any]) -> bool:
    """Return whether the request is over before its handler has begun."""
    return responder._completed  # pyright: ignore[reportPrivateUsage] - the SDK looks at it in another object, too


async def _cancel(responder: RequestResponder[Any, Any]) -> None:
    if was_cancelled(responder):
        return
    responder._completed = True  # pyright: ignore[reportPrivateUsage] - as the SDK's own `cancel` does
    responder._cancel_scope.cancel()  # pyright: ignore[reportPrivateUsage] - likewise
    await responder._session._send_response(responder.request_id, _answer())  # pyright: ignore[reportPrivateUsage] - likewise


def _answer() -> ErrorData:
    data = error_data(CallCancelledError(Message.of("cancelled")))
    return ErrorData(code=REQUEST_CANCELLED, message=data.message, data=data.data)
