"""The answers of the routes that begin or join a run."""

from collections.abc import Mapping
from typing import Any

from fastapi import Request
from starlette.responses import Response

from api.drive import Principal
from api.errors import InvalidRequestError
from api.langgraph.runs.begin import Begun
from api.langgraph.runs.clients import Clients
from api.langgraph.runs.following import awaited_values, cancel_when_safe, client_frames
from api.langgraph.runs.temporary import delete_when_over
from api.langgraph.streams.frames import FrameNumber
from api.langgraph.streams.modes import MODES, Mode, read_modes
from api.langgraph.streams.response import ClientStream
from api.storage.tables import ClientRunRow

EVENT_STREAM = "text/event-stream"
JSON = "application/json"
UNBUFFERED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def modes_of(given: Any, default: frozenset[Mode]) -> frozenset[Mode]:
    """Return the modes of a stream. Raises `InvalidRequestError` for an unknown one."""
    modes = read_modes(given, default)
    if modes is None:
        raise InvalidRequestError("unknown_stream_mode", known=", ".join(sorted(MODES)))
    return modes


def addresses_of(row: ClientRunRow, follow: str) -> Mapping[str, str]:
    """Return the headers that say where a run is, and how its answer goes on."""
    path = f"/threads/{row.thread_id}/runs/{row.id}"
    return {"Content-Location": path, "Location": f"{path}/{follow}"}


def stream_of(
    clients: Clients,
    caller: Principal,
    request: Request,
    begun: Begun,
    modes: frozenset[Mode],
    *,
    place: FrameNumber | None = None,
    cancels: bool,
    deletes: bool = False,
) -> Response:
    """Return the events of a client run; if its client goes, the run is stopped if it `cancels`.

    `deletes`: its thread goes with it.
    """
    row = begun.row
    pieces = client_frames(clients, caller, request, begun, modes, place)
    headers = {**UNBUFFERED, **addresses_of(row, "stream")}
    after = _Afterwards(clients, caller, row, cancels=cancels, deletes=deletes)
    return ClientStream(pieces, headers, media_type=EVENT_STREAM, on_gone=after.client_left, on_end=after.client_read)


def wait_for(
    clients: Clients, caller: Principal, request: Request, row: ClientRunRow, *, cancels: bool, deletes: bool = False
) -> Response:
    """Return the values at the end of a client run."""
    pieces = awaited_values(clients, caller, request, row)
    headers = {**UNBUFFERED, **addresses_of(row, "join")}
    after = _Afterwards(clients, caller, row, cancels=cancels, deletes=deletes)
    return ClientStream(pieces, headers, media_type=JSON, on_gone=after.client_left, on_end=after.client_read)


class _Afterwards:
    """The work at the end of an answer, whether the client of a run has read all of it or has left before."""

    def __init__(self, clients: Clients, caller: Principal, row: ClientRunRow, *, cancels: bool, deletes: bool) -> None:
        self._clients = clients
        self._caller = caller
        self._row = row
        self._cancels = cancels
        self._deletes = deletes

    def client_read(self) -> None:
        """Delete the thread of a run that has none of its own."""
        if self._deletes:
            work = delete_when_over(self._clients.service, self._caller, self._row.thread_id)
            self._clients.spawn(work, f"end of thread {self._row.thread_id}")

    def client_left(self) -> None:
        """Stop the run if its client wanted that."""
        if self._cancels:
            self._clients.spawn(self._cancel(), f"end of run {self._row.id}")
        else:
            self.client_read()

    async def _cancel(self) -> None:
        await cancel_when_safe(self._clients.service, self._caller, self._row)
        self.client_read()
