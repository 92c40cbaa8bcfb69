"""Scripts of tool calls. Each turn of the model runs its script again from the start, over the recorded results.

A specialist is a function of the messages, so a script is a plain function that asks for calls. It gets the recorded
result of each; the first calls without a result end it, and are the model's answer. No call is made twice.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from graph.drive.tool_names import EDITS
from graph.offline.conversation import READING, Call, Conversation, Result
from graph.routing.route import route_reason

MAX_ROUNDS: Final = 8
ANSWERING: Final = frozenset({"query_table", "map_reduce_files", "read_bulk_result"})
SEARCHES: Final = frozenset({"search_files", "semantic_search_files", "list_trash"})
"""Tools whose answer may be that there is nothing: no script gets one that failed, which reads the same."""


class Request(NamedTuple):
    """A tool call that a script wants."""

    name: str
    args: Mapping[str, Any]


class Reply(NamedTuple):
    """The next answer of the model: calls, or a text."""

    text: str = ""
    calls: tuple[Request, ...] = ()


@dataclass(eq=False)
class CallsNeededError(Exception):
    """A script needs the results of these calls, which nobody made yet."""

    calls: tuple[Request, ...]


@dataclass(eq=False)
class UnresolvedError(Exception):
    """The request can't be carried out in this form; its text tells the person why, and names the missing part."""

    text: str


@dataclass(eq=False)
class StoppedError(Exception):
    """A script can't go on; `code` is the sentence that says why, `tool` the one that is not bound or that failed."""

    code: str
    tool: str = ""
    result: Result | None = None


def request(tool: str, /, **args: Any) -> Request:
    """Write a call; arguments that are None are left out."""
    return Request(tool, {key: value for key, value in args.items() if value is not None})


class Replay:
    """Give a script the results of the calls that this turn made. `tools` are the bound ones."""

    def __init__(self, conversation: Conversation, tools: Container[str]) -> None:
        self._conversation, self._tools = conversation, tools
        self._segment = conversation.segment
        self._calls = [call for call in conversation.calls if call.turn == conversation.turn]
        self._used: set[str] = set()

    def ask(self, wanted: Sequence[Request]) -> list[Result]:
        """Return the results of calls that may run at the same time.

        Raises `CallsNeededError` for those that nobody made yet, `StoppedError` if a script can't have them.
        """
        unbound = next((one.name for one in wanted if one.name not in self._tools), None)
        if unbound:
            raise self._without(unbound)
        found = self._take(wanted)
        missing = tuple(one for one, result in zip(wanted, found, strict=True) if result is None)
        if missing:
            is_over = self._conversation.rounds >= MAX_ROUNDS
            raise StoppedError("out_of_rounds") if is_over else CallsNeededError(missing)
        results = [one for one in found if one]
        for one, result in zip(wanted, results, strict=True):
            if result.left_out and one.name in READING:
                raise StoppedError("left_out")
            if one.name in SEARCHES and not result.worked:
                raise StoppedError("search_failed", one.name, result)
        return results

    def _without(self, tool: str) -> Exception:
        """Return the call that hands the request to the specialist with a tool, once a step; else the error."""
        conversation = self._conversation
        handed_over = any(made.name == "transfer_to_agent" for made in conversation.running)
        if handed_over or "transfer_to_agent" not in self._tools:
            return StoppedError("no_tool", tool)
        agent = "document_agent" if tool in EDITS else "search_agent" if tool in ANSWERING else "drive_agent"
        reason = route_reason(agent, conversation.language)
        return CallsNeededError((request("transfer_to_agent", agent=agent, reason=reason),))

    def _take(self, wanted: Sequence[Request]) -> list[Result | None]:
        """Return the result of each request, None where the call was not made yet; a change may have been edited."""
        exact = [self._first(one, same_arguments=True) for one in wanted]
        made = [one or self._first(asked, same_arguments=False) for one, asked in zip(exact, wanted, strict=True)]
        return [(one.result or Result({}, "", failure="unknown")) if one else None for one in made]

    def _first(self, one: Request, *, same_arguments: bool) -> Call | None:
        for made in reversed(self._calls) if same_arguments else self._calls:
            args = {key: value for key, value in made.args.items() if value is not None}
            own = self._holds(made) if same_arguments else made.segment == self._segment and not made.reads
            if made.name == one.name and own and made.id not in self._used and (args == one.args or not same_arguments):
                self._used.update(() if made.reads else (made.id,))
                return made
        return None

    def _holds(self, made: Call) -> bool:
        """Say whether a result counts: another step's failure may be tried again, its reading may be out of date."""
        if made.segment == self._segment:
            return True
        if not made.reads:
            return made.result is not None and made.result.failure != "error"
        after = [later for later in self._calls[self._calls.index(made) + 1 :] if later.segment < self._segment]
        return made.result is not None and made.result.worked and all(later.reads for later in after)
