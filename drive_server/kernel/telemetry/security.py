"""The security channel: sign-ins, refusals, new and ended keys and programs, decisions of people. Never content."""

import logging
from collections.abc import Mapping
from typing import Final, Literal

from drive_server.kernel.telemetry.formats import DETAILS
from drive_server.kernel.telemetry.metrics import REFUSALS

SECURITY: Final = "drive_agent.security"
"""The name of its logger: a filter of logs selects the channel by it."""

SecurityEvent = Literal[
    "sign_in",
    "sign_out",
    "access",
    "limit",
    "key_made",
    "key_ended",
    "key_scopes",
    "program_let_in",
    "passkey_added",
    "passkey_removed",
    "password_set",
    "account",
    "approval",
]

EVENTS_BY_CODE: Final[Mapping[str, SecurityEvent]] = {
    "unauthenticated": "access",
    "account_disabled": "access",
    "missing_scope": "access",
    "forbidden": "access",
    "fresh_proof_needed": "access",
    "rate_limited": "limit",
    "quota_exceeded": "limit",
}
"""The events by the codes of the errors that tell a caller of them."""

_logger = logging.getLogger(SECURITY)


def record(event: SecurityEvent, outcome: str, *, actor: str = "", **details: str) -> None:
    """Write a line about an event that went well. `actor` is the id of the person; details are ids, names and codes."""
    _write(logging.INFO, event, outcome, {"actor": actor, **details})


def record_refusal(event: SecurityEvent, reason: str, *, actor: str = "", **details: str) -> None:
    """Write a warning about something that was refused; `reason` is the code of the error."""
    REFUSALS.labels(event, reason).inc()
    _write(logging.WARNING, event, "refused", {"reason": reason, "actor": actor, **details})


def record_if_refused(code: str) -> None:
    """Write a warning if an error with this code is a refusal."""
    if event := EVENTS_BY_CODE.get(code):
        record_refusal(event, code)


def _write(level: int, event: SecurityEvent, outcome: str, details: dict[str, str]) -> None:
    fields = {"event": event, "outcome": outcome, **{name: value for name, value in details.items() if value}}
    _logger.log(level, "%s: %s", event, outcome, extra={DETAILS: fields})
