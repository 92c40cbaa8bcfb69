"""The answers of the routes that begin or join a run."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from fastapi import Request
from starlette.responses import Response

from api.drive import Principal
from api.errors import InvalidRequestError
from api.langgraph.runs.clients import Clients
from api.langgraph.runs.following import awaited_values, cancel_when_safe, client_frames
from api.langgraph.streams.frames import Place
from api.langgraph.streams.modes import MODES, Mode, read_modes
from api.langgraph.streams.response import ClientStream
from api.service import Service
from api.storage.tables import ClientRunRow

EVENT_STREAM = "text/event-stream"
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
    row: ClientRunRow,
    modes: frozenset[Mode],
    *,
    place: Place | None = None,
    cancels: bool,
) -> Response:
    """Return the events of a client run; if its client goes, the run is stopped if it `cancels`."""
    pieces = client_frames(clients, caller, request, row, modes, place)
    headers = {**UNBUFFERED, **addresses_of(row, "stream")}
    return ClientStream(pieces, headers, media_type=EVENT_STREAM, on_gone=_leave(clients, caller, row, cancels=cancels))


def wait_for(clients: Clients, caller: Principal, request: Request, row: ClientRunRow, *, cancels: bool) -> Response:
    """Return the values at the end of a client run."""
    pieces = awaited_values(clients, caller, request, row)
    headers = {**UNBUFFERED, **addresses_of(row, "join")}
    on_gone = _leave(clients, caller, row, cancels=cancels)
    return ClientStream(pieces, headers, media_type="application/json", on_gone=on_gone)


def _leave(clients: Clients, caller: Principal, row: ClientRunRow, *, cancels: bool) -> Any:
    return partial(_cancel, clients, clients.service, caller, row) if cancels else None


def _cancel(clients: Clients, service: Service, caller: Principal, row: ClientRunRow) -> None:
    clients.spawn(cancel_when_safe(service, caller, row), f"end of run {row.id}")
