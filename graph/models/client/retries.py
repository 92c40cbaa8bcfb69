"""Decide when to send a request again and how long to wait before, as OpenAI's own clients do."""

import math
import time
from collections.abc import Mapping
from email.utils import mktime_tz, parsedate_tz
from random import random
from typing import Final

LONGEST_ASKED_SECONDS: Final = 120.0
FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 8.0
AGAIN: Final = frozenset({408, 409, 429})
SERVER_FAULT: Final = 500


def is_worth_again(status: int, headers: Mapping[str, str]) -> bool:
    """Say whether a refusal may pass: by what the service says of it, else by its status."""
    asked = seconds_asked_for(headers)
    if asked is not None and asked > LONGEST_ASKED_SECONDS:
        return False
    said = headers.get("x-should-retry")
    if said in {"true", "false"}:
        return said == "true"
    return status in AGAIN or status >= SERVER_FAULT


def pause(attempt: int, headers: Mapping[str, str]) -> float:
    """Return the seconds before the next attempt, where `attempt` counts from 0: what was asked for, else 0.5 to 8."""
    asked = seconds_asked_for(headers)
    if asked is not None and 0 < asked <= LONGEST_ASKED_SECONDS:
        return asked
    return min(FIRST_PAUSE_SECONDS * 2 ** min(attempt, 10), LONGEST_PAUSE_SECONDS) * (1 - 0.25 * random())  # noqa: S311 - it only spreads requests


def seconds_asked_for(headers: Mapping[str, str]) -> float | None:
    """Return the wait that the service asks for (RFC 9110, 10.2.3, and `retry-after-ms`); None without a usable one."""
    for name, per_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers.get(name, "")) / per_second
        except ValueError:
            continue
        return seconds if math.isfinite(seconds) else None
    date = parsedate_tz(headers.get("retry-after", ""))
    return mktime_tz(date) - time.time() if date else None
