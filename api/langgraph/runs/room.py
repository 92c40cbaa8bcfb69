"""Make room for a message on a thread that is not done with the one before: LangGraph's strategies, with rollback."""

from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, Final

from api.drive import Principal, undo_to_view
from api.errors import RunFinishedError
from api.events.frames import newest_number
from api.langgraph.runs.bodies import Strategy
from api.langgraph.runs.rows import ClientRunRows
from api.langgraph.threads.rows import ClientThread
from api.service import Service
from api.storage.tables import WAITING
from graph.language import language_of

ENDED_WITHIN_SECONDS: Final = 10.0
DEFAULT_STRATEGY: Final = "enqueue"
"""As LangGraph's server has it for a request that names none."""


@dataclass(frozen=True, slots=True)
class Room:
    """The room that was made.

    `rolled_back` is the run whose branch the message leaves, `stays` its effects that stay.
    """

    is_pending: bool = False
    rolled_back: str | None = None
    stays: Sequence[dict[str, Any]] = ()


async def make_room(
    service: Service, caller: Principal, thread: ClientThread, strategy: Strategy | None, *, has_place: bool = False
) -> Room:
    """Make room as the strategy says; without room, the start of the run refuses it.

    Without a strategy a message that follows a question moves on: nothing that was asked about is done. Any other one
    is put behind the run that works: clients stop a run and send the next message before the stop arrives. One that
    `has_place`, an earlier checkpoint, would come to stand at another one there, and gets no room.
    """
    run = thread.run
    is_active = run is not None and run.finished_at is None
    moves_on = strategy is None and run is not None and is_active and run.status == WAITING
    if run is not None and moves_on:
        await _end(service, caller, run.id)
        is_active = False
    if strategy is None and is_active and has_place:
        return Room()
    if (strategy or DEFAULT_STRATEGY) == "enqueue":
        return Room(is_pending=is_active or await ClientRunRows(service).has_pending(thread.row.id))
    if run is None or not is_active:
        return Room()
    if strategy in {"interrupt", "rollback"}:
        await _end(service, caller, run.id)
    if strategy == "rollback":
        return Room(rolled_back=run.id, stays=await roll_back(service, caller, run.id))
    return Room()


async def _end(service: Service, caller: Principal, run_id: str) -> None:
    """Stop a run, and return when it has ended, or after some seconds."""
    with suppress(RunFinishedError):
        if await service.runs.cancel(caller, run_id):
            return
        await until_ended(service, run_id, ENDED_WITHIN_SECONDS)


async def until_ended(service: Service, run_id: str, seconds: float) -> None:
    """Return when a run has ended, or nothing came of it for some seconds."""
    after = await newest_number(service.database, run_id)
    async with aclosing(service.runs.follow(run_id, after, seconds)) as batches:
        async for frames in batches:
            if not frames or frames[-1].is_final:
                return


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
