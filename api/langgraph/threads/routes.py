"""The routes of threads: made, found, changed, copied and removed."""

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response
from starlette.status import HTTP_204_NO_CONTENT

from api.drive import Principal
from api.errors import InvalidRequestError, NotFoundError
from api.http.dependencies import CallerDep, ServiceDep, WriterDep
from api.http.schemas import MessageView
from api.http.thread_views import thread_view as whole_thread
from api.langgraph.entrance import ClientRouter, Json, answer_json, as_uuid, contains, selected
from api.langgraph.threads.bodies import NewThread, Pruning, ThreadChange, ThreadSearch
from api.langgraph.threads.rows import ClientThread, ClientThreads
from api.langgraph.threads.states import metadata_of, thread_view
from api.service import Service
from api.storage.tables import new_id
from api.thread_imports import ImportedMessage, ImportedThread, ThreadImports

router = ClientRouter("/threads")

STORED = frozenset({"values", "interrupts"})
"""Fields for which a thread's state is read."""


@router.post("")
async def create_thread(caller: CallerDep, service: ServiceDep, body: NewThread | None = None) -> Response:
    """Make an empty thread, or return the one of that id."""
    wanted = body or NewThread()
    if wanted.supersteps:
        raise InvalidRequestError("only_human_messages")
    key = as_uuid(wanted.thread_id) if wanted.thread_id else None
    may_exist = wanted.if_exists == "do_nothing"
    made = await ClientThreads(service).create(caller, key, wanted.metadata or {}, may_exist=may_exist)
    return answer_json(await thread_view(service, caller, made))


@router.post("/search")
async def search_threads(caller: CallerDep, service: ServiceDep, body: ThreadSearch | None = None) -> Response:
    """List the person's threads, the one used last first."""
    wanted = body or ThreadSearch()
    found = await _found(caller, service, wanted)
    page = found[wanted.offset : wanted.offset + wanted.limit]
    with_values = wanted.select is None or not STORED.isdisjoint(wanted.select)
    views = [await thread_view(service, caller, thread, with_values=with_values) for thread in page]
    shown = [selected(view, wanted.select) for view in views]
    return answer_json(shown, total=len(found))


@router.post("/count")
async def count_threads(caller: CallerDep, service: ServiceDep, body: ThreadSearch | None = None) -> Response:
    """Return the number of the person's threads."""
    return answer_json(len(await _found(caller, service, body or ThreadSearch())))


@router.post("/prune")
async def prune_threads(body: Pruning, caller: WriterDep, service: ServiceDep) -> Response:
    """Remove threads; those that are gone, or somebody else's, count for nothing."""
    if body.strategy == "keep_latest":
        raise InvalidRequestError("checkpoints_stay")
    pruned = 0
    for thread_id in dict.fromkeys(body.thread_ids):
        try:
            await service.delete_thread(caller, thread_id)
        except NotFoundError:
            continue
        pruned += 1
    return answer_json({"pruned_count": pruned})


@router.get("/{thread_id}")
async def get_thread(thread_id: str, caller: CallerDep, service: ServiceDep) -> Response:
    """Return a thread."""
    return answer_json(await thread_view(service, caller, await ClientThreads(service).get(caller, thread_id)))


@router.patch("/{thread_id}")
async def change_thread(thread_id: str, body: ThreadChange, caller: WriterDep, service: ServiceDep) -> Response:
    """Merge metadata into that of a thread."""
    changed = await ClientThreads(service).change(caller, thread_id, body.metadata or {}, config=body.config)
    return answer_json(await thread_view(service, caller, changed))


@router.delete("/{thread_id}")
async def delete_thread(thread_id: str, caller: WriterDep, service: ServiceDep) -> Response:
    """Delete a thread; a run that waits in it is cancelled."""
    await service.delete_thread(caller, thread_id)
    return Response(status_code=HTTP_204_NO_CONTENT)


@router.post("/{thread_id}/copy")
async def copy_thread(thread_id: str, caller: WriterDep, service: ServiceDep) -> Response:
    """Copy the messages of a thread into a new one, as an import does: without its runs, changes and approvals."""
    threads = ClientThreads(service)
    source = await threads.get(caller, thread_id)
    view = await whole_thread(caller, service, thread_id)
    part = ImportedThread(
        export_id=new_id(),
        source_id=thread_id,
        title=source.row.title,
        created_at=source.row.created_at,
        updated_at=service.clock.now(),
        messages=[_imported(message) for message in view.messages],
    )
    copied, _ = await ThreadImports(service.database, service.graph, service.clock).take(caller, part)
    stored = source.extra.about if source.extra else {}
    return answer_json(await thread_view(service, caller, await threads.change(caller, copied, stored)))


def _imported(message: MessageView) -> ImportedMessage:
    return ImportedMessage(
        id=message.id or new_id(),
        role=message.role,
        text=message.text,
        tool_calls=message.tool_calls,
        citations=message.citations,
        tool_call_id=message.tool_call_id or "",
        name=message.name or "",
        status=message.status or "",
    )


async def _found(caller: Principal, service: Service, wanted: ThreadSearch) -> Sequence[ClientThread]:
    threads = [thread for thread in await ClientThreads(service).all(caller) if _fits(thread, wanted)]
    if wanted.values:
        views = {thread.row.id: await thread_view(service, caller, thread) for thread in threads}
        threads = [thread for thread in threads if contains(views[thread.row.id]["values"], wanted.values)]
    if wanted.sort_by is None:
        return threads if wanted.sort_order != "asc" else threads[::-1]
    return sorted(threads, key=lambda thread: _sorted_by(thread, wanted), reverse=wanted.sort_order != "asc")


def _fits(thread: ClientThread, wanted: ThreadSearch) -> bool:
    is_named = wanted.ids is None or thread.row.id in wanted.ids
    has_status = wanted.status in (None, thread.status)
    return is_named and has_status and contains(metadata_of(thread), wanted.metadata or {})


def _sorted_by(thread: ClientThread, wanted: ThreadSearch) -> Any:
    view: Json = {
        "thread_id": thread.row.id,
        "status": thread.status,
        "created_at": thread.row.created_at,
        "updated_at": thread.row.updated_at,
        "state_updated_at": thread.row.updated_at,
    }
    return view[wanted.sort_by or "updated_at"]
