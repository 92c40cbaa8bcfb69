"""The questions of a run that waits, as interrupts: in the shape that public clients render."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from langgraph.types import Interrupt, StateSnapshot

from api.drive import Principal
from api.langgraph.entrance import Json
from api.service import Service
from api.storage.tables import WAITING, RunRow
from api.withholding import withhold_texts
from graph.events.definitions import EVENTS
from graph.language import language_of
from graph.planning.progress import PLAN_PAUSED

if TYPE_CHECKING:
    from api.events.frames import Event

NEEDED = "approval_needed"


async def waiting_tasks(
    service: Service, caller: Principal, run: RunRow | None, snapshot: StateSnapshot | None = None
) -> list[Json]:
    """Return the tasks in which a run waits, with their interrupts; none unless it waits, or while it is stopped."""
    if run is None or run.status != WAITING or run.cancel_requested or run.finished_at is not None:
        return []
    if snapshot is None:
        config = {"configurable": {"thread_id": run.thread_id}}
        snapshot = cast("StateSnapshot", await service.graph.graph.aget_state(config))
    is_hidden = await service.withholding.hidden(caller, run)
    return [
        {
            **_task(task.id, task.name),
            "interrupts": [
                {"id": _id(one), "value": _shown(service, run, one.value, is_hidden=is_hidden)}
                for one in task.interrupts
            ],
        }
        for task in snapshot.tasks
        if task.interrupts
    ]


def interrupts_of(tasks: list[Json]) -> list[Json]:
    """Return the interrupts of all tasks."""
    return [interrupt for task in tasks for interrupt in task["interrupts"]]


def by_task(tasks: list[Json]) -> dict[str, list[Json]]:
    """Return the interrupts by the ids of their tasks."""
    return {task["id"]: task["interrupts"] for task in tasks}


def _task(task_id: str, name: str) -> Json:
    return {"id": task_id, "name": name, "path": ["__pregel_pull", name], "error": None} | dict.fromkeys(
        ("checkpoint", "state", "result")
    )


def _id(interrupt: Interrupt) -> str:
    """Return the id of a question: that of its approval, by which streams name it too; clients compare them."""
    return str(interrupt.value.get("approval_id") or interrupt.id)


def _shown(service: Service, run: RunRow, value: Mapping[str, Any], *, is_hidden: bool) -> Json:
    """Return the value of an interrupt, filtered as the event that tells of it."""
    clean = service.graph.link_filter(run.message).clean
    if value.get("type") == PLAN_PAUSED:
        return {"type": PLAN_PAUSED, "version": value.get("version")}
    event: Event = {"type": NEEDED} | {name: value[name] for name in ("approval_id", "expires_at", "actions")}
    shown = EVENTS[NEEDED].filter_text(event, clean)
    requests = [{**one, "description": clean(one["description"])} for one in value["action_requests"]]
    asked: Json = {
        "action_requests": requests,
        "review_configs": value["review_configs"],
        **{name: shown[name] for name in ("approval_id", "expires_at", "actions")},
    }
    if is_hidden:
        language = language_of(run.message)
        asked |= {name: withhold_texts(asked[name], language) for name in ("action_requests", "actions")}
    return asked
