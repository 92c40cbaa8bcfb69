"""Rolling summaries of the turns that no longer fit in the window, each of a range of messages.

They are extracts, made without a model: the questions, the tools that were used, and the beginning of each answer.
The same thread always gives the same ones. Old ones are folded together, two to one, so that they stay few and short;
the messages themselves stay in the thread.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from graph.messages.grouping import Block, blocks_of, messages_from, turns_of
from graph.messages.others import made_of
from graph.messages.tokens import tokens_of_messages
from graph.messages.written import refusal_of
from graph.prompts import section
from graph.state import Refusal, Summary

MAX_SUMMARIES: Final = 4
SUMMARY_CHARACTERS: Final = 2_400
"""Limit of one summary, however many turns it tells of."""
ASKED_CHARACTERS: Final = 300
ANSWERED_CHARACTERS: Final = 500
SHORTEST_LINE: Final = 24
REFUSED: Final[Mapping[Refusal, str]] = {
    "rejected": "Rejected by the person: ",
    "answered": "Answered otherwise by the person: ",
    "unclear": "Not approved, the answer could not be used: ",
    "expired": "Not approved in time: ",
}
"""The beginnings of the lines that name calls that were not allowed, by the reason. These lines are never cut, so that
nobody asks for the calls anew."""
WINDOW_SHARE: Final = 0.5
"""Share of the budget after folding: the window's beginning moves seldom, so that services can cache it."""


@dataclass(frozen=True, slots=True)
class Folded:
    """The summaries, oldest first, and the id of the first message that is still seen; None: all are.

    `fresh` has the turns that the newest summary was made of just now, if one was.
    """

    summaries: list[Summary]
    window_start: str | None
    fresh: list[list[Block]]


def fold(
    messages: Sequence[AnyMessage],
    summaries: Sequence[Summary],
    start: str | None,
    budget: int,
    scale: float = 1.0,
) -> Folded:
    """Leave the window as it is if its messages fit in `budget` tokens; else summarise the oldest turns of it.

    `start` and `summaries` are those of the last time; `scale` is a factor for estimates. At least the newest
    turn is kept. A start without summaries is of an older version, and everything is folded anew.
    """
    begin = start if summaries else None
    turns = list(turns_of(blocks_of(messages_from(messages, begin))))
    sizes = [round(scale * sum(tokens_of_messages(block) for block in turn)) for turn in turns]
    if sum(sizes) <= budget or len(turns) < 2:
        return Folded([*summaries], begin, [])
    count = _newest_that_fit(sizes, round(budget * WINDOW_SHARE))
    gone, window = turns[: len(turns) - count], turns[len(turns) - count :]
    made: Summary = {
        "first": str(gone[0][0][0].id),
        "last": str(gone[-1][-1][-1].id),
        "turns": len(gone),
        "text": _shortened(_lines(gone)),
    }
    return Folded(merge_oldest([*summaries, made]), window[0][0][0].id, gone)


def merge_oldest(summaries: list[Summary]) -> list[Summary]:
    """Fold the two oldest summaries into one until there are few enough."""
    while len(summaries) > MAX_SUMMARIES:
        one, two, *others = summaries
        joined: Summary = {
            "first": one["first"],
            "last": two["last"],
            "turns": one["turns"] + two["turns"],
            "text": _shortened([*one["text"].split("\n"), *two["text"].split("\n")]),
        }
        if moment := two.get("created_at"):
            joined["created_at"] = moment
        summaries = [joined, *others]
    return summaries


def summary_section(summaries: Sequence[Summary]) -> str:
    """Return the summaries as a model sees them; empty if there are none."""
    parts = [f"[{one['turns']} turns, messages {one['first']} to {one['last']}]\n{one['text']}" for one in summaries]
    return section("summary", "\n\n".join(parts)) if parts else ""


def extract_turns(turns: Sequence[Sequence[Block]], room: int) -> str:
    """Return the turns as lines within `room` characters: the questions, the tools that were used, the answers."""
    return _shortened(_lines(turns, room), room)


def _newest_that_fit(sizes: Sequence[int], budget: int) -> int:
    count, room = 1, budget - sizes[-1]
    while count < len(sizes) - 1 and sizes[-count - 1] <= room:
        room -= sizes[-count - 1]
        count += 1
    return count


def _lines(turns: Sequence[Sequence[Block]], longest: int = ASKED_CHARACTERS) -> list[str]:
    return [line for turn in turns for line in _extract([message for block in turn for message in block], longest)]


def _extract(turn: Sequence[AnyMessage], longest: int) -> list[str]:
    asked = " ".join(message.text for message in turn if isinstance(message, HumanMessage))
    calls = [call for message in turn if isinstance(message, AIMessage) for call in message.tool_calls]
    refused = {one.tool_call_id: why for one in turn if isinstance(one, ToolMessage) and (why := refusal_of(one))}
    # A summary outlives every right: it repeats nothing that rests on items that others share.
    own = [message for message, others in made_of(turn) if not others and isinstance(message, AIMessage)]
    answers = [message.text for message in own if message.text]
    tools = dict.fromkeys(call["name"] for call in calls if call["id"] not in refused)
    used = f" [{', '.join(tools)}]" if tools else ""
    lines = [f"Person: {_cut(asked, longest)}"] if asked else []
    for why, words in REFUSED.items():
        if names := dict.fromkeys(call["name"] for call in calls if refused.get(str(call["id"])) == why):
            lines.append(f"{words}{', '.join(names)}")
    if answers or used:
        lines.append(f"Assistant{used}: {_cut(answers[-1] if answers else '', max(longest, ANSWERED_CHARACTERS))}")
    return lines


def _shortened(lines: Sequence[str], characters: int = SUMMARY_CHARACTERS) -> str:
    """Cut every line to the same length if not all fit; where that would leave nothing of them, drop the oldest.

    The newest rejections stay whole, in up to half of the room.
    """
    lines = [line for line in lines if line]
    if sum(map(len, lines)) + len(lines) <= characters:
        return "\n".join(lines)
    whole = _newest_rejections(lines, characters // 2)
    characters -= sum(len(lines[at]) + 1 for at in whole)
    others = [at for at in range(len(lines)) if at not in whole][-(characters // (SHORTEST_LINE + 1)) :]
    room = characters // max(1, len(others)) - 1
    return "\n".join(lines[at] if at in whole else _cut(lines[at], room) for at in sorted([*whole, *others]))


def _newest_rejections(lines: Sequence[str], room: int) -> set[int]:
    found = set[int]()
    for at in range(len(lines) - 1, -1, -1):
        if lines[at].startswith(tuple(REFUSED.values())):
            room -= len(lines[at]) + 1
            if room < 0:
                break
            found.add(at)
    return found


def _cut(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
