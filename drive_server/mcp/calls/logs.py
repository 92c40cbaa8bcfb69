"""MCP's log messages about a call: that it began, ended or was refused."""

from typing import Any, Final

from mcp.server.fastmcp import Context
from mcp.server.session import ServerSession
from mcp.types import LoggingLevel

from drive_server.kernel.errors import (
    DriveError,
    EditMismatchError,
    EtagMismatchError,
    ForbiddenError,
    IdempotencyConflictError,
    MissingScopeError,
    NameConflictError,
    QuotaExceededError,
    RateLimitError,
    StateConflictError,
    StorageFailureError,
    TooLargeError,
)

LOGGER: Final = "drive"
# Refusals that a host may want to act on or to show; others are the caller's own slips.
_LEVELS: Final[dict[type[DriveError], LoggingLevel]] = {
    EtagMismatchError: "notice",
    NameConflictError: "notice",
    EditMismatchError: "notice",
    IdempotencyConflictError: "notice",
    StateConflictError: "notice",
    ForbiddenError: "warning",
    MissingScopeError: "warning",
    RateLimitError: "warning",
    TooLargeError: "warning",
    QuotaExceededError: "warning",
    StorageFailureError: "error",
}
_PUBLIC_DETAILS: Final = frozenset(
    {"limit", "retry_after_seconds", "quota_bytes", "used_bytes", "needed_bytes", "scope"}
)


async def log(
    context: Context[ServerSession, Any, Any], level: LoggingLevel, tool: str, event: str, **data: Any
) -> None:
    """Send a message about the call: `event` names it in a few words; `data` is JSON."""
    await context.session.send_log_message(
        level, {"event": event, "tool": tool, **data}, f"{LOGGER}.{tool}", context.request_id
    )


async def log_refusal(context: Context[ServerSession, Any, Any], tool: str, error: DriveError) -> None:
    """Send a message about a refusal that is worth one: a conflict, a limit, a right that is lacking, a failure."""
    level = _level_of(error)
    if level is None:
        return
    details = {name: value for name, value in error.details.items() if name in _PUBLIC_DETAILS}
    await log(context, level, tool, "refused", code=error.code, message=error.message, **details)


def _level_of(error: DriveError) -> LoggingLevel | None:
    if error.code == DriveError.code:
        return "error"
    return next((level for kind, level in _LEVELS.items() if isinstance(error, kind)), None)
