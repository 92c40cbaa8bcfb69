"""A person's assistants: define and change them, and choose their servers."""

from fastapi import APIRouter
from starlette.status import HTTP_201_CREATED, HTTP_204_NO_CONTENT

from api.http.dependencies import CallerDep, ServiceDep, WriterDep
from api.http.filtered_route import FilteredRoute
from api.http.server_requests import AssistantBody, NewAssistantBody, ServerChoiceBody
from api.http.server_schemas import AssistantList, AssistantView, ServerChoiceView, assistant_view
from api.storage.tables import BUILT_IN
from drive_server.kernel.http.problem import problem_responses

router = APIRouter(prefix="/assistants", tags=["assistants"], route_class=FilteredRoute)


@router.get("", responses=problem_responses(403))
async def list_assistants(caller: CallerDep, service: ServiceDep) -> AssistantList:
    """List your assistants: the built-in `drive_agent`, then your own by name."""
    return AssistantList(items=[assistant_view(row, BUILT_IN) for row in await service.assistants.of(caller)])


@router.post("", status_code=HTTP_201_CREATED, responses=problem_responses(403, 409, 503))
async def create_assistant(body: NewAssistantBody, caller: WriterDep, service: ServiceDep) -> AssistantView:
    """Define an assistant.

    409 `name_conflict`, `limit_reached`; 422 `model_not_allowed`, and for a tool that the drive does not have.
    """
    return assistant_view(await service.assistants.create(caller, body.to_change()), BUILT_IN)


@router.get("/{assistant_id}", responses=problem_responses(403, 404))
async def get_assistant(assistant_id: str, caller: CallerDep, service: ServiceDep) -> AssistantView:
    """Return an assistant."""
    return assistant_view(await service.assistants.get(caller, assistant_id), BUILT_IN)


@router.patch("/{assistant_id}", responses=problem_responses(403, 404, 409, 503))
async def change_assistant(
    assistant_id: str, body: AssistantBody, caller: WriterDep, service: ServiceDep
) -> AssistantView:
    """Change an assistant; fields that are left out stay. The built-in one can only become the default again.

    409 `name_conflict`, `built_in_assistant`; 422 as for a new one.
    """
    return assistant_view(await service.assistants.update(caller, assistant_id, body.to_change()), BUILT_IN)


@router.delete("/{assistant_id}", status_code=HTTP_204_NO_CONTENT, responses=problem_responses(403, 404, 409))
async def delete_assistant(assistant_id: str, caller: WriterDep, service: ServiceDep) -> None:
    """Delete an assistant; its threads go on with the built-in one."""
    await service.assistants.delete(caller, assistant_id)


@router.get("/{assistant_id}/mcp-servers", responses=problem_responses(403, 404))
async def get_chosen_servers(assistant_id: str, caller: CallerDep, service: ServiceDep) -> ServerChoiceView:
    """Return the servers that an assistant uses."""
    return ServerChoiceView(server_ids=await service.assistants.servers(caller, assistant_id))


@router.put("/{assistant_id}/mcp-servers", responses=problem_responses(403, 404))
async def choose_servers(
    assistant_id: str, body: ServerChoiceBody, caller: WriterDep, service: ServiceDep
) -> ServerChoiceView:
    """Let an assistant use these of your servers, and no others; the built-in one may have some too."""
    added = await service.assistants.choose(caller, assistant_id, body.server_ids)
    await service.servers.pin_chosen(caller, added)
    return ServerChoiceView(server_ids=await service.assistants.servers(caller, assistant_id))
