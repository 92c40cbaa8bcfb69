"""Runs without a thread: theirs is made for them, shown in no list, and deleted when they are over."""

from contextlib import aclosing, suppress

from api.drive import Principal
from api.errors import NotFoundError
from api.events.frames import newest_number
from api.langgraph.runs.webhooks import RunWebhooks
from api.langgraph.streams.state_frames import ENDS
from api.langgraph.threads.rows import ClientThreads
from api.runs.service import ADMINISTRATOR
from api.service import Service

LOOK_SECONDS = 5.0


async def delete_when_over(service: Service, caller: Principal, thread_id: str) -> None:
    """Delete a temporary thread when its run has ended, or asks: nobody could answer."""
    with suppress(NotFoundError):
        thread = await ClientThreads(service).get(caller, thread_id)
        if thread.run and thread.run.finished_at is None and thread.status == "busy":
            await _until_over(service, thread.run.id)
        await RunWebhooks(service).complete(thread_id)
        await service.delete_thread(caller, thread_id)


async def _until_over(service: Service, run_id: str) -> None:
    after = await newest_number(service.database, run_id)
    async with aclosing(service.runs.follow(run_id, after, LOOK_SECONDS)) as batches:
        async for frames in batches:
            if any(frame.type in ENDS for frame in frames):
                return


async def delete_left(service: Service) -> None:
    """Delete the temporary threads that an earlier process left, when their runs are over."""
    for row in await ClientThreads(service).temporary():
        run = await service.threads.newest_run(row.id)
        scopes = frozenset(run.scopes) if run else frozenset[str]()
        owner = Principal(row.user_id, run.email if run else "", scopes, ADMINISTRATOR)  # pyright: ignore[reportArgumentType] - stored scopes are their names
        await delete_when_over(service, owner, row.id)
