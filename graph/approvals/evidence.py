"""The sources beside an approval: passages read in the thread that can have led to the call."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from graph.approvals.causes import Causes, Subject, causes_of
from graph.approvals.passages import Stretch, Text, stretches_of, texts_in
from graph.drive.connections import Toolbox
from graph.drive.tool_names import READ_FILE
from graph.errors import DriveUnavailableError
from graph.memory.facts import hidden_items
from graph.messages.grouping import call_ids, current_turn
from graph.messages.others import others_items
from graph.messages.stored_results import ResultStore
from graph.messages.window import STORED
from graph.policy.provenance import FOREIGN
from graph.state import State, Taint

READ_CHARACTERS: Final = 30_000
MAX_RESULTS: Final = 40


class Evidence:
    """Searches the thread's foreign texts, once for all calls of a round, and only if somebody is asked."""

    def __init__(self, state: State, toolbox: Toolbox, result_store: ResultStore | None) -> None:
        self._messages = state["messages"]
        self._taint = state.get("taint")
        self._open_file = state.get("place", {}).get("file_id")
        self._toolbox = toolbox
        self._result_store = result_store
        self._stretches: list[Stretch] | None = None

    async def of(self, subject: Subject) -> Causes:
        """Return the possible causes of the call; none if no text that was read has to do with it."""
        if self._stretches is None:
            self._stretches = await asyncio.to_thread(stretches_of, await self._all())
        return await asyncio.to_thread(causes_of, subject, self._stretches)

    async def _all(self) -> list[Text]:
        turn = current_turn(self._messages)
        in_turn = {key for message in turn if isinstance(message, AIMessage) for key in call_ids(message)}
        shown = [*texts_in(await self._whole(), in_turn)]
        shown_files = {text.taint["file_id"] for text in shown}
        # No message has the words beside the conversation that a specialist saw, such as the open document.
        beside = self._taint if self._taint and self._taint["file_id"] not in shown_files else None
        return [*shown, *(await self._reread(beside) if beside else [])]

    async def _whole(self) -> list[AnyMessage]:
        """Return the newest results with foreign words, as long as they were: the thread may have an excerpt only."""
        results = [
            message
            for message in self._messages
            if isinstance(message, ToolMessage) and FOREIGN in message.additional_kwargs
        ][-MAX_RESULTS:]
        hidden = await hidden_items(self._toolbox, others_items(results))
        results = [message for message in results if not others_items([message]) & hidden]
        references = [message.additional_kwargs[STORED]["reference"] for message in results if _is_kept(message)]
        texts = await self._result_store.texts(references) if self._result_store and references else {}
        return [_with_text(message, texts) for message in results]

    async def _reread(self, taint: Taint) -> Sequence[Text]:
        if not taint["file_id"] or READ_FILE not in self._toolbox.tools:
            return []
        args = {"file_id": taint["file_id"], "start": 0, "end": READ_CHARACTERS}
        try:
            result = await self._toolbox.call(READ_FILE, args, meta={})
        except DriveUnavailableError:
            return []
        text = (result.structuredContent or {}).get("text")
        is_open = taint["file_id"] == self._open_file
        return [Text(taint, text, is_open)] if isinstance(text, str) and not result.isError else []


def _is_kept(message: ToolMessage) -> bool:
    return STORED in message.additional_kwargs


def _with_text(message: ToolMessage, texts: Mapping[str, str]) -> ToolMessage:
    text = texts.get(message.additional_kwargs[STORED]["reference"]) if _is_kept(message) else None
    return message.model_copy(update={"content": text}) if text else message
