"""What you asked the assistant to remember: list it, change it, have it forgotten."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.status import HTTP_204_NO_CONTENT

from api.drive import Principal
from api.errors import MissingScopeError, NotFoundError
from api.http.deps import CallerDep, ServiceDep
from api.http.problems import problem_responses
from api.http.schemas import MemoryList, MemoryPatch, MemoryView

router = APIRouter(prefix="/memories", tags=["memories"])


@router.get("", responses=problem_responses())
async def list_memories(caller: CallerDep, service: ServiceDep) -> MemoryList:
    """List what is remembered of you, the newest first; without what is from files that are in the trash."""
    return MemoryList(items=[_view(fact) for fact in await service.graph.memory.facts(caller)])


@router.get("/{memory_id}", responses=problem_responses(404))
async def get_memory(memory_id: str, caller: CallerDep, service: ServiceDep) -> MemoryView:
    """Return one fact, with where it is from."""
    return _found(await service.graph.memory.fact(caller, memory_id))


@router.patch("/{memory_id}", responses=problem_responses(403, 404))
async def edit_memory(memory_id: str, body: MemoryPatch, caller: CallerDep, service: ServiceDep) -> MemoryView:
    """Give a fact another text, of at most 500 characters."""
    _require_write(caller)
    return _found(await service.graph.memory.edit(caller, memory_id, body.text))


@router.delete("/{memory_id}", status_code=HTTP_204_NO_CONTENT, responses=problem_responses(403, 404))
async def forget_memory(memory_id: str, caller: CallerDep, service: ServiceDep) -> None:
    """Forget a fact for good."""
    _require_write(caller)
    if not await service.graph.memory.forget(caller, memory_id):
        raise _missing()


def _found(fact: Mapping[str, Any] | None) -> MemoryView:
    if fact is None:
        raise _missing()
    return _view(fact)


def _view(fact: Mapping[str, Any]) -> MemoryView:
    return MemoryView.model_validate(fact)


def _missing() -> NotFoundError:
    return NotFoundError("There is no such memory.", hint="List what is remembered, and use an id from there.")


def _require_write(caller: Principal) -> None:
    if "write" not in caller.scopes:
        raise MissingScopeError("write")
