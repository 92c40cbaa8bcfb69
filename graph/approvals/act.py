"""Runs calls that may run.

Each change is a task of its own, so that a crash does not repeat a finished one; a round of mere reads runs in
its specialist's step, which is repeated as a whole.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import reduce
from time import perf_counter
from typing import Any, Final, NotRequired

from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from langgraph.types import Send
from mcp.types import CallToolResult
from typing_extensions import TypedDict

from graph.agents.authorship import foreign_words, mark_result, record_own_version
from graph.approvals.outside import OutsideRunner
from graph.approvals.payload import ttl_seconds
from graph.approvals.review import error_text
from graph.citations.sources import SOURCES, Source, sources_of, without_addresses
from graph.citations.tables import TABLE, TableSource, table_source_of
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.drive.connections import (
    META_APPROVAL_ID,
    META_APPROVED_BY,
    META_APPROVED_KEY,
    META_CHANGE_ID,
    META_GRANT_ID,
    META_IDEMPOTENCY_KEY,
    META_IF_MATCH,
    META_RUN_ID,
    META_TOOL_CALL_ID,
    OnProgress,
)
from graph.drive.sentences import localize
from graph.errors import DriveUnavailableError
from graph.events.calls import CallStatus, ToolProgressEvent, named
from graph.events.sending import emit, emitter
from graph.language import Language
from graph.limits.limits import result_text
from graph.messages.grouping import unanswered
from graph.messages.stored_results import ResultStore
from graph.messages.written import Outcome, add_messages, report, result_message, text_of
from graph.policy.contract import digest
from graph.policy.grants import claim_of, give_back, holds
from graph.policy.reasons import sentence
from graph.policy.rules import PLAN
from graph.policy.tools import ToolFacts
from graph.state import Call, ChangeNote, State, Taint, Update, is_tainted, running_turn
from graph.supersteps import join_updates
from graph.tools.box import drive_toolset
from graph.tools.results import READ_RESULT, offload_result

NO_ANSWER: Final = (
    "drive_unavailable: The drive did not answer in time. It may or may not have happened: look before doing it again."
)
NOT_THE_SAME: Final = "forbidden: This is not the call that was judged. It was not done."
DRIFT: Final = "etag_mismatch"


class ActTask(TypedDict):
    """The input of one task: the call, its turn, and whether the thread is tainted (an older task's always is)."""

    call: Call
    run_id: str
    language: Language
    tainted: NotRequired[bool]


def make_act(deps: GraphDependencies) -> Any:
    """Return the node."""
    limit = deps.settings.max_result_characters

    async def act(task: ActTask, runtime: Runtime[RunContext]) -> Update:
        call = task["call"]
        if digest(call["name"], call["args"], call["etag"]) != call["digest"]:
            return _finished(call, NOT_THE_SAME, "error", 0)
        user = deps.user(runtime)
        if source := call.get("outside"):
            _progress(call)
            ttl = ttl_seconds(deps.settings, user.mode)
            runner = OutsideRunner(
                call, source, task["run_id"], task["language"], user, limit, _task_id(runtime), deps.clock, ttl
            )
            return await runner.run(deps.offers(runtime), deps.result_store(runtime), _forward(call))
        if not await _is_still_covered(task, user, runtime.store, deps.clock()):
            _progress(call, sentence("changed", task["language"]))
            return {}
        _progress(call)
        toolbox = await drive_toolset(deps, runtime)
        begun = perf_counter()
        try:
            result = await toolbox.call(call["name"], call["args"], meta=_meta(task), on_progress=_forward(call))
        except DriveUnavailableError:
            return _finished(call, NO_ANSWER, "error", _since(begun))
        if has_drifted(call, result):
            await _give_back(task, user, runtime.store)
            _progress(call, sentence("changed", task["language"]))
            return {}
        tool = toolbox.facts_of(call["name"])
        foreign = await foreign_words(tool, result, user, runtime.store)
        if result.isError:
            await _give_back(task, user, runtime.store)
            said = error_text(result, limit, task["language"])
            refused = _finished(call, said, "error", _since(begun), foreign=foreign)
            return await _stored(refused, result, tool, said, None, deps.result_store(runtime), limit)
        if not task.get("tainted", True):
            await record_own_version(tool, result.structuredContent, user, runtime.store)
        text, data = text_of(result), without_addresses(localize(result.structuredContent, task["language"]))
        update = _finished(
            call,
            result_text(text, data, limit),
            "done",
            _since(begun),
            sources=sources_of(result.structuredContent),
            table=table_source_of(result.structuredContent),
            foreign=foreign,
            changes=_changes(call, result),
            tainted=reads_again(task),
        )
        return await _stored(update, result, tool, text, data, deps.result_store(runtime), limit)

    return act


async def _stored(
    update: Update,
    result: CallToolResult,
    tool: ToolFacts,
    text: str,
    data: Mapping[str, Any] | None,
    store: ResultStore | None,
    limit: int,
) -> Update:
    """Return the update with its message as the thread stores it: long results, and those of others, by reference."""
    message = mark_result(update["messages"][0], tool, result)
    return {**update, "messages": [await offload_result(message, text, data, store, limit)]}


def _task_id(runtime: Runtime[RunContext]) -> str:
    return runtime.execution_info.task_id if runtime.execution_info else ""


def ready_tasks(state: State) -> list[ActTask]:
    """Return a task for each unanswered call that may run."""
    waiting = {str(call["id"]) for call in unanswered(state["messages"])}
    turn, tainted = running_turn(state), is_tainted(state)
    return [
        {"call": call, "run_id": turn["run_id"], "language": turn["language"], "tainted": tainted}
        for call in state.get("calls", [])
        if call["tool_call_id"] in waiting and call["standing"] in {"allowed", "approved"}
    ]


def make_read(deps: GraphDependencies) -> Any:
    """Return the part of a specialist's step that runs a round of calls which may all run, and only read."""
    act = make_act(deps)

    async def read(state: State, runtime: Runtime[RunContext]) -> Update:
        tasks = ready_tasks(state)
        if not tasks or len(tasks) < len(unanswered(state["messages"])):
            return {}
        if any(task["call"]["risk"] != "read" for task in tasks):
            return {}
        updates = await asyncio.gather(*(act(task, runtime) for task in tasks))
        return reduce(join_updates, updates, {"calls": []})

    return read


def only_reads(tasks: Iterable[Any]) -> bool:
    """Say whether all that these tasks are about to do is to read: nobody sees it if that is done again."""
    return all(isinstance(task, Send) and task.node == "act" and task.arg["call"]["risk"] == "read" for task in tasks)


def has_drifted(call: Call, result: CallToolResult) -> bool:
    """Say whether the target changed after its approval: the call goes back to be judged, and approved again."""
    refused = result.isError and (result.structuredContent or {}).get("code") == DRIFT
    return refused and _is_bound(call) and call["etag"] is not None


def _is_bound(call: Call) -> bool:
    """Say whether the call is limited to the items of its approval, or of a grant or a plan."""
    return call["standing"] == "approved" or bool(call.get("covered_by"))


def reads_again(task: ActTask) -> bool:
    """Say whether the call shows an earlier result of a tainted thread: its foreign words then come into this turn."""
    return task["call"]["name"] == READ_RESULT.name and task.get("tainted", True)


async def _is_still_covered(task: ActTask, user: RunContext, store: BaseStore | None, now: datetime) -> bool:
    """Say whether the grant that lets the call run was neither withdrawn nor is over; else it is judged again."""
    grant_id = task["call"].get("covered_by")
    if not grant_id or grant_id == PLAN:
        return True
    claim = claim_of(task["run_id"], task["call"]["tool_call_id"])
    return store is not None and await holds(store, user.user_id, grant_id, claim=claim, now=now)


async def _give_back(task: ActTask, user: RunContext, store: BaseStore | None) -> None:
    """Return the items that a refused call used up of its grant. A plan's contract gets nothing back."""
    grant_id = task["call"].get("covered_by")
    if store is not None and grant_id and grant_id != PLAN:
        await give_back(store, user.user_id, grant_id, claim_of(task["run_id"], task["call"]["tool_call_id"]))


def _meta(task: ActTask) -> dict[str, Any]:
    call = task["call"]
    run_id, key = task["run_id"], call["tool_call_id"]
    meta = {META_RUN_ID: run_id, META_IDEMPOTENCY_KEY: f"{run_id}:{key}", META_TOOL_CALL_ID: key}
    if _is_bound(call):
        meta |= {META_IF_MATCH: call["etag"], META_APPROVED_BY: call["approved_by"]}
        meta |= {META_APPROVED_KEY: call.get("approved_key")}
        meta |= {META_APPROVAL_ID: call.get("approval_id"), META_GRANT_ID: call.get("covered_by")}
    return {key: value for key, value in meta.items() if value}


def _changes(call: Call, result: CallToolResult) -> list[ChangeNote]:
    change_id = (result.meta or {}).get(META_CHANGE_ID)
    if change_id is None:
        return []
    summary = text_of(result).split("\n", 1)[0]
    return [{"change_id": change_id, "tool_call_id": call["tool_call_id"], "tool": call["name"], "summary": summary}]


def _finished(
    call: Call,
    text: str,
    outcome: Outcome,
    duration_ms: int,
    sources: list[Source] | None = None,
    foreign: Sequence[Taint] = (),
    table: TableSource | None = None,
    **turn: Any,
) -> Update:
    message = result_message(call["tool_call_id"], call["name"], text, outcome, foreign)
    if sources is not None:
        message.additional_kwargs[SOURCES] = sources
    if table is not None:
        message.additional_kwargs[TABLE] = table
    return add_messages([report(message, duration_ms)], **turn)


def _since(begun: float) -> int:
    return round((perf_counter() - begun) * 1000)


def _progress(call: Call, message: str = "") -> None:
    event = _progress_event(call, "pending" if message else "invoking")
    if message:
        event["message"] = message
    elif covered_by := call.get("covered_by"):
        event["reason"] = "planned" if covered_by == PLAN else "granted"
        if covered_by != PLAN:
            event["grant_id"] = covered_by
    emit(event)


def _progress_event(call: Call, status: CallStatus) -> ToolProgressEvent:
    return {
        "type": "tool_progress",
        "tool_call_id": call["tool_call_id"],
        **named(call["name"]),
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
