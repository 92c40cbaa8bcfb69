"""Runs one call that may run. Each is a task of its own, so that what is finished is not run again after a crash."""

from time import perf_counter
from typing import Any, Final

from langgraph.runtime import Runtime
from mcp.types import CallToolResult
from typing_extensions import TypedDict

from graph.connections import (
    META_APPROVED_BY,
    META_CHANGE_ID,
    META_IDEMPOTENCY_KEY,
    META_IF_MATCH,
    META_RUN_ID,
    OnProgress,
)
from graph.context import GraphDependencies, RunContext
from graph.errors import DriveUnavailableError
from graph.events import CallStatus, ToolProgressEvent, emit, emitter
from graph.gateway.approval import digest
from graph.gateway.limits import result_text
from graph.gateway.policy import REASONS
from graph.nodes.messages import Outcome, report, result_message, text_of, written
from graph.nodes.review import error_text
from graph.nodes.sources import SOURCES, Source, sources_of, without_addresses
from graph.state import Call, ChangeNote, Language, Update

NO_ANSWER: Final = (
    "drive_unavailable: The drive did not answer in time. It may or may not have happened: look before doing it again."
)
NOT_THE_SAME: Final = "forbidden: This is not the call that was judged. It was not done."
DRIFT: Final = "etag_mismatch"


class ActTask(TypedDict):
    """What one task gets: the call, and the turn it belongs to."""

    call: Call
    run_id: str
    language: Language


def make_act(deps: GraphDependencies) -> Any:
    """Return the node."""
    limit = deps.settings.max_result_characters

    async def act(task: ActTask, runtime: Runtime[RunContext]) -> Update:
        call = task["call"]
        if digest(call["name"], call["args"], call["etag"]) != call["digest"]:
            return _finished(call, NOT_THE_SAME, "error", 0)
        _progress(call)
        toolbox = await deps.connections.toolbox(deps.user(runtime))
        begun = perf_counter()
        try:
            result = await toolbox.call(call["name"], call["args"], meta=_meta(task), on_progress=_forward(call))
        except DriveUnavailableError:
            return _finished(call, NO_ANSWER, "error", _since(begun))
        if has_drifted(call, result):
            _progress(call, REASONS["changed"][task["language"]])
            return {}
        if result.isError:
            return _finished(call, error_text(result, limit), "error", _since(begun))
        text = result_text(text_of(result), without_addresses(result.structuredContent), limit)
        return _finished(
            call,
            text,
            "done",
            _since(begun),
            sources=sources_of(result.structuredContent),
            changes=_changes(call, result),
            tainted=reads_content(result),
        )

    return act


def has_drifted(call: Call, result: CallToolResult) -> bool:
    """Say whether the target changed after it was approved: the call goes back to be judged and asked about again."""
    refused = result.isError and (result.structuredContent or {}).get("code") == DRIFT
    return refused and call["standing"] == "approved" and call["etag"] is not None


def reads_content(result: CallToolResult) -> bool:
    """Say whether the result holds content of a file: its text, or a passage that is more than its name."""
    data = result.structuredContent or {}
    if data.get("text"):
        return True
    if any(found.get("answer") for found in data.get("results", [])):
        return True
    return any(hit.get("text") and hit["text"] != hit["file"]["name"] for hit in data.get("hits", []))


def _meta(task: ActTask) -> dict[str, Any]:
    call = task["call"]
    meta = {META_RUN_ID: task["run_id"], META_IDEMPOTENCY_KEY: f"{task['run_id']}:{call['tool_call_id']}"}
    if call["standing"] == "approved":
        meta |= {META_IF_MATCH: call["etag"], META_APPROVED_BY: call["approved_by"]}
    return {key: value for key, value in meta.items() if value}


def _changes(call: Call, result: CallToolResult) -> list[ChangeNote]:
    change_id = (result.meta or {}).get(META_CHANGE_ID)
    if change_id is None:
        return []
    summary = text_of(result).split("\n", 1)[0]
    return [{"change_id": change_id, "tool_call_id": call["tool_call_id"], "tool": call["name"], "summary": summary}]


def _finished(
    call: Call, text: str, outcome: Outcome, duration_ms: int, sources: list[Source] | None = None, **turn: Any
) -> Update:
    message = result_message(call["tool_call_id"], call["name"], text, outcome)
    if sources is not None:
        message.additional_kwargs[SOURCES] = sources
    return written([report(message, duration_ms)], **turn)


def _since(begun: float) -> int:
    return round((perf_counter() - begun) * 1000)


def _progress(call: Call, message: str = "") -> None:
    event = _progress_event(call, "pending" if message else "invoking")
    if message:
        event["message"] = message
    emit(event)


def _progress_event(call: Call, status: CallStatus) -> ToolProgressEvent:
    return {
        "type": "tool_progress",
        "tool_call_id": call["tool_call_id"],
        "name": call["name"],
        "status": status,
    }


def _forward(call: Call) -> OnProgress:
    write = emitter()

    async def forward(progress: float, total: float | None, message: str | None) -> None:
        event = _progress_event(call, "invoking")
        event["progress"] = progress
        if total is not None:
            event["total"] = total
        if message:
            event["message"] = message
        write(event)

    return forward
