"""The routes of LangGraph's second protocol: commands to a thread, and its events."""

from typing import Annotated, Any, Final

from fastapi import Request
from pydantic import BaseModel, Field, ValidationError
from starlette.responses import Response

from api.drive import Principal
from api.errors import InvalidRequestError, NotFoundError
from api.http.dependencies import CallerDep
from api.langgraph.entrance import ClientRouter, Json, answer_json, as_uuid
from api.langgraph.protocol.encoder import CHANNELS, is_channel, number_of
from api.langgraph.protocol.thread_stream import thread_events
from api.langgraph.runs.answering import EVENT_STREAM, UNBUFFERED
from api.langgraph.runs.bodies import RunBody
from api.langgraph.runs.clients import Clients, ClientsDep
from api.langgraph.streams.response import ClientStream, do_nothing
from api.langgraph.threads.rows import ClientThreads
from api.langgraph.threads.states import newest_values
from drive_server.kernel.errors import DriveError

router = ClientRouter("/threads/{thread_id}")

ROOT: Final[list[str]] = []
CODES: Final = {404: "no_such_run", 403: "permission_denied", 501: "not_supported"}


class ThreadCommand(BaseModel):
    """A command; its parameters depend on the method."""

    id: int | None = None
    method: str = Field(max_length=64)
    params: dict[str, Any] = {}


class EventsQuery(BaseModel):
    """Which events of a thread: of which channels, and behind which number. All are of the root namespace."""

    channels: list[str] = Field(max_length=64)
    namespaces: list[list[str]] | None = Field(default=None, max_length=64)
    since: Annotated[int | None, Field(ge=0, le=2**53)] = None


@router.post("/commands")
async def command_thread(thread_id: str, body: ThreadCommand, caller: CallerDep, clients: ClientsDep) -> Response:
    """Begin a run, or answer a waiting question."""
    try:
        result, meta = await _done(clients, caller, thread_id, body)
    except NotFoundError:
        raise
    except ValidationError as error:
        return answer_json(_refusal(body, "invalid_argument", str(error.errors()[0]["msg"])))
    except DriveError as error:
        return answer_json(_refusal(body, CODES.get(error.status, "invalid_argument"), error.message))
    return answer_json({"type": "success", "id": body.id, "result": result, "meta": meta})


@router.post("/stream/events")
async def stream_thread(
    thread_id: str, body: EventsQuery, caller: CallerDep, clients: ClientsDep, request: Request
) -> Response:
    """Return the events of a thread, also of runs that are still to come."""
    thread, watch = await clients.watched(caller, thread_id)
    if not all(map(is_channel, body.channels)):
        raise InvalidRequestError("unknown_stream_mode", known=", ".join(sorted(CHANNELS)))
    is_root = body.namespaces is None or ROOT in body.namespaces
    pieces = thread_events(
        clients.service, caller, request, thread, watch, body.channels if is_root else (), body.since
    )
    return ClientStream(pieces, UNBUFFERED, media_type=EVENT_STREAM, on_gone=do_nothing, on_end=do_nothing)


async def _done(clients: Clients, caller: Principal, thread_id: str, command: ThreadCommand) -> tuple[Json, Json]:
    """Return the result of a command, and its metadata."""
    params = command.params
    match command.method:
        case "run.start":
            started = {"if_not_exists": "create", **_named(params, "assistant_id", "input", "config", "metadata")}
            chosen = _named(params, "multitask_strategy", "context", "checkpoint")
            return await _begun(clients, caller, as_uuid(thread_id), RunBody.model_validate({**started, **chosen}))
        case "input.respond":
            answer = _named(params, "interrupt_id", "response", "responses")
            wanted = {"resume": answer if answer else None, "goto": params.get("goto")}
            return await _begun(clients, caller, thread_id, RunBody.model_validate({"command": wanted}))
        case "state.get":
            thread = await ClientThreads(clients.service).get(caller, thread_id)
            return {"values": await newest_values(clients.service, caller, thread)}, {}
        case _:
            raise InvalidRequestError("unknown_command", method=command.method)


async def _begun(clients: Clients, caller: Principal, thread_id: str, body: RunBody) -> tuple[Json, Json]:
    """Begin a run; `applied_through_seq` is the number behind which its events come."""
    begun = await clients.begin(caller, thread_id, body)
    row = begun.row
    if row.run_id is None:
        return {"run_id": row.id}, {}
    run = begun.run or await clients.service.runs.get(caller, row.run_id)
    return {"run_id": row.id}, {"applied_through_seq": number_of(run.number, row.first_seq) - 1}


def _named(params: Json, *names: str) -> Json:
    return {name: params[name] for name in names if params.get(name) is not None}


def _refusal(command: ThreadCommand, code: str, message: str) -> Json:
    return {"type": "error", "id": command.id, "error": code, "message": message}
