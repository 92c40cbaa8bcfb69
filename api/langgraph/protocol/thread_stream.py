"""The events of a thread in LangGraph's second protocol: of its runs one after the other, also of later ones."""

from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from fastapi import Request

from api.drive import Principal
from api.http.run_streams import shown_frames
from api.langgraph.joining.runs_of_thread import runs_of_thread
from api.langgraph.protocol.encoder import CHECKPOINT_SLOT, RUN_SPAN, VALUES_SLOT, ProtocolEncoder
from api.langgraph.runs.following import HEARTBEAT_SECONDS
from api.langgraph.streams.frames import HEARTBEAT
from api.langgraph.streams.state_frames import ASKS, RunStates, with_interrupts
from api.langgraph.threads.rows import ClientThread
from api.service import Service
from api.storage.tables import RunRow
from drive_server.kernel.sql.shared_poll import Watch

VALUES: Final = "values"
CHECKPOINTS: Final = "checkpoints"


async def thread_events(
    service: Service,
    caller: Principal,
    request: Request,
    thread: ClientThread,
    watch: Watch[int],
    channels: Collection[str],
    since: int | None,
) -> AsyncGenerator[bytes]:
    """Yield the events behind a number, and then new ones; without one, from the newest run on."""
    done = None if since is None else since // RUN_SPAN - 1
    async with aclosing(runs_of_thread(service, caller, request, thread, watch, done)) as runs:
        async for run in runs:
            if run is None:
                yield HEARTBEAT
                continue
            async with aclosing(_events_of(service, caller, request, run, channels, _within(run, since))) as pieces:
                async for piece in pieces:
                    yield piece


def _within(run: RunRow, since: int | None) -> int:
    """Return the number behind which the events of a run come: of another run, any number is before the first."""
    return since if since and since // RUN_SPAN == run.number else 0


async def _events_of(
    service: Service, caller: Principal, request: Request, run: RunRow, channels: Collection[str], since: int
) -> AsyncGenerator[bytes]:
    encoder = ProtocolEncoder(run.number, channels, since)
    states = RunStates(service, caller, run.thread_id, run.id)
    shows = encoder.wants(CHECKPOINTS) or encoder.wants(VALUES)
    quick = replace(service, heartbeat_seconds=min(service.heartbeat_seconds, HEARTBEAT_SECONDS))
    last = 0
    async with aclosing(await shown_frames(run, 0, caller, quick, request, with_steps=shows)) as batches:
        async for frames in batches:
            at = states.place(frames) if shows else None
            shown = b"".join(map(encoder.encode, frames[:at]))
            if at is not None:
                # Before the end of the run, which clients take for the end of all that they wait for.
                asks = any(frame.type in ASKS for frame in frames)
                shown += await _state(encoder, states, frames[at - 1].seq if at else last, asks=asks)
                shown += b"".join(map(encoder.encode, frames[at:]))
            last = frames[-1].seq if frames else last
            yield shown or HEARTBEAT


async def _state(encoder: ProtocolEncoder, states: RunStates, seq: int, *, asks: bool) -> bytes:
    """Return the state after an event: its checkpoint first, from which clients fork at the messages in the values."""
    checkpoint, values, tasks = await states.step(encoder.step_of(seq), asks=asks)
    shown = encoder.part(seq, CHECKPOINT_SLOT, CHECKPOINTS, checkpoint)
    return shown + encoder.part(seq, VALUES_SLOT, VALUES, with_interrupts(values, tasks))
