"""The routes below `/assistants`."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from api.drive import Principal
from api.errors import ReadOnlyAssistantsError
from api.http.dependencies import CallerDep, ServiceDep
from api.langgraph.assistants.views import assistant_view, own_id, schemas_view
from api.langgraph.entrance import ClientRouter, Json, answer_json, contains, selected
from api.service import Service

router = ClientRouter("/assistants")

MAX_LEVELS = 3


class AssistantSearch(BaseModel):
    """The body of a search; all fields narrow it."""

    graph_id: str | None = None
    name: str | None = None
    metadata: dict[str, Any] = {}
    limit: int = Field(default=10, ge=1, le=1000)
    offset: int = Field(default=0, ge=0)
    sort_by: str | None = None
    sort_order: str | None = None
    select: list[str] | None = None


@router.post("/search")
async def search_assistants(caller: CallerDep, service: ServiceDep, body: AssistantSearch | None = None) -> Response:
    """List the person's assistants, the built-in one first."""
    wanted = body or AssistantSearch()
    found = await _found(caller, service, wanted)
    page = found[wanted.offset : wanted.offset + wanted.limit]
    return answer_json([selected(view, wanted.select) for view in page], total=len(found))


@router.post("/count")
async def count_assistants(caller: CallerDep, service: ServiceDep, body: AssistantSearch | None = None) -> Response:
    """Return the number of the person's assistants."""
    return answer_json(len(await _found(caller, service, body or AssistantSearch())))


@router.get("/{assistant_id}")
async def get_assistant(assistant_id: str, caller: CallerDep, service: ServiceDep) -> Response:
    """Return an assistant, by its id or the name of the graph."""
    return answer_json(await _view(caller, service, assistant_id))


@router.get("/{assistant_id}/graph")
async def get_assistant_graph(
    assistant_id: str, caller: CallerDep, service: ServiceDep, xray: Annotated[str, Query(max_length=8)] = ""
) -> Response:
    """Return the graph's nodes and edges; all nodes are in the root, so `xray` finds nothing more."""
    del xray
    await _view(caller, service, assistant_id)
    return answer_json((await service.graph.graph.aget_graph()).to_json())


@router.get("/{assistant_id}/schemas")
async def get_assistant_schemas(assistant_id: str, caller: CallerDep, service: ServiceDep) -> Response:
    """Return the schemas of input, state and context."""
    await _view(caller, service, assistant_id)
    return answer_json(schemas_view())


@router.get("/{assistant_id}/subgraphs")
@router.get("/{assistant_id}/subgraphs/{namespace}")
async def get_assistant_subgraphs(
    assistant_id: str, caller: CallerDep, service: ServiceDep, namespace: str = ""
) -> Response:
    """Return the subgraphs: there are none."""
    del namespace
    await _view(caller, service, assistant_id)
    return answer_json({})


@router.post("/{assistant_id}/versions")
async def list_assistant_versions(assistant_id: str, caller: CallerDep, service: ServiceDep) -> Response:
    """Return the one version that each assistant has."""
    return answer_json([await _view(caller, service, assistant_id)])


@router.post("")
async def create_assistant(caller: CallerDep) -> Response:
    """Refuse: assistants are made elsewhere."""
    del caller
    raise ReadOnlyAssistantsError


@router.patch("/{assistant_id}")
@router.delete("/{assistant_id}")
@router.post("/{assistant_id}/latest")
async def change_assistant(assistant_id: str, caller: CallerDep) -> Response:
    """Refuse: assistants are changed elsewhere."""
    del assistant_id, caller
    raise ReadOnlyAssistantsError


async def _view(caller: Principal, service: Service, assistant_id: str) -> Json:
    """Return an assistant of the caller. Raises `NotFoundError`."""
    wanted = own_id(assistant_id)
    for row in await service.assistants.of(caller):
        if row.id == wanted:
            return assistant_view(row)
    await service.assistants.get(caller, wanted)
    raise AssertionError(wanted)


async def _found(caller: Principal, service: Service, wanted: AssistantSearch) -> Sequence[Json]:
    views = [assistant_view(row) for row in await service.assistants.of(caller)]
    named = [view for view in views if wanted.name is None or wanted.name.casefold() in view["name"].casefold()]
    of_graph = [view for view in named if wanted.graph_id in (None, view["graph_id"])]
    return [view for view in of_graph if contains(view["metadata"], wanted.metadata)]
