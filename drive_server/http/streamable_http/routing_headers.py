"""Headers that repeat parts of the body, for those on the way who do not read it (MCP 2026-07-28, transports)."""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from typing import Any, Final

from mcp.types import JSONRPCRequest
from starlette.datastructures import Headers

from drive_server.kernel.errors import MalformedRequestError
from drive_server.kernel.messages import Message
from drive_server.mcp.protocol.revisions import stated_revision
from drive_server.mcp.stateless.envelope import (
    HEADER_MISMATCH,
    RequestRefusedError,
    envelope_of,
    refused,
)

VERSION_HEADER: Final = "MCP-Protocol-Version"
METHOD_HEADER: Final = "Mcp-Method"
NAME_HEADER: Final = "Mcp-Name"
NAMED: Final[Mapping[str, str]] = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
NAMED_IF_SENT: Final[Mapping[str, str]] = {
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
"""The extension of tasks asks its clients for the header, and the protocol's own clients do not know that."""
_BEGINNING: Final = "=?base64?"
_END: Final = "?="


def require_headers(headers: Headers, root: JSONRPCRequest) -> None:
    """Require that the headers agree with the body. Raises `RequestRefusedError`."""
    envelope_of(root.params)  # the body's gaps are told first
    _require(headers, VERSION_HEADER, stated_revision(root.params))
    _require(headers, METHOD_HEADER, root.method)
    params = root.params or {}
    if (name := NAMED.get(root.method)) or ((name := NAMED_IF_SENT.get(root.method)) and NAME_HEADER in headers):
        _require(headers, NAME_HEADER, params.get(name), can_be_encoded=True)


def _require(headers: Headers, name: str, stated: Any, *, can_be_encoded: bool = False) -> None:
    """Require that the header is there, once, with this value; a body without one is judged by its method."""
    if stated is None:
        return
    sent = headers.getlist(name)
    if not sent:
        raise _mismatch("routing_header_missing", name)
    value = sent[0].strip(" \t")
    value = _decoded(value) if can_be_encoded else value
    if len(sent) > 1 or value != stated:
        raise _mismatch("header_differs", name)


def _decoded(value: str) -> str | None:
    """Return the value of a header, None for one that is encoded wrongly."""
    if not (value.startswith(_BEGINNING) and value.endswith(_END)):
        return value
    try:
        return b64decode(value[len(_BEGINNING) : -len(_END)], validate=True).decode()
    except (Base64Error, ValueError):
        return None


def _mismatch(code: str, name: str) -> RequestRefusedError:
    return refused(400, HEADER_MISMATCH, MalformedRequestError(Message.of(code, header=name)))
