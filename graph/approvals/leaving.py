"""Find the drive's content in a call that leaves the drive, by the texts that the model had seen."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage

from graph.memory.view import rebuild_view, view_record_of
from graph.messages.records import outside_calls
from graph.messages.steps import is_step
from graph.messages.stored_results import ResultStore
from graph.messages.turn_context import context_of
from graph.policy.leaving import leaving, made_up
from graph.prompts import TAGS

OF_THE_DRIVE: Final = tuple(
    tag
    for tag in TAGS
    if tag not in {"language", "moment", "instructions", "servers", "missing_servers", "tool_description"}
)
_SECTION: Final = re.compile(rf"^<({'|'.join(OF_THE_DRIVE)})>\n(.*?)\n</\1>$", re.MULTILINE | re.DOTALL)


class SeenContent:
    """Rebuilds the model's input before its newest calls, once for all of them."""

    def __init__(self, messages: Sequence[AnyMessage], store: ResultStore | None) -> None:
        self._messages = messages
        self._store = store
        self._seen: list[str] | None = None
        self._made_up = 0

    async def leaving(self, args: Mapping[str, Any]) -> list[str]:
        """Return the names of the arguments that carry content of the drive, by all calls until now together."""
        if self._seen is None:
            self._seen = [*_contents(await self._view(), outside_calls(self._messages))]
        said = [message.text for message in self._messages if isinstance(message, HumanMessage)]
        before, self._made_up = self._made_up, self._made_up + made_up(args, said)
        return leaving(args, self._seen, said, before)

    async def _view(self) -> Sequence[AnyMessage]:
        newest = next((message for message in reversed(self._messages) if isinstance(message, AIMessage)), None)
        recorded = view_record_of(newest) if newest else None
        if recorded is None or self._store is None:
            return self._messages
        return await rebuild_view(self._messages, recorded, self._store)


def _contents(view: Sequence[AnyMessage], outside: Mapping[str, Any]) -> Iterator[str]:
    for message in view:
        if isinstance(message, SystemMessage):
            yield from (found[1] for found in _SECTION.findall(message.text))
        elif isinstance(message, HumanMessage):
            yield message.text if is_step(message) else context_of(message)
        elif not (isinstance(message, ToolMessage) and message.tool_call_id in outside):
            yield message.text
