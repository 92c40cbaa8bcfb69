"""Make room for a message on a thread that is not done with the one before: LangGraph's strategies."""

from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, Final

from api.drive import Principal
from api.errors import RunFinishedError
from api.events.frames import newest_number
from api.langgraph.runs.bodies import Strategy
from api.langgraph.runs.rollback import roll_back
from api.langgraph.runs.rows import ClientRunRows
from api.langgraph.threads.rows import ClientThread
from api.service import Service
from api.storage.tables import WAITING

ENDED_WITHIN_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Room:
    """The room that was made.

    `rolled_back` is the run whose branch the message leaves, `stays` its effects that stay.
    """

    is_pending: bool = False
    rolled_back: str | None = None
    stays: Sequence[dict[str, Any]] = ()


async def make_room(service: Service, caller: Principal, thread: ClientThread, strategy: Strategy | None) -> Room:
    """Make room as the strategy says; without room, the start of the run refuses it.

    A message that follows a question, without a strategy, moves on: nothing that was asked about is done.
    """
    if strategy == "enqueue" and await ClientRunRows(service).has_pending(thread.row.id):
        return Room(is_pending=True)
    run = thread.run
    if run is None or run.finished_at is not None:
        return Room()
    if strategy == "enqueue":
        return Room(is_pending=True)
    moves_on = strategy is None and run.status == WAITING
    if strategy in {"interrupt", "rollback"} or moves_on:
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
