"""The models that clients choose from: each assistant of the person, and its language model without tools."""

from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter

from api.drive import Principal
from api.errors import NotFoundError
from api.http.dependencies import CallerDep, ServiceDep
from api.openai.errors import OpenAIRoute
from api.servers.assistants import built_in
from api.service import Service
from api.storage.tables import BUILT_IN, AssistantRow

router = APIRouter(prefix="/models", tags=["openai"], route_class=OpenAIRoute, include_in_schema=False)

TEXT: Final = ":text"
OWNER: Final = "drive-agent"
_LONG_AGO: Final = 1_767_225_600
"""Since when the built-in assistant counts as there, in Unix seconds."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The meaning of a model's name for a client: an assistant, or its language model alone."""

    name: str
    assistant: AssistantRow
    is_text: bool


@router.get("")
async def list_models(caller: CallerDep, service: ServiceDep) -> dict[str, Any]:
    """List the assistants of the caller, each with its model without tools."""
    rows = await service.assistants.of(caller)
    data = [_model(row, suffix) for row in rows for suffix in ("", TEXT)]
    return {"object": "list", "data": data}


@router.get("/{model:path}")
async def get_model(model: str, caller: CallerDep, service: ServiceDep) -> dict[str, Any]:
    """Return one of them, by its name or the assistant's id."""
    choice = await find_model(service, caller, model)
    return {**_model(choice.assistant, TEXT if choice.is_text else ""), "id": model}


async def find_model(service: Service, caller: Principal, name: str) -> Choice:
    """Return the caller's choice by the name of a model. Raises `NotFoundError`."""
    if name == BUILT_IN:
        return Choice(name, built_in(caller.user_id), is_text=False)
    rows = await service.assistants.of(caller)
    for wanted, is_text in ((name, False), (name.removesuffix(TEXT), True)):
        found = next((row for row in rows if wanted in {row.name, row.id}), None)
        if found is not None:
            return Choice(name, found, is_text)
    raise NotFoundError("no_model", model=name)


def _model(row: AssistantRow, suffix: str) -> dict[str, Any]:
    created = int(row.created_at.timestamp()) if row.id != BUILT_IN else _LONG_AGO
    return {"id": f"{row.name}{suffix}", "object": "model", "created": created, "owned_by": OWNER}
