"""The caller's principal in a context variable, and the keys of MCP's `_meta`."""

from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from drive_server.kernel.access import Principal

current_principal: "ContextVar[Principal | None]" = ContextVar("current_principal", default=None)
"""The principal of the session or request that the running task serves; None before anyone proved who they are."""

request_address: "ContextVar[str]" = ContextVar("request_address", default="")
"""The address by which the request that is answered reached this service; empty where no request may name it."""


def public_address(otherwise: str) -> str:
    """Return the address that links lead to, without a slash at its end: the request's, or else the given one."""
    return request_address.get() or otherwise.rstrip("/")


META_RUN_ID: Final = "drive-agent/run-id"
"""Request: the assistant's run that makes the call (str); its changes can be undone together."""
META_IDEMPOTENCY_KEY: Final = "drive-agent/idempotency-key"
"""Request: a call with a key that was used before answers as recorded then (str)."""
META_IF_MATCH: Final = "drive-agent/if-match"
"""Request: the etag at which the call was approved (str)."""
META_DRY_RUN: Final = "drive-agent/dry-run"
"""Request: do it, tell its effects, and roll it back (bool)."""
META_APPROVED_BY: Final = "drive-agent/approved-by"
"""Request: the email of the person who said yes (str)."""
META_APPROVED_KEY: Final = "drive-agent/approved-key"
"""Request: the name of the key with which that person said it (str)."""
META_TOOL_CALL_ID: Final = "drive-agent/tool-call-id"
"""Request: the id of the model's call in its run (str)."""
META_APPROVAL_ID: Final = "drive-agent/approval-id"
"""Request: the approval with which the person said yes (str)."""
META_GRANT_ID: Final = "drive-agent/grant-id"
"""Request: the grant that covers the call, or `plan` for the bounds of a plan (str)."""
META_TIME_ZONE: Final = "drive-agent/time-zone"
"""Request: the time zone where the person is, an IANA name (str); without it, that of the settings."""
META_WHOLE_RESULTS: Final = "drive-agent/whole-results"
"""Request: answer with every field of each record, and with the sentences in Chinese (bool)."""
META_EFFECT: Final = "drive-agent/effect"
"""Result of a dry run: the `Effect` as JSON."""
META_CHANGE_ID: Final = "drive-agent/change-id"
"""Result of a change: its number in the journal (int)."""
META_REPLAYED: Final = "drive-agent/replayed"
"""Result of a change: true if the idempotency key was known and nothing was done again (bool)."""
META_FOREIGN: Final = "drive-agent/foreign"
"""Result for the assistant: the items of it that somebody else named, each with its `id`, `name` and `by` (a list)."""
META_OF_OTHERS: Final = "drive-agent/of-others"
"""Result for the assistant: the ids of the items in it that belong to somebody else (a list)."""
META_TOOL: Final = "drive-agent/tool"
"""Tool in a list: its record, with kind, risk and scope (`drive_server/mcp/tools/definition/spec.py`)."""
