"""Rate limits of each person's tools: sliding windows, counted in this process.

Nothing is shared between people, and nothing is kept over a restart: a rate holds back what runs wild, it is no quota.
With several replicas of the service each counts for itself.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Final

from graph.clock import Clock

PERIODS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
MOST_WINDOWS: Final = 10_000
"""So many are kept before those are dropped in which nothing counts any more."""

Window = deque[datetime]
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `calls` within any `period`."""

    calls: int
    period: timedelta


@dataclass(frozen=True, slots=True)
class RateReached:
    """A call that was one too many: the rate it ran against, and the seconds until there is room again (at least 1)."""

    rate: Rate
    retry_after_seconds: int


def parse_rate(text: str) -> Rate | None:
    """Read a rate in the form of the setting `tool_rate`; None if there is no limit."""
    calls, _, period = text.strip().partition("/")
    return Rate(int(calls), timedelta(seconds=PERIODS[period])) if period else None


def parse_rates(text: str) -> dict[str, Rate | None]:
    """Read several in the form of the setting `tool_rates`, by name."""
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    return {name.strip(): parse_rate(rate) for name, _, rate in pairs}


class ToolRates:
    """Counts calls by person and tool.

    `general` holds for each tool by itself; `special` by the name of a tool, in place of the general one, or of a risk
    (read, write, share, delete), for all tools of that risk together and beside the tool's own.
    """

    def __init__(self, general: Rate | None, special: Mapping[str, Rate | None], clock: Clock) -> None:
        self._general = general
        self._special = special
        self._clock = clock
        self._windows: dict[Key, Window] = {}

    def take(self, user_id: str, tool: str, risk: str) -> RateReached | None:
        """Count the call and return None, or what it ran against: then it is not counted."""
        now = self._clock()
        limits = self._limits(tool, risk)
        windows = [self._window((user_id, *kind), rate, now) for kind, rate in limits.items()]
        full = [
            RateReached(rate, max(1, ceil((window[0] + rate.period - now).total_seconds())))
            for window, rate in zip(windows, limits.values(), strict=True)
            if len(window) >= rate.calls
        ]
        if full:
            return max(full, key=lambda reached: reached.retry_after_seconds)
        for window in windows:
            window.append(now)
        self._forget(now)
        return None

    def _limits(self, tool: str, risk: str) -> dict[tuple[str, str], Rate]:
        found = {("tool", tool): self._special.get(tool, self._general), ("risk", risk): self._special.get(risk)}
        return {kind: rate for kind, rate in found.items() if rate is not None}

    def _window(self, key: Key, rate: Rate, now: datetime) -> Window:
        window = self._windows.setdefault(key, deque())
        while window and window[0] + rate.period <= now:
            window.popleft()
        return window

    def _forget(self, now: datetime) -> None:
        if len(self._windows) <= MOST_WINDOWS:
            return
        longest = timedelta(seconds=max(PERIODS.values()))
        stale = [key for key, window in self._windows.items() if not window or window[-1] + longest <= now]
        for key in stale:
            del self._windows[key]
