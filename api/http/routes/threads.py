"""Threads: list, search, read, export, rename, delete."""

from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Query, Request
from starlette.responses import Response
from starlette.status import HTTP_204_NO_CONTENT

from api.errors import NotFoundError
from api.http.dependencies import CallerDep, ServiceDep, WriterDep
from api.http.filtered_route import FilteredRoute, filtered_view
from api.http.markdown import to_markdown
from api.http.requests import MAX_REF_CHARACTERS, ThreadPatch, ThreadUndoBody
from api.http.schemas import ResultView, ThreadExport, ThreadList, ThreadSummary, ThreadView, UndoView
from api.http.thread_views import summary_view, thread_view
from api.http.views import run_view, undo_view
from drive_server.kernel.escaping.media import attachment
from drive_server.kernel.http.languages import language_of
from drive_server.kernel.http.problem import problem_responses

router = APIRouter(prefix="/threads", tags=["threads"], route_class=FilteredRoute)

Limit = Annotated[int, Query(ge=1, le=1000)]
Cursor = Annotated[str | None, Query(max_length=MAX_REF_CHARACTERS)]
Version = Annotated[str | None, Query(max_length=64, description="The id of a version of the thread's last message.")]
MARKDOWN = "text/markdown"
EXPORT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The thread, as a file.",
        "model": ThreadExport,
        "content": {
            MARKDOWN: {"schema": {"type": "string"}, "example": "# Parental leave\n\n## You\n\nFind the document ...\n"}
        },
    }
}


@router.get("", responses=problem_responses(403))
async def list_threads(
    caller: CallerDep,
    service: ServiceDep,
    q: Annotated[str | None, Query(max_length=1000, description="Words of a title or of what was said.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ThreadList:
    """List your threads, the one used last first; with `q` those that have all of its words.

    They are searched for in titles, messages and answers, by their beginnings; Chinese words anywhere.
    """
    page = await service.find_threads(caller, q, limit, cursor)
    return ThreadList(items=[summary_view(row) for row in page.threads], cursor=page.cursor)


@router.get("/{thread_id}", responses=problem_responses(403, 404))
async def get_thread(
    thread_id: str, caller: CallerDep, service: ServiceDep, limit: Limit = 200, version: Version = None
) -> ThreadView:
    """Return a thread with its newest messages (at most `limit`), plan, route, active run and waiting approval.

    With the id of an earlier `version` of its last message, it is the thread as it was with that one.
    """
    return await thread_view(caller, service, thread_id, version, limit)


@router.get("/{thread_id}/export", responses=EXPORT | problem_responses(403, 404))
async def export_thread(
    thread_id: str,
    caller: CallerDep,
    service: ServiceDep,
    request: Request,
    format: Annotated[Literal["markdown", "json"], Query()] = "markdown",  # noqa: A002 - the query's name
    version: Version = None,
) -> Response:
    """Export a whole thread: as Markdown for people, or as JSON with a `schema_version` for programs.

    Both have the calls with their outcome, the citations and the plan. With `version`, see `GET /api/threads/{id}`.
    """
    view = await thread_view(caller, service, thread_id, version)
    runs = await service.threads.runs(thread_id)
    fields = {name: getattr(view, name) for name in type(view).model_fields}
    whole = ThreadExport(**fields, exported_at=service.clock.now(), runs=[run_view(run) for run in runs])
    export = cast("ThreadExport", filtered_view(whole, service))
    markdown = format == "markdown"
    content = to_markdown(export, language_of(request)) if markdown else export.model_dump_json(by_alias=True, indent=2)
    suffix, media_type = (".md", MARKDOWN) if markdown else (".json", "application/json")
    headers = {"content-disposition": attachment(f"{export.title}{suffix}")}
    return Response(content, headers=headers, media_type=media_type)


@router.get("/{thread_id}/results/{reference}", responses=problem_responses(403, 404))
async def get_thread_result(thread_id: str, reference: str, caller: CallerDep, service: ServiceDep) -> ResultView:
    """Return a long result in full; the thread's messages have an excerpt of it."""
    row = await service.threads.get(caller, thread_id)
    others = await service.graph.memory.items_of_result(row.user_id, row.id, reference)
    if await service.drive.hidden(caller, others):
        raise NotFoundError("result_not_shared")
    text = await service.graph.memory.result(row.user_id, row.id, reference)
    if text is None:
        raise NotFoundError("no_result")
    return ResultView(reference=reference, text=text)


@router.patch("/{thread_id}", responses=problem_responses(403, 404))
async def rename_thread(thread_id: str, body: ThreadPatch, caller: WriterDep, service: ServiceDep) -> ThreadSummary:
    """Give a thread another title; it is cut to 80 characters."""
    return summary_view(await service.threads.rename(caller, thread_id, body.title))


@router.delete("/{thread_id}", status_code=HTTP_204_NO_CONTENT, responses=problem_responses(403, 404, 409))
async def delete_thread(thread_id: str, caller: WriterDep, service: ServiceDep) -> None:
    """Delete a thread with all its messages; its changes in the drive stay.

    409 `thread_busy` while a run works. A run that waits for an approval is cancelled, and the approval rejected.
    """
    await service.delete_thread(caller, thread_id)


@router.post("/{thread_id}/undo", responses=problem_responses(403, 404, 409))
async def undo_thread(
    thread_id: str, caller: CallerDep, service: ServiceDep, body: ThreadUndoBody | None = None
) -> UndoView:
    """Undo, as one change, the changes of a thread's runs, or of those from `since_run` on."""
    wanted = body or ThreadUndoBody()
    run, result = await service.runs.undo_thread(caller, thread_id, since_run=wanted.since_run, preview=wanted.preview)
    return undo_view(run, result)
