"""Cut long tool results, and end a turn that reaches a limit.

The model first hears of a limit of one call (rate, repetition, size): only when it meets such a limit again in
a second round does the turn end. A limit of the whole turn (rounds, tokens, cost) ends it at once.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from drive_server.kernel.texts import Texts
from graph.language import Language
from graph.limits.budget import Prices, cost_of, tokens_of
from graph.limits.model_table import prices_of
from graph.messages.compact_results import compact_result
from graph.messages.grouping import AnyCall
from graph.messages.window import result_identity
from graph.prompts import compact
from graph.settings import AgentSettings
from graph.state import LimitReached, State, running_turn

CallLimit = Literal["tool_rate", "repeated_call", "argument_size", "outside_rounds"]

LIMIT: Final = "limit"
"""Key in a result's `additional_kwargs`: the `CallLimit` for which the call was not made."""
RETRY_AFTER: Final = "retry_after_seconds"
"""Key beside it, of a rate: seconds until there is room again."""
REFUSED_ROUNDS: Final = 2

TEXTS: Final = Texts.beside(__file__)
REFUSED: Final[Mapping[CallLimit, str]] = {
    "tool_rate": "rate_limited: {tool} was used {limit} times within {period} seconds, which is all it may be. This "
    "call was not made. Don't try again in this turn: answer with what you have, and say what is left to do.",
    "repeated_call": "repeated_call: This very call was made {limit} times in this turn, with the same result each "
    "time. It was not made again. Use the result that you have, do something else, or tell the person what is missing.",
    "outside_rounds": "outside_rounds: There were {limit} rounds of calls to the person's MCP servers in this turn, "
    "which is all there may be. This call was not made. Answer with what you have, and say what is left to do.",
    "argument_size": "argument_size: The arguments were longer than {limit} characters and were not read. Nothing was "
    "done. Send less at a time.",
}
CUT: Final = "\n[Cut: {shown} of {total} characters. {pointer}]"
POINTER: Final = "Ask for a smaller part: a range, a limit, a cursor, or a narrower query."


def limit_reached(state: State, settings: AgentSettings) -> LimitReached | None:
    """Return the limit that the turn has come to, None while it may go on."""
    turn = running_turn(state)
    language, tokens = turn["language"], tokens_of(turn["usage"])
    if state.get("rounds", 0) >= settings.max_tool_rounds:
        return _stopped("tool_rounds", language, limit=settings.max_tool_rounds)
    if 0 < settings.max_run_tokens <= tokens:
        return _stopped("run_tokens", language, limit=settings.max_run_tokens, used=tokens)
    cost = cost_of(turn["usage"], prices_of(settings, settings.resolved_model) or Prices())
    if 0 < settings.max_run_cost <= cost:
        return _stopped("run_cost", language, limit=f"{settings.max_run_cost:g}", used=f"{cost:.4f}")
    return _refused_too_often(messages_of_turn(state["messages"]), language)


def has_budget(settings: AgentSettings) -> bool:
    """Say whether a turn has a budget, so that unreported usage has to be estimated."""
    return settings.max_run_tokens > 0 or settings.max_run_cost > 0


def _refused_too_often(turn: Sequence[AnyMessage], language: Language) -> LimitReached | None:
    """Return the limit of the newest refused call, if calls of several rounds were refused for a limit."""
    refused = {
        message.tool_call_id: message
        for message in turn
        if isinstance(message, ToolMessage) and LIMIT in message.additional_kwargs
    }
    if not refused:
        return None
    rounds = [message for message in turn if isinstance(message, AIMessage) and not _ids(message).isdisjoint(refused)]
    if len(rounds) < REFUSED_ROUNDS:
        return None
    newest = next(refused[key] for key in reversed([*refused]))
    seconds = newest.additional_kwargs.get(RETRY_AFTER)
    reached = _stopped(newest.additional_kwargs[LIMIT], language, seconds=seconds)
    return reached if seconds is None else {**reached, "retry_after_seconds": seconds}


def _ids(message: AIMessage) -> set[str]:
    return {str(call["id"]) for call in [*message.tool_calls, *message.invalid_tool_calls]}


def _stopped(code: Any, language: Language, **facts: Any) -> LimitReached:
    return {"code": code, "message": TEXTS.say(f"stopped.{code}", language, **facts)}


def result_text(text: str, structured: Mapping[str, Any] | None, limit: int) -> str:
    """Return a tool's text and its data as JSON, cut at about `limit` characters: a file's text inside the data.

    It is whole if models see no more than `limit` characters of it: they get it in its compact form.
    """
    if structured is None:
        return _cut(text, limit)
    whole = f"{text}\n{compact(structured)}".strip()
    if len(whole) <= limit or len(compact_result(whole)) <= limit:
        return whole
    body = structured.get("text")
    if isinstance(body, str) and len(body) > len(whole) - limit:
        return _with_shorter_text(text, structured, body, len(body) - (len(whole) - limit))
    return _cut(whole, limit)


def _with_shorter_text(text: str, structured: Mapping[str, Any], body: str, room: int) -> str:
    beginning = body[:room]
    following = structured.get("start", 0) + len(beginning)
    shorter = {**structured, "text": beginning, "end": following, "truncated": True}
    note = CUT.format(shown=len(beginning), total=len(body), pointer=f"Go on with start={following}.")
    return f"{text}\n{compact(shorter)}{note}".strip()


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return text[:limit] + CUT.format(shown=limit, total=len(text), pointer=POINTER)


def messages_of_turn(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    """Return the messages after the person's newest one."""
    for index in range(len(messages) - 1, -1, -1):
        if isinstance(messages[index], HumanMessage):
            return messages[index + 1 :]
    return messages


def repeated_calls(messages: Sequence[AnyMessage]) -> Counter[str]:
    """Return how often each call of a turn (by `fingerprint`) had the result that it had most often."""
    results = {
        message.tool_call_id: result_identity(message) for message in messages if isinstance(message, ToolMessage)
    }
    outcomes: Counter[tuple[str, str]] = Counter()
    for message in messages:
        if isinstance(message, AIMessage):
            calls: list[AnyCall] = [*message.tool_calls, *message.invalid_tool_calls]
            outcomes.update((fingerprint(call), results[str(call["id"])]) for call in calls if call["id"] in results)
    most: Counter[str] = Counter()
    for (call, _), times in outcomes.items():
        most[call] = max(most[call], times)
    return most


def fingerprint(call: AnyCall | Mapping[str, Any]) -> str:
    """Return a digest that identifies a call: its tool and its arguments, in any order."""
    text = json.dumps([call["name"], call["args"]], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
