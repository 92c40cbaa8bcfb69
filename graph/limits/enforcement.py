"""Keeps calls from being made that are over a limit, and tells the model why; the turn's own limits are elsewhere."""

import json
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.messages.tool import invalid_tool_call

from graph.clock import Clock
from graph.limits.limits import LIMIT, REFUSED, RETRY_AFTER, CallLimit, fingerprint, messages_of_turn, repeated_calls
from graph.messages.grouping import AnyCall
from graph.messages.written import result_message
from graph.policy.tools import ToolFacts
from graph.settings import AgentSettings
from graph.state import State, current_step

TOO_LONG: Final = "argument_size"
"""The `error` of an invalid call whose arguments were dropped because of their length."""
PERIODS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
MOST_WINDOWS: Final = 10_000
"""So many are kept before those are dropped in which nothing counts any more."""
Window = deque[datetime]
Key = tuple[str, str, str]


class CallLimits:
    """The limits of single calls; one for the whole graph, since it counts what each person does."""

    def __init__(self, settings: AgentSettings, clock: Clock) -> None:
        self._settings = settings
        self._rates = ToolRates(parse_rate(settings.tool_rate), parse_rates(settings.tool_rates), clock)

    def refused(
        self, user_id: str, wanted: Sequence[AnyCall], state: State, tools: Mapping[str, ToolFacts]
    ) -> Mapping[str, ToolMessage]:
        """Return the results of those calls that are not made, by tool_call_id. The others are counted."""
        earlier = repeated_calls(_messages_of_attempt(state))
        found: dict[str, ToolMessage] = {}
        for call in wanted:
            result = self._refusal(user_id, call, earlier, tools)
            if result is not None:
                found[str(call["id"])] = result
        return found

    def _refusal(
        self, user_id: str, call: AnyCall, earlier: Counter[str], tools: Mapping[str, ToolFacts]
    ) -> ToolMessage | None:
        if call.get("error") == TOO_LONG:
            return _refuse(call, "argument_size", limit=self._settings.max_argument_characters)
        key = fingerprint(call)
        if earlier[key] >= self._settings.max_repeated_calls:
            return _refuse(call, "repeated_call", limit=earlier[key])
        # The same calls in one answer have no results yet, but they will hardly differ.
        earlier[key] += 1
        name = call["name"] or ""
        rule = tools[name].rule if name in tools else None
        reached = self._rates.take(user_id, name, rule.risk if rule else "")
        if reached is None:
            return None
        rate = reached.rate
        facts = {"limit": rate.calls, "period": round(rate.period.total_seconds()), "tool": name}
        return _refuse(call, "tool_rate", retry_after=reached.retry_after_seconds, **facts)


def _messages_of_attempt(state: State) -> Sequence[AnyMessage]:
    """Return what the running step has said and read until now: the next one may have to read the same again."""
    messages, step = messages_of_turn(state["messages"]), current_step(state)
    after = step["after"] if step else None
    begun = next((index for index, message in enumerate(messages) if after and message.id == after), -1)
    return messages[begun + 1 :]


def _refuse(call: AnyCall, code: CallLimit, *, retry_after: int | None = None, **facts: Any) -> ToolMessage:
    message = result_message(str(call["id"]), call["name"] or "", REFUSED[code].format(**facts), "error")
    message.additional_kwargs[LIMIT] = code
    if retry_after is not None:
        message.additional_kwargs[RETRY_AFTER] = retry_after
    return message


def without_long_arguments(answer: AIMessage, limit: int) -> AIMessage:
    """Return the answer with each call whose arguments are over `limit` characters made invalid, and empty."""
    is_long = [_length(call["args"]) > limit for call in answer.tool_calls]
    is_long_invalid = [_length(call["args"]) > limit for call in answer.invalid_tool_calls]
    if not any([*is_long, *is_long_invalid]):
        return answer
    fitting = [call for call, long in zip(answer.tool_calls, is_long, strict=True) if not long]
    dropped = [_emptied(call) for call, long in zip(answer.tool_calls, is_long, strict=True) if long]
    invalid = [
        _emptied(call) if long else call for call, long in zip(answer.invalid_tool_calls, is_long_invalid, strict=True)
    ]
    return answer.model_copy(update={"tool_calls": fitting, "invalid_tool_calls": [*invalid, *dropped]})


def _emptied(call: AnyCall) -> Any:
    return invalid_tool_call(name=call["name"], args="{}", id=call["id"], error=TOO_LONG)


def _length(args: Any) -> int:
    return len(args) if isinstance(args, str) else len(json.dumps(args, ensure_ascii=False))


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
