"""The facts that the assistant remembers of a person: list, read, change, forget."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.status import HTTP_204_NO_CONTENT

from api.errors import NotFoundError
from api.http.dependencies import CallerDep, ServiceDep, WriterDep
from api.http.filtered_route import FilteredRoute
from api.http.requests import MemoryPatch
from api.http.schemas import MemoryList, MemoryView
from drive_server.kernel.http.problem import problem_responses

router = APIRouter(prefix="/memories", tags=["memories"], route_class=FilteredRoute)


@router.get("", responses=problem_responses(403))
async def list_memories(caller: CallerDep, service: ServiceDep) -> MemoryList:
    """List your remembered facts, the newest first, without those of files in the trash."""
    return MemoryList(items=[_view(fact) for fact in await service.graph.memory.facts(caller)])


@router.get("/{memory_id}", responses=problem_responses(403, 404))
async def get_memory(memory_id: str, caller: CallerDep, service: ServiceDep) -> MemoryView:
    """Return one fact, with its origin."""
    return _found(await service.graph.memory.fact(caller, memory_id))


@router.patch("/{memory_id}", responses=problem_responses(403, 404))
async def edit_memory(memory_id: str, body: MemoryPatch, caller: WriterDep, service: ServiceDep) -> MemoryView:
    """Give a fact another text, of at most 500 characters."""
    return _found(await service.graph.memory.edit(caller, memory_id, body.text))


@router.delete("/{memory_id}", status_code=HTTP_204_NO_CONTENT, responses=problem_responses(403, 404))
async def forget_memory(memory_id: str, caller: WriterDep, service: ServiceDep) -> None:
    """Forget a fact for good."""
    if not await service.graph.memory.forget(caller, memory_id):
        raise _missing()


def _found(fact: Mapping[str, Any] | None) -> MemoryView:
    if fact is None:
        raise _missing()
    return _view(fact)


def _view(fact: Mapping[str, Any]) -> MemoryView:
    return MemoryView.model_validate(fact)


def _missing() -> NotFoundError:
    return NotFoundError("no_memory")
