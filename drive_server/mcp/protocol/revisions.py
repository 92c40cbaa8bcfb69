"""The revisions of MCP that the drive speaks, and the refusal of any other."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS
from mcp.types import ErrorData

from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.messages import Message

REVISION: Final = "2026-07-28"
"""The one without sessions; over HTTP only."""
WITH_SESSIONS: Final = tuple(reversed(SUPPORTED_PROTOCOL_VERSIONS))
"""Newest first."""
SUPPORTED: Final = (REVISION, *WITH_SESSIONS)
UNSUPPORTED_REVISION: Final = -32022
RESERVED: Final = "io.modelcontextprotocol/"
VERSION_KEY: Final = f"{RESERVED}protocolVersion"
MAX_CHARACTERS: Final = 32


def stated_revision(params: Mapping[str, Any] | None) -> Any:
    """Return the revision that a request's `_meta` states, None if it states none."""
    meta = (params or {}).get("_meta")
    return meta.get(VERSION_KEY) if isinstance(meta, dict) else None


def unsupported(requested: Any, reason: str = "revision_unknown", supported: Sequence[str] = SUPPORTED) -> ErrorData:
    """Return the error for a revision that is not spoken, with those that are."""
    named, listed = str(requested)[:MAX_CHARACTERS], ", ".join(supported)
    error = InvalidInputError(Message.of(reason, requested=named, supported=listed))
    data = {**error.to_dict(), "supported": list(supported), "requested": named}
    return ErrorData(code=UNSUPPORTED_REVISION, message=error.message, data=data)
