"""Remembered facts of an export come in again."""

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from starlette.status import HTTP_201_CREATED

from api.http.dependencies import ServiceDep, WriterDep
from api.http.requests import Body, Id
from api.memory_imports import ImportedFact, MemoryImports
from drive_server.kernel.http.problem import problem_responses

router = APIRouter(prefix="/memories", tags=["memories"])

MAX_FACTS = 500
OptionalId = Annotated[str | None, Field(max_length=64)]


class FactSourceBody(Body):
    """The origin of an exported fact.

    Its ids are those of items that the import made here; null for a source that is not here.
    """

    kind: Literal["said", "file"]
    thread_id: OptionalId = None
    file_id: OptionalId = None
    name: Annotated[str | None, Field(max_length=1024)] = None
    version: Annotated[int | None, Field(ge=1, lt=1 << 31)] = None


class FactBody(Body):
    """An exported fact, with its id in the export."""

    id: Id
    text: Annotated[str, Field(min_length=1, max_length=500, pattern=r"\S")]
    source: FactSourceBody
    created_at: AwareDatetime
    updated_at: AwareDatetime

    def to_fact(self) -> ImportedFact:
        """Return the fact for the service."""
        return ImportedFact(
            self.id,
            self.text,
            self.source.kind,
            self.created_at,
            self.updated_at,
            name=self.source.name or "",
            version=self.source.version,
            thread_id=self.source.thread_id or "",
            file_id=self.source.file_id or "",
        )


class MemoryImportBody(Body):
    """Facts of the export `export_id`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "export_id": "5d0c3c1e",
                    "items": [
                        {
                            "id": "0b8f2f0e-6c0c-4f0a-9f0b-0f4f6c1f7a10",
                            "text": "My accountant is Li Wei.",
                            "source": {"kind": "said"},
                            "created_at": "2026-11-05T09:00:00Z",
                            "updated_at": "2026-11-05T09:00:00Z",
                        }
                    ],
                }
            ]
        },
    )

    export_id: Id
    items: Annotated[list[FactBody], Field(max_length=MAX_FACTS)]


class TakenMemory(BaseModel):
    """The outcome for one fact. `is_new` is false if you have it already."""

    source_id: str
    is_new: bool


class MemoryImportView(BaseModel):
    """The outcome for each fact; `left` are the ids of those for which there is no room: 500 can be kept."""

    items: list[TakenMemory]
    left: list[str]


@router.post("/import", status_code=HTTP_201_CREATED, responses=problem_responses(403))
async def import_memories(body: MemoryImportBody, caller: WriterDep, service: ServiceDep) -> MemoryImportView:
    """Take in remembered facts of an export; one that you have already stays as it is."""
    imports = MemoryImports(service.graph, service.drive, service.threads, service.clock)
    outcomes = await imports.take(caller, body.export_id, [item.to_fact() for item in body.items])
    taken = [*zip((item.id for item in body.items), outcomes, strict=True)]
    return MemoryImportView(
        items=[TakenMemory(source_id=key, is_new=outcome == "new") for key, outcome in taken if outcome != "no_room"],
        left=[key for key, outcome in taken if outcome == "no_room"],
    )
