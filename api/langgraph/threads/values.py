"""The values of a thread: its messages, plan and route in LangChain's shapes, as the person may see them now."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import AnyMessage, HumanMessage

from api.drive import Principal
from api.http.schemas import MessageView
from api.http.views import message_view
from api.langgraph.entrance import Json
from api.langgraph.threads.message_ids import ids_by_run, with_own_ids
from api.service import Service
from api.storage.tables import RunRow
from api.withholding import withhold_texts
from graph.language import language_of
from graph.links.allowlist import addresses_in
from graph.links.text_fields import cleaned

TYPES: Final[Mapping[str, str]] = {"user": "human", "assistant": "ai", "tool": "tool"}


async def shown_values(
    service: Service,
    caller: Principal,
    thread_id: str,
    values: Mapping[str, Any],
    *,
    run: RunRow | None = None,
    drafts: Sequence[Mapping[str, Any]] = (),
) -> Json:
    """Return a state of the graph as values.

    The message of the `run` that works, and the drafts for the next one, stand at the end until the graph has them.
    """
    return await ThreadValues(service, caller, thread_id).show(values, run=run, drafts=drafts)


class ThreadValues:
    """Shows several states of one thread: a message that is in all of them is made ready once.

    `own_ids` are those of `ids_by_run`, for who has them already.
    """

    def __init__(
        self, service: Service, caller: Principal, thread_id: str, own_ids: Mapping[str, str] | None = None
    ) -> None:
        self._service = service
        self._caller = caller
        self._thread_id = thread_id
        self._own_ids = own_ids
        self._addresses: frozenset[str] = frozenset()
        self._clean: Callable[[str], str] = service.graph.link_filter().clean
        self._ready: dict[str, tuple[AnyMessage, Json]] = {}

    async def show(
        self,
        values: Mapping[str, Any],
        *,
        run: RunRow | None = None,
        drafts: Sequence[Mapping[str, Any]] = (),
    ) -> Json:
        """Return a state as `shown_values` does."""
        seen: list[AnyMessage] = await self._service.withholding.messages(self._caller, self._thread_id, values)
        if run and all(message.id != run.id for message in seen):
            seen = [*seen, HumanMessage(run.message, id=run.id)]
        seen = [*seen, *(HumanMessage(one["content"], id=one["id"]) for one in drafts)]
        self._allow_addresses_in([str(message.text) for message in seen if isinstance(message, HumanMessage)])
        plan, route = values.get("plan"), values.get("route")
        if plan and await self._service.withholding.hidden_in(self._caller, values):
            plan = withhold_texts(plan, language_of(run.message if run else ""))
        if self._own_ids is None:
            self._own_ids = await ids_by_run(self._service, self._thread_id)
        messages = with_own_ids([one for message in seen if (one := self._view(message))], self._own_ids)
        return {
            "messages": results_before_words(messages),
            "plan": cleaned(Any, plan, self._clean),
            "route": cleaned(Any, route, self._clean),
        }

    def _allow_addresses_in(self, words: list[str]) -> None:
        """Let links lead to the addresses in a person's words; others need all messages filtered anew."""
        addresses = addresses_in(words)
        if addresses != self._addresses:
            self._addresses, self._clean = addresses, self._service.graph.link_filter(*words).clean
            self._ready.clear()

    def _view(self, message: AnyMessage) -> Json | None:
        """Return a message in LangChain's shape; None for one that people don't see."""
        key = str(message.id)
        before, ready = self._ready.get(key, (None, None))
        if ready is not None and (before is message or before == message):
            # Of two that are equal, the next state has this one: to compare them takes longer than to look.
            self._ready[key] = message, ready
            return ready
        view = message_view(message)
        if view is None:
            return None
        shown = to_message(cleaned(MessageView, view, self._clean))
        self._ready[key] = message, shown
        return shown


def results_before_words(messages: Sequence[Json]) -> list[Json]:
    """Put the result of a call that the person left open before the words by which they moved on.

    LangChain's models refuse a call whose result does not follow it, and agent-chat-ui makes up one for it.
    """
    ordered: list[Json] = []
    for message in messages:
        place = len(ordered)
        while message["type"] == "tool" and place and ordered[place - 1]["type"] == "human":
            place -= 1
        ordered.insert(place, message)
    return ordered


def to_message(view: MessageView) -> Json:
    """Return a message in LangChain's shape."""
    kind = TYPES[view.role]
    message: Json = {
        "id": view.id,
        "type": kind,
        "name": view.name,
        "content": view.text,
        "additional_kwargs": {"citations": view.citations} if view.citations else {},
        "response_metadata": {},
    }
    if kind == "ai":
        calls = [
            {"id": call["tool_call_id"], "name": call["name"], "args": call["args"], "type": "tool_call"}
            for call in view.tool_calls
        ]
        message |= {"tool_calls": calls, "invalid_tool_calls": [], "usage_metadata": None}
    if kind == "tool":
        status = "success" if view.status == "done" else "error"
        message |= {"tool_call_id": view.tool_call_id, "status": status, "artifact": None}
        message["additional_kwargs"] = {"outcome": view.status}
    return message
