"""The models that a conversation may have."""

from fastapi import APIRouter

from api.http.dependencies import CallerDep, ServiceDep
from api.http.schemas import ModelList, ModelView
from drive_server.kernel.http.problem import problem_responses

router = APIRouter(prefix="/models", tags=["models"])


@router.get("", responses=problem_responses(403))
async def list_models(caller: CallerDep, service: ServiceDep) -> ModelList:
    """List the models that the operator lets people choose for a conversation (`model` of `POST /api/chat`)."""
    del caller
    return ModelList(items=[ModelView.model_validate(one) for one in service.graph.model_choices()])
