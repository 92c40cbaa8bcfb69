"""Keeps calls from being made that are over a limit, and tells the model why; the turn's own limits are elsewhere."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.messages.tool import invalid_tool_call

from drive_server.kernel.rate_limiter import SlidingWindow
from graph.clock import Clock
from graph.limits.limits import LIMIT, REFUSED, RETRY_AFTER, CallLimit, fingerprint, messages_of_turn, repeated_calls
from graph.messages.grouping import AnyCall
from graph.messages.written import result_message
from graph.policy.tools import ToolFacts
from graph.settings import AgentSettings
from graph.state import State, current_step

TOO_LONG: Final = "argument_size"
"""The `error` of an invalid call whose arguments were dropped because of their length."""
MAX_KEYS: Final = 100_000
"""People times tools: whose calls are longest ago is forgotten first."""
PERIODS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}


class CallLimits:
    """The limits of single calls; one for the whole graph, since it counts each person's calls."""

    def __init__(self, settings: AgentSettings, clock: Clock) -> None:
        self._settings = settings
        a_server = Rate(settings.mcp_calls_per_minute, timedelta(minutes=1))
        self._rates = ToolRates(parse_rate(settings.tool_rate), parse_rates(settings.tool_rates), clock, a_server)

    def refused(
        self, user_id: str, wanted: Sequence[AnyCall], state: State, tools: Mapping[str, ToolFacts]
    ) -> Mapping[str, ToolMessage]:
        """Return the results of those calls that are not made, by tool_call_id. The others are counted."""
        earlier = repeated_calls(_messages_of_attempt(state))
        found: dict[str, ToolMessage] = {}
        rounds = _outside_rounds(state, tools)
        for call in wanted:
            result = self._refusal(user_id, call, earlier, tools, rounds)
            if result is not None:
                found[str(call["id"])] = result
        return found

    def _refusal(
        self, user_id: str, call: AnyCall, earlier: Counter[str], tools: Mapping[str, ToolFacts], rounds: int
    ) -> ToolMessage | None:
        if call.get("error") == TOO_LONG:
            return _refuse(call, "argument_size", limit=self._settings.max_argument_characters)
        key = fingerprint(call)
        if earlier[key] >= self._settings.max_repeated_calls:
            return _refuse(call, "repeated_call", limit=earlier[key])
        # The same calls in one answer have no results yet, but they will hardly differ.
        earlier[key] += 1
        name = call["name"] or ""
        facts = tools.get(name)
        if facts and facts.server and rounds > self._settings.mcp_rounds:
            return _refuse(call, "outside_rounds", limit=self._settings.mcp_rounds)
        risk = facts.rule.risk if facts and facts.rule else ""
        reached = self._rates.take(user_id, name, risk, facts.server.server_id if facts and facts.server else "")
        if reached is None:
            return None
        rate = reached.rate
        said = {"limit": rate.calls, "period": round(rate.period.total_seconds()), "tool": name}
        return _refuse(call, "tool_rate", retry_after=reached.retry_after_seconds, **said)


def _outside_rounds(state: State, tools: Mapping[str, ToolFacts]) -> int:
    """Return how many rounds of the turn called a person's own server, with the newest one."""
    outside = {name for name, facts in tools.items() if facts.server}
    said = (message for message in messages_of_turn(state["messages"]) if isinstance(message, AIMessage))
    return sum(any(call["name"] in outside for call in message.tool_calls) for message in said) if outside else 0


def _messages_of_attempt(state: State) -> Sequence[AnyMessage]:
    """Return the messages of the running step so far: the next one may have to read the same again."""
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
    """Count calls by person and tool: `general` for each tool, `special` by a tool's name or for a whole risk.

    `a_server` is for all tools of one of the person's own servers together.
    """

    def __init__(
        self, general: Rate | None, special: Mapping[str, Rate | None], clock: Clock, a_server: Rate | None = None
    ) -> None:
        self._general = general
        self._a_server = a_server
        self._special = special
        self._clock = clock
        self._windows: dict[Rate, SlidingWindow] = {}

    def take(self, user_id: str, tool: str, risk: str, server_id: str = "") -> RateReached | None:
        """Count the call and return None, or return the rate that it exceeds: then it is not counted."""
        rates = self._limits(tool, risk, server_id)
        limits = [(rate, self._window(rate), f"{user_id}/{kind}") for kind, rate in rates.items()]
        reached = [RateReached(rate, wait) for rate, window, key in limits if (wait := window.wait_seconds(key))]
        if reached:
            return max(reached, key=lambda one: one.retry_after_seconds)
        for _, window, key in limits:
            window.count(key)
        return None

    def _limits(self, tool: str, risk: str, server_id: str) -> dict[str, Rate]:
        found = {f"tool/{tool}": self._special.get(tool, self._general), f"risk/{risk}": self._special.get(risk)}
        if server_id:
            found[f"server/{server_id}"] = self._a_server
        return {kind: rate for kind, rate in found.items() if rate is not None}

    def _window(self, rate: Rate) -> SlidingWindow:
        if rate not in self._windows:
            clock = self._clock
            self._windows[rate] = SlidingWindow(
                rate.calls, rate.period.total_seconds(), clock=lambda: clock().timestamp(), most_keys=MAX_KEYS
            )
        return self._windows[rate]
