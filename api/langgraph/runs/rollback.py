"""Undo a run, and name the effects that no undo reverts."""

from typing import Any

from api.drive import Principal, undo_to_view
from api.langgraph.runs.rows import ClientRunRows
from api.service import Service
from graph.language import language_of


async def roll_back(service: Service, caller: Principal, run_id: str) -> list[dict[str, Any]]:
    """Undo the changes of a run that is over, and those after it in its thread; forget the client runs that were it.

    Return the effects that stay, each with a sentence. A key that may not write undoes nothing: `MissingScopeError`, if
    there is something to undo.
    """
    run = await service.runs.get(caller, run_id)
    language = language_of(run.message)
    # A call whose answer nobody waited for may be under way.
    await service.drive.revoke(run.user_id, run.id)
    changes = [change for change in await service.runs.changes(caller, run_id) if change.undone_by is None]
    stays: list[dict[str, Any]] = []
    if changes:
        _, undone = await service.runs.undo_thread(caller, run.thread_id, since_run=run_id, preview=False)
        stays += undo_to_view(undone, language)["skipped"]
    for record in await service.runs.outside_calls(caller, run_id):
        stays.append({"tool": record["toolName"], "server": record["serverName"]})
    await ClientRunRows(service).forget_run(run_id)
    return stays
