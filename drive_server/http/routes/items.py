"""Routes for items: look up, list, make folders."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, status
from pydantic import BaseModel, ConfigDict, Field

from drive_server.http.access import ActorDep, DriveDep, WriterDep
from drive_server.mcp.results import ListResult
from drive_server.mcp.tools.arguments import MAX_NAME_CHARACTERS
from drive_server.mcp.tools.files import FileTools, list_place
from drive_server.models import Item
from drive_server.services.tree.items import MAX_CURSOR_CHARACTERS, MAX_LIMIT
from drive_server.services.tree.nodes import MAX_REF_CHARACTERS

router = APIRouter(prefix="/items", tags=["drive"])

CHILDREN = "/children"


class NewItem(BaseModel):
    """A folder to make. With `rename`, the first free of `name`, `name (2)`, `name (3)`, ... is taken."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"kind": "folder", "name": "Reports", "parent_id": "root"}]}
    )

    kind: Literal["folder"]
    name: Annotated[str, Field(max_length=MAX_NAME_CHARACTERS)]
    parent_id: Annotated[str, Field(max_length=MAX_REF_CHARACTERS)] = "root"
    on_conflict: Literal["fail", "rename"] = "fail"


@router.get("/{item_ref:path}/children", name=FileTools.list_folder.__name__, response_model=ListResult | Item)
async def list_children(
    request: Request,
    item_ref: str,
    drive: DriveDep,
    actor: ActorDep,
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = 100,
    cursor: Annotated[str | None, Query(max_length=MAX_CURSOR_CHARACTERS)] = None,
) -> ListResult | Item:
    """List what is directly in a folder; the id `trash` lists the trash, `shared` what other people shared."""
    if not _asks_for_children(request):
        return await drive.files.get(actor, item_ref + CHILDREN)
    return ListResult.of(await list_place(drive, actor, item_ref, limit, cursor))


@router.get("/{item_ref:path}", name=FileTools.get_file_info.__name__)
async def get_item(item_ref: str, drive: DriveDep, actor: ActorDep) -> Item:
    """Look up an item by its id, `root`, or its path with the slashes escaped (`%2FReports%2Fplan.md`)."""
    return await drive.files.get(actor, item_ref)


@router.post("", name=FileTools.create_folder.__name__, status_code=status.HTTP_201_CREATED)
async def create_item(new: NewItem, drive: DriveDep, actor: WriterDep) -> Item:
    """Make a folder."""
    outcome = await drive.files.create_folder(actor, new.parent_id, new.name, on_conflict=new.on_conflict)
    return outcome.value


def _asks_for_children(request: Request) -> bool:
    """Return whether `/children` is not the end of an item's own path, as in `.../items/%2FA%2Fchildren`."""
    sent = request.scope.get("raw_path")
    return sent is None or sent.endswith(CHILDREN.encode())
