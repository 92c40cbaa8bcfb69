"""Routes for the import of an export: contents first, then the items that have them."""

from typing import Annotated, Final

from fastapi import Header, Path, Request, Response, status
from pydantic import BaseModel, ConfigDict, Field

from drive_server.http.access import ActorDep, DriveDep, WriterDep
from drive_server.http.items.contents import RAW_BODY, body_of
from drive_server.http.items.routers import DriveRouter
from drive_server.http.items.writes import reply
from drive_server.kernel.http.problem import problem_responses
from drive_server.models.items import RestoredItems
from drive_server.services.exports import restoring
from drive_server.services.exports.records import ImportedItem, Sha256, StoredContent
from drive_server.services.tree.nodes import MAX_REF_CHARACTERS

router = DriveRouter(prefix="/imports", tags=["exports"])

MAX_HASHES: Final = 1000
NAMED: Final = "0c1f6d2e8b7a4f3c9d5e6a7b8c9d0e1f"
HASH: Final = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


class WantedContents(BaseModel):
    """The contents of an import, by hash."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"sha256": [HASH]}]})

    sha256: Annotated[list[Sha256], Field(max_length=MAX_HASHES)]


class MissingContents(BaseModel):
    """Those of them that have to be sent."""

    missing: list[str]


class ItemsToImport(BaseModel):
    """Some items of the export `export_id`, for a folder of the caller's own drive."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "export_id": "5d0c3c1e",
                    "into": "root",
                    "items": [
                        {
                            "id": NAMED,
                            "kind": "file",
                            "name": "plan.md",
                            "created_at": "2026-11-05T09:00:00Z",
                            "updated_at": "2026-11-05T09:00:00Z",
                            "versions": [
                                {
                                    "number": 1,
                                    "sha256": HASH,
                                    "size": 4,
                                    "media_type": "text/markdown",
                                    "created_at": "2026-11-05T09:00:00Z",
                                    "receipt": "",
                                }
                            ],
                        }
                    ],
                }
            ]
        },
    )

    export_id: Annotated[str, Field(min_length=1, max_length=64)]
    into: Annotated[str, Field(max_length=MAX_REF_CHARACTERS)] = "root"
    items: Annotated[list[ImportedItem], Field(min_length=1, max_length=restoring.MAX_ITEMS)]


@router.post("/missing", name="missing_contents", responses=problem_responses(403))
async def missing_contents(wanted: WantedContents, drive: DriveDep, actor: ActorDep) -> MissingContents:
    """Say which contents no file in the caller's own drive has: those have to be sent before their items."""
    return MissingContents(missing=await drive.imported_contents.missing(actor, wanted.sha256))


@router.put(
    "/contents/{sha256}",
    name="store_content",
    openapi_extra=RAW_BODY,
    responses=problem_responses(403, 413, 460, 507),
)
async def store_content(
    request: Request,
    sha256: Annotated[str, Path(pattern="^[0-9a-f]{64}$")],
    drive: DriveDep,
    actor: ActorDep,
    content_length: Annotated[int | None, Header(ge=0)] = None,
) -> StoredContent:
    """Store the request's body for the next 45 minutes, until an item has it; 460 if it has another SHA-256.

    The `receipt` proves to `POST /api/drive/imports` that the caller has the content.
    """
    return await drive.imported_contents.store(actor, sha256, body_of(request), content_length or 0)


@router.post(
    "", name=restoring.ACTION, status_code=status.HTTP_201_CREATED, responses=problem_responses(403, 404, 409, 507)
)
async def import_items(wanted: ItemsToImport, drive: DriveDep, actor: WriterDep, response: Response) -> RestoredItems:
    """Restore items with their versions, times, shares, links, stars and place in the trash, as one change.

    An item that this import has made already is left as it is. All are the caller's; links get other addresses, and
    those with a password are left out.
    """
    request = restoring.ImportRequest(wanted.export_id, wanted.into, wanted.items)
    return reply(response, await drive.imports.restore(actor, request))
