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
from api.langgraph.runs.clients import Clients
from api.langgraph.runs.following import HEARTBEAT_SECONDS
from api.langgraph.streams.frames import HEARTBEAT
from api.langgraph.streams.state_frames import ASKS, RunStates, with_interrupts
from api.storage.tables import RunRow

VALUES: Final = "values"
CHECKPOINTS: Final = "checkpoints"


async def thread_events(
    clients: Clients, caller: Principal, request: Request, thread_id: str, channels: Collection[str], since: int | None
) -> AsyncGenerator[bytes]:
    """Yield the events behind a number, and then new ones; without one, from the newest run on."""
    done = None if since is None else since // RUN_SPAN - 1
    async with aclosing(runs_of_thread(clients, caller, request, thread_id, done)) as runs:
        async for run in runs:
            if run is None:
                yield HEARTBEAT
                continue
            async with aclosing(_events_of(clients, caller, request, run, channels, _within(run, since))) as pieces:
                async for piece in pieces:
                    yield piece


def _within(run: RunRow, since: int | None) -> int:
    """Return the number behind which the events of a run come: of another run, any number is before the first."""
    return since if since and since // RUN_SPAN == run.number else 0


async def _events_of(
    clients: Clients, caller: Principal, request: Request, run: RunRow, channels: Collection[str], since: int
) -> AsyncGenerator[bytes]:
    service = clients.service
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
    shown = b""
    if encoder.wants(CHECKPOINTS):
        checkpoint = await states.checkpoint(encoder.step_of(seq), asks=asks)
        shown += encoder.part(seq, CHECKPOINT_SLOT, CHECKPOINTS, checkpoint)
    if encoder.wants(VALUES):
        values = with_interrupts(*await states.newest(asks=asks))
        shown += encoder.part(seq, VALUES_SLOT, VALUES, values)
    return shown
