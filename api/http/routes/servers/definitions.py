"""A person's MCP servers: define, test, change, import and watch them."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.status import HTTP_201_CREATED, HTTP_204_NO_CONTENT

from api.authority import require_scopes
from api.drive import Principal
from api.errors import ApiError, InvalidRequestError
from api.events.frames import Frame, encode
from api.http.dependencies import CallerDep, ServiceDep, WriterDep, is_still_caller
from api.http.filtered_route import FilteredRoute
from api.http.server_requests import ImportBody, NewServerBody, ServerBody, ToolsBody
from api.http.server_schemas import (
    ConnectionView,
    ImportedView,
    ImportView,
    ServerList,
    ServerStatusEvent,
    ServerView,
    ToolList,
    connection_view,
    server_view,
    tool_list,
)
from api.http.sse import EventStream
from api.servers.importing import ForeignServer, read_servers
from api.service import Service
from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.http.event_streams import OpenStreams, stream_responses
from drive_server.kernel.http.languages import language_of
from drive_server.kernel.http.problem import problem_responses
from graph.language import Language
from graph.links.text_fields import Clean
from graph.servers.status import ServerStatus

router = APIRouter(prefix="/mcp-servers", tags=["mcp servers"], route_class=FilteredRoute)

APPROVING = ("delete",)
"""The scope that approves a call of unknown risk, which every call to an outside server is."""
DEFINING = frozenset({"type", "base_url", "headers", "command", "args", "env", "auto_approve_tools", "allows"})
"""The fields that decide the program, the address and the calls without approval: a fresh proof is asked for them."""
STATUS_EXAMPLE = (
    'id: 1\nevent: server_status\ndata: {"type":"server_status","server_id":"5f0c...","status":"connected",'
    '"sentence":null}\n\n: heartbeat\n\n'
)
STREAM: Final = stream_responses(ServerStatusEvent, STATUS_EXAMPLE)


@router.get("", responses=problem_responses(403))
async def list_servers(request: Request, caller: CallerDep, service: ServiceDep) -> ServerList:
    """List your MCP servers by name, with the state of their connections."""
    rows = await service.servers.of(caller)
    return ServerList(items=[server_view(row, service.servers, language_of(request)) for row in rows])


@router.post("", status_code=HTTP_201_CREATED, responses=problem_responses(403, 409))
async def create_server(body: NewServerBody, request: Request, caller: WriterDep, service: ServiceDep) -> ServerView:
    """Define an MCP server. No assistant uses it before you choose it for one.

    409 `name_conflict`, `limit_reached`. `auto_approve_tools` needs the scope delete, as an approval of them does.
    403 `fresh_proof_needed` for a browser that was logged in too long ago: see `POST /api/auth/proof`.
    """
    _require_approver(caller, body)
    service.drive.require_fresh(caller)
    row = await service.servers.create(caller, body.to_change())
    return server_view(row, service.servers, language_of(request))


@router.post("/import", responses=problem_responses(403))
async def import_servers(body: ImportBody, request: Request, caller: WriterDep, service: ServiceDep) -> ImportView:
    """Take over the servers of another program: `mcpServers` of Claude Desktop and Cursor, `servers` of VS Code.

    One that can't be taken over is named with its problem; the others are defined. 403 as for a new one.
    """
    service.drive.require_fresh(caller)
    language = language_of(request)
    return ImportView(items=[await _import(one, caller, service, language) for one in read_servers(body.document())])


@router.get("/events", response_class=EventStream, status_code=200, responses=STREAM | problem_responses(403))
async def follow_servers(request: Request, caller: CallerDep, service: ServiceDep) -> EventStream:
    """Send the state of each of your servers as the event `server_status`, then each change.

    `data` has `server_id`, `status` (`disconnected`, `connecting`, `connected`, `error`) and `sentence`, the reason for
    an error. The stream ends when the caller's key does.
    """
    return EventStream(_frames(request, caller, service, language_of(request)))


@router.get("/{server_id}", responses=problem_responses(403, 404))
async def get_server(server_id: str, request: Request, caller: CallerDep, service: ServiceDep) -> ServerView:
    """Return a server."""
    return server_view(await service.servers.get(caller, server_id), service.servers, language_of(request))


@router.put("/{server_id}", responses=problem_responses(403, 404, 409))
async def change_server(
    server_id: str, body: ServerBody, request: Request, caller: WriterDep, service: ServiceDep
) -> ServerView:
    """Change a server; fields that are left out stay. Its connection is closed.

    If it leads to another address, or runs another program or other arguments, its tools count as new, and none is
    approved in advance. But for another path of the same origin, the values of `headers` and `env` that are not sent
    again are not set any more. 403 as for a new one, unless only its name, its timeout or its use change.
    """
    _require_approver(caller, body)
    if DEFINING & body.model_fields_set:
        service.drive.require_fresh(caller)
    row = await service.servers.update(caller, server_id, body.to_change())
    return server_view(row, service.servers, language_of(request))


@router.delete("/{server_id}", status_code=HTTP_204_NO_CONTENT, responses=problem_responses(403, 404))
async def delete_server(server_id: str, caller: WriterDep, service: ServiceDep) -> None:
    """Delete a server, and take it from the assistants that use it."""
    await service.servers.delete(caller, server_id)


@router.post("/{server_id}/connect", responses=problem_responses(403, 404))
async def connect_server(server_id: str, request: Request, caller: WriterDep, service: ServiceDep) -> ConnectionView:
    """Test a server: connect to it now, within 30 seconds, and return its details, or the reason why it can't be used.

    By this you have seen its tools: a definition that changes later is disabled until you accept it.
    """
    return connection_view(await service.servers.connect(caller, server_id), language_of(request))


@router.get("/{server_id}/tools", responses=problem_responses(403, 404))
async def list_server_tools(server_id: str, request: Request, caller: CallerDep, service: ServiceDep) -> ToolList:
    """List the tools of a server, with the changes since you saw them."""
    listed = await service.servers.tools(caller, server_id)
    return tool_list(listed, service.servers, language_of(request))


@router.put("/{server_id}/tools", responses=problem_responses(403, 404, 409, 503))
async def change_server_tools(
    server_id: str, body: ToolsBody, request: Request, caller: WriterDep, service: ServiceDep
) -> ToolList:
    """Enable tools or disable them, approve calls of them in advance, or accept their changed definitions.

    All or none of the decisions count. 409 `tool_changed` for a hash that is not the tool's any more. To approve in
    advance needs the scope delete, as an approval does, and a fresh proof (403 `fresh_proof_needed`), as it lasts.
    """
    if any(tool.is_auto_approve for tool in body.tools):
        require_scopes(caller, APPROVING)
        service.drive.require_fresh(caller)
    listed = await service.servers.update_tools(caller, server_id, body.to_changes())
    return tool_list(listed, service.servers, language_of(request))


def _require_approver(caller: Principal, body: ServerBody) -> None:
    if body.auto_approve_tools:
        require_scopes(caller, APPROVING)


async def _import(found: ForeignServer, caller: Principal, service: Service, language: Language) -> ImportedView:
    try:
        row = await service.servers.create(caller, _body_of(found).to_change())
    except (ApiError, InvalidInputError) as error:
        return ImportedView(name=found.name, problem=error.texts(language)[0])
    return ImportedView(name=row.name, id=row.id, missing=list(found.missing))


def _body_of(found: ForeignServer) -> NewServerBody:
    try:
        return NewServerBody.model_validate(found.fields)
    except ValidationError as error:
        # Without the cause, which quotes values.
        places = dict.fromkeys(str(one["loc"][0]) for one in error.errors(include_input=False) if one["loc"])
        raise InvalidRequestError("unusable_server", said={"fields": ", ".join(places)}) from None


async def _frames(
    request: Request, caller: Principal, service: Service, language: Language
) -> AsyncGenerator[list[Frame]]:
    number = 0
    streams: OpenStreams = request.app.state.open_streams
    watch = service.servers.watch(caller, service.heartbeat_seconds)
    with streams.opened(request, caller.user_id) as stream:
        async with aclosing(watch) as changes:
            while stream.is_open:
                changed = None
                with stream.waiting():
                    changed = await anext(changes, None)
                if changed is None or (changed and not await is_still_caller(request, service)):
                    return
                clean = service.graph.link_filter().clean
                yield [_frame(number + place, *one, language, clean) for place, one in enumerate(changed.items(), 1)]
                number += len(changed)


def _frame(number: int, server_id: str, status: ServerStatus, language: Language, clean: Clean) -> Frame:
    sentence = status.sentence_in(language)
    event = ServerStatusEvent(
        server_id=server_id, status=status.status, sentence=clean(sentence) if sentence else None
    ).model_dump()
    return Frame(number, event["type"], encode(event))
