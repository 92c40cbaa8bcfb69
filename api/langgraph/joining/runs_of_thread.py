"""The runs of a thread one after the other, also those that are still to come, by whichever door they begin."""

from collections.abc import AsyncGenerator

from fastapi import Request

from api.drive import Principal
from api.http.dependencies import is_still_caller
from api.http.run_streams import open_streams
from api.langgraph.runs.clients import Clients
from api.langgraph.runs.following import HEARTBEAT_SECONDS
from api.storage.tables import RunRow


async def runs_of_thread(
    clients: Clients, caller: Principal, request: Request, thread_id: str, done: int | None
) -> AsyncGenerator[RunRow | None]:
    """Yield the runs behind a number, each once, and None as heartbeat; without a number, from the newest run on.

    A number that no run has yet is that of the newest one: clients may name any. Ends with the caller's key.
    """
    service = clients.service
    streams = open_streams(request)
    newest = await service.threads.newest_run(thread_id)
    last = newest.number if newest else 0
    done = last - 1 if done is None else min(done, last)
    watch = clients.newest_runs.watch(thread_id)
    yield None
    with streams.opened(request, caller.user_id) as stream:
        while stream.is_open and watch.is_open:
            for run in await service.threads.runs(thread_id):
                if run.number > done:
                    yield run
                    done = run.number
            found = None
            with stream.waiting():
                found = await watch.next(HEARTBEAT_SECONDS)
            if found is not None and not await is_still_caller(request, service):
                return
            yield None
