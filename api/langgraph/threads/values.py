"""The values of a thread: its messages, plan and route in LangChain's shapes, as the person may see them now."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from api.drive import Principal
from api.http.schemas import MessageView
from api.http.views import message_view
from api.langgraph.entrance import Json
from api.langgraph.threads.message_ids import ids_by_run, with_own_ids
from api.service import Service
from api.storage.tables import RunRow
from api.withholding import withhold_texts
from graph.language import language_of
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
    own_ids: Mapping[str, str] | None = None,
) -> Json:
    """Return a state of the graph as values.

    The message of the `run` that works, and the drafts for the next one, stand at the end until the graph has them.
    `own_ids` are those of `ids_by_run`, for who shows several states of a thread.
    """
    seen = await service.withholding.messages(caller, thread_id, values)
    views = [view for message in seen if (view := message_view(message))]
    if run and all(view.id != run.id for view in views):
        views.append(MessageView(id=run.id, role="user", text=run.message))
    views += [MessageView(id=one["id"], role="user", text=one["content"]) for one in drafts]
    clean = service.graph.link_filter(*(view.text for view in views if view.role == "user")).clean
    plan, route = values.get("plan"), values.get("route")
    if plan and await service.withholding.hidden_items(caller, thread_id):
        plan = withhold_texts(plan, language_of(run.message if run else ""))
    own_ids = await ids_by_run(service, thread_id) if own_ids is None else own_ids
    messages = with_own_ids((to_message(cleaned(MessageView, view, clean)) for view in views), own_ids)
    return {"messages": messages, "plan": cleaned(Any, plan, clean), "route": cleaned(Any, route, clean)}


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
