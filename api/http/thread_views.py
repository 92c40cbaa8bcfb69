"""A thread as people see it: its messages, plan and route, in the version that they ask for."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import BaseMessage

from api.drive import Principal
from api.errors import NotFoundError
from api.http.schemas import MessageView, ThreadSummary, ThreadView
from api.http.views import message_view, run_view, shown_approval
from api.service import Service
from api.storage.tables import RunRow, ThreadRow
from api.withholding import withhold_texts
from graph.events.calls import ToolCallRecord
from graph.language import language_of
from graph.messages.records import records_in


async def thread_view(
    caller: Principal, service: Service, thread_id: str, version: str | None = None, limit: int | None = None
) -> ThreadView:
    """Return a thread with its newest messages, as it is or was with a version of a message.

    Raises `NotFoundError` for a thread of another person, and for an unknown version of a message.
    """
    row = await service.threads.get(caller, thread_id)
    run = await _run_of(caller, service, thread_id, version)
    values = await service.values(thread_id, run)
    seen = await service.withholding.messages(caller, thread_id, values)
    active = run if run and run.finished_at is None else None
    language = language_of(run.message) if run else "en"
    records = records_in(seen, values.get("calls") or [], language, is_over=active is None)
    messages = _messages(seen, records, run, await service.runs.version_ids(thread_id))
    waiting = await service.approvals.waiting(caller, thread_id) if active else ()
    plan = values.get("plan")
    if plan and run and await service.withholding.hidden_items(caller, thread_id, run.head_checkpoint):
        plan = withhold_texts(plan, language)
    return ThreadView(
        **summary_view(row).model_dump(),
        messages=messages if limit is None else messages[-limit:],
        has_earlier=limit is not None and len(messages) > limit,
        plan=plan,
        route=values.get("route"),
        run=run_view(run) if run else None,
        approval=await shown_approval(waiting[0], caller, service) if waiting else None,
    )


def summary_view(row: ThreadRow) -> ThreadSummary:
    """Return a thread in the form of a list's entry."""
    times = {"created_at": row.created_at, "updated_at": row.updated_at}
    return ThreadSummary(thread_id=row.id, title=row.title, model=row.model, assistant_id=row.assistant_id, **times)


async def _run_of(caller: Principal, service: Service, thread_id: str, version: str | None) -> RunRow | None:
    if version is None:
        return await service.threads.newest_run(thread_id)
    run = await service.runs.get(caller, version)
    if run.thread_id != thread_id:
        raise NotFoundError("no_message")
    return run if run.head_checkpoint is not None else await service.threads.newest_run(thread_id)


def _messages(
    messages: Sequence[BaseMessage],
    records: Mapping[str, Sequence[ToolCallRecord]],
    newest: RunRow | None,
    versions: Mapping[str, list[str]],
) -> list[MessageView]:
    """Return the messages of a thread. The newest run's message is there even before the graph has seen it."""
    views = [view for message in messages if (view := message_view(message, records.get(str(message.id), ())))]
    if newest and all(view.id != newest.id for view in views):
        views.append(MessageView(id=newest.id, role="user", text=newest.message))
    for view in views:
        view.versions = cast("list[Any]", versions.get(view.id or "", []))
    return views
