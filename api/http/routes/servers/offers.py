"""Offers of MCP servers beside tools: resources and prompts."""

from fastapi import APIRouter

from api.http.dependencies import CallerDep, ServiceDep
from api.http.filtered_route import FilteredRoute
from api.http.server_requests import PromptBody
from api.http.server_schemas import (
    FilledPromptView,
    PromptList,
    ResourceList,
    filled_prompt_view,
    prompt_views,
    resource_views,
)
from drive_server.kernel.http.problem import problem_responses

router = APIRouter(prefix="/mcp-servers", tags=["mcp servers"], route_class=FilteredRoute)


@router.get("/{server_id}/resources", responses=problem_responses(403, 404, 503))
async def list_server_resources(server_id: str, caller: CallerDep, service: ServiceDep) -> ResourceList:
    """List the resources that a server offers."""
    return ResourceList(items=resource_views(await service.offers.resources(caller, server_id)))


@router.get("/{server_id}/prompts", responses=problem_responses(403, 404, 503))
async def list_server_prompts(server_id: str, caller: CallerDep, service: ServiceDep) -> PromptList:
    """List the prompts that a server offers."""
    return PromptList(items=prompt_views(await service.offers.prompts(caller, server_id)))


@router.post("/{server_id}/prompts", responses=problem_responses(403, 404, 503))
async def fill_server_prompt(
    server_id: str, body: PromptBody, caller: CallerDep, service: ServiceDep
) -> FilledPromptView:
    """Return a prompt with its arguments in place. Nothing is sent: show it to the person, who may send its `text`."""
    return filled_prompt_view(await service.offers.fill(caller, server_id, body.name, body.arguments))
