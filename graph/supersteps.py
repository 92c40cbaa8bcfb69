"""Run nodes in one superstep: each superstep costs a checkpoint, which is on disk before the next one begins."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, cast

from graph.state import MESSAGES, State, Update, merge_findings, merge_turn, newest_taint

Node = Callable[[State], Awaitable[Update]]

REDUCED: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "messages": lambda before, said: MESSAGES.reducer(before or [], [said]),
    "turn": merge_turn,
    "taint": newest_taint,
    "findings": merge_findings,
}
"""The reducers of the channels that add up; all others are replaced."""


async def run_in_one_superstep(state: State, *nodes: Node) -> Update:
    """Return the joint update of the nodes, each of which sees the updates of those before it."""
    after, update = state, Update()
    for node in nodes:
        news = await node(after)
        after, update = apply_update(after, news), join_updates(update, news)
    return {key: value for key, value in update.items() if _is_news(state, key, value)}


def apply_update(state: State, update: Update) -> State:
    """Return the state as it is after the update."""
    after: dict[str, Any] = dict(state)
    for key, value in update.items():
        after[key] = REDUCED[key](after.get(key), value) if key in REDUCED else value
    return cast("State", after)


def join_updates(first: Update, second: Update) -> Update:
    """Return both updates as one."""
    both: Update = {**first, **second}
    if "messages" in first and "messages" in second:
        both["messages"] = [*first["messages"], *second["messages"]]
    if "turn" in first and "turn" in second:
        both["turn"] = _joined_turn(first["turn"], second["turn"])
    return both


def _joined_turn(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    usage = {key: first.get("usage", {}).get(key, 0) for key in first.get("usage", {})}
    for key, tokens in second.get("usage", {}).items():
        usage[key] = usage.get(key, 0) + tokens
    lists = {
        key: [*first.get(key, []), *second.get(key, [])] for key in ("changes", "written") if key in {*first, *second}
    }
    tainted = first.get("tainted", False) or second.get("tainted", False)
    return {**first, **second, **lists, "usage": usage, "tainted": tainted}


def _is_news(state: State, key: str, value: Any) -> bool:
    """Say whether writing the value changes anything: each one that is written is stored."""
    before = state.get(key)
    if key in REDUCED and key != "findings":
        return bool(value)
    return bool(before or value) and before != value
