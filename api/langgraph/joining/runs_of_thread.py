"""The runs of a thread one after the other, also those that are still to come, by whichever door they begin."""

from collections.abc import AsyncGenerator, Sequence

from fastapi import Request

from api.drive import Principal
from api.http.dependencies import is_still_caller
from api.http.run_streams import open_streams
from api.langgraph.runs.following import HEARTBEAT_SECONDS
from api.langgraph.threads.rows import ClientThread
from api.service import Service
from api.storage.tables import RunRow
from drive_server.kernel.sql.shared_poll import Watch


async def runs_of_thread(
    service: Service, caller: Principal, request: Request, thread: ClientThread, watch: Watch[int], done: int | None
) -> AsyncGenerator[RunRow | None]:
    """Yield the runs behind a number, each once, and None as heartbeat; without a number, from the newest run on.

    A number that no run has yet is that of the newest one: clients may name any. Ends with the caller's key. `watch`
    tells of runs that are newer than the thread's.
    """
    streams = open_streams(request)
    last = thread.run.number if thread.run else 0
    done = last - 1 if done is None else min(done, last)
    yield None
    with streams.opened(request, caller.user_id) as stream:
        found = last
        while stream.is_open and watch.is_open:
            for run in await _runs(service, thread, done) if found > done else ():
                if run.number > done:
                    yield run
                    done = run.number
            newest = None
            with stream.waiting():
                newest = await watch.next(HEARTBEAT_SECONDS)
            if newest is not None and not await is_still_caller(request, service):
                return
            found = newest or found
            yield None


async def _runs(service: Service, thread: ClientThread, done: int) -> Sequence[RunRow]:
    """Return the runs of a thread, at least those behind a number: the newest one is with the thread already."""
    if thread.run and thread.run.number == done + 1:
        return [thread.run]
    return await service.threads.runs(thread.row.id)
