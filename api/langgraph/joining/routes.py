"""The route that joins a thread: the frames of all its runs, also of those to come."""

from typing import Annotated

from fastapi import Header, Query, Request
from starlette.responses import Response

from api.errors import InvalidRequestError
from api.http.dependencies import CallerDep
from api.langgraph.entrance import ClientRouter
from api.langgraph.joining.thread_frames import THREAD_MODES, read_thread_modes, read_thread_place, thread_frames
from api.langgraph.runs.answering import EVENT_STREAM, UNBUFFERED
from api.langgraph.runs.clients import ClientsDep
from api.langgraph.streams.response import ClientStream, do_nothing

router = ClientRouter("/threads/{thread_id}")


@router.get("/stream")
async def join_thread(
    thread_id: str,
    caller: CallerDep,
    clients: ClientsDep,
    request: Request,
    stream_mode: Annotated[list[str] | None, Query()] = None,
    stream_modes: Annotated[list[str] | None, Query()] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """Return the frames of a thread, those behind `Last-Event-ID` or from now on; the stream stays open."""
    modes = read_thread_modes([*(stream_mode or ()), *(stream_modes or ())])
    if modes is None:
        raise InvalidRequestError("unknown_stream_mode", known=", ".join(sorted(THREAD_MODES)))
    thread, watch = await clients.watched(caller, thread_id)
    pieces = thread_frames(clients, caller, request, thread, watch, modes, read_thread_place(last_event_id))
    return ClientStream(pieces, UNBUFFERED, media_type=EVENT_STREAM, on_gone=do_nothing, on_end=do_nothing)
