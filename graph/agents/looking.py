"""Ask a model once more: to read before it states facts about files, or to make the change that it claims."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from graph.agents.surroundings import RELATED_HITS, Surroundings
from graph.citations.quotes import has_marks
from graph.citations.unread import (
    UNREAD,
    Asked,
    Unread,
    describes_call,
    has_sources,
    is_asked_of,
    needs_drive,
    unread_claim,
)
from graph.drive.connections import Toolbox
from graph.drive.tool_names import SEARCH_MEANING
from graph.errors import DriveUnavailableError, ModelOutputError
from graph.events.sending import TextWithdrawn, delta_listener, emit
from graph.messages.grouping import call_ids
from graph.messages.steps import STEP
from graph.routing.questions import asks
from graph.state import State, current_step, message_id_of, running_turn, said_last
from graph.tools.box import WITHOUT_STORE

ASK_AGAIN: Final[Mapping[Unread, str]] = {
    "unread": (
        "Nothing of the drive was read for your answer. If the request is about the person's files, call the tool"
        " that finds or reads them now, and answer from its result. If it is not, answer it without a word about their"
        " files."
    ),
    "unchanged": (
        "You called no tool, so nothing was changed. Call the tool that does what the person asks now, or say plainly"
        " that it is not done."
    ),
    "uncalled": "You called no tool: nothing was read or done. Make the call itself now, do not describe it.",
}
IDLE: Final = frozenset(tool.name for tool in WITHOUT_STORE)
"""Tools that hand over or ask for tools: they tell nothing about the drive."""
MAX_QUERY: Final = 500


class LookCheck:
    """Checks an answer of one specialist against the messages it was sent, and against the drive where words fail."""

    def __init__(self, state: State, seen: Surroundings, toolbox: Toolbox) -> None:
        self._state = state
        self._seen = seen
        self._toolbox = toolbox

    async def of(self, answer: AIMessage, sent: Sequence[AnyMessage], offered: frozenset[str]) -> Unread | None:
        """Return the fault of the answer; None for one that calls tools, asks back, or has a source.

        `offered` are the names of the tools that the model may call.
        """
        text = answer.text.strip()
        if not text or call_ids(answer) or asks(text):
            return None
        asked = self._asked(sent)
        if describes_call(text, asked, offered):
            return "uncalled"
        if has_marks(text) and has_sources(asked.earlier):
            # Its quotations are checked anyway.
            return None
        if found := unread_claim(text, asked):
            return found
        if needs_drive(text, asked) and is_asked_of(await self._passages(asked.request), asked.request):
            return "unread"
        return None

    def _asked(self, sent: Sequence[AnyMessage]) -> Asked:
        messages, begun = self._state["messages"], message_id_of(running_turn(self._state))
        at = next((index for index, message in enumerate(messages) if message.id == begun), len(messages) - 1)
        step = current_step(self._state)
        shows_beginning_only = bool(self._seen.beginning) and len(self._seen.sources) == 1
        return Asked(
            step["instruction"] if step else said_last(self._state),
            sent,
            messages[at + 1 :],
            messages[:at],
            has_document=bool(self._seen.sources) and not shows_beginning_only,
            idle=IDLE,
        )

    async def _passages(self, request: str) -> list[tuple[str, str]]:
        """Return the name and the text of each passage that the drive finds for the request."""
        if SEARCH_MEANING not in self._toolbox.tools:
            return []
        args = {"query": request[:MAX_QUERY], "limit": RELATED_HITS}
        try:
            found = await self._toolbox.call(SEARCH_MEANING, args, meta={})
        except DriveUnavailableError:
            return []
        hits = cast("list[dict[str, Any]]", [] if found.isError else (found.structuredContent or {}).get("hits") or [])
        return [(str(hit["file"]["name"]), str(hit.get("text") or "")) for hit in hits]


async def ask_to_look(
    answer: AIMessage, failed: Unread, ask_again: Callable[[HumanMessage], Awaitable[AIMessage]]
) -> AIMessage:
    """Withdraw an answer from the person, and return that to the question to look; the first one if that is empty."""
    if listener := delta_listener():
        listener(TextWithdrawn(answer.id))
    try:
        return await ask_again(HumanMessage(ASK_AGAIN[failed], additional_kwargs={STEP: True}))
    except ModelOutputError:
        emit({"type": "content", "text": answer.text, "message_id": str(answer.id)})
        return answer


def with_mark(answer: AIMessage, failed: Unread | None) -> AIMessage:
    """Return the answer with the mark by which the person is told, if it has failed."""
    if failed is None:
        return answer
    return answer.model_copy(update={"additional_kwargs": {**answer.additional_kwargs, UNREAD: failed}})
