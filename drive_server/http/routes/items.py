"""Routes for items: look up, list, make folders, rename, move, copy, trash, restore, delete for good."""

from typing import Annotated, Any, Literal

from fastapi import Query, Response, status
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from drive_server.http.access import CallerDep, DriveDep, WriterDep
from drive_server.http.items.routers import DriveRouter
from drive_server.http.items.routes import ItemRoute
from drive_server.http.items.views import (
    ItemPage,
    ItemView,
    page_of,
    page_of_sync,
    reply_item,
    reply_new,
    views_of_sync,
)
from drive_server.http.items.writes import IfMatchDep, reply
from drive_server.kernel.access import Actor
from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.http.problem import problem_responses
from drive_server.kernel.messages import Message
from drive_server.mcp.tools.definition.arguments import MAX_NAME_CHARACTERS
from drive_server.mcp.tools.files import FileTools, is_list, list_place
from drive_server.mcp.tools.trash import TrashTools
from drive_server.models.items import DeletedItems, OnConflict
from drive_server.services.tree.items import MAX_CURSOR_CHARACTERS, MAX_LIMIT
from drive_server.services.tree.nodes import MAX_REF_CHARACTERS

router = DriveRouter(prefix="/items", tags=["drive"], route_class=ItemRoute)

FolderRef = Annotated[
    str, Field(max_length=MAX_REF_CHARACTERS, description="The folder: its id, `root`, or its path from your root.")
]
Name = Annotated[str, Field(max_length=MAX_NAME_CHARACTERS)]
Conflict = Annotated[
    OnConflict,
    Field(
        description="If the name is taken there: `fail` answers 409 with a free name, `rename` takes the next free "
        "one, `replace` moves the item that is there to the trash (a file for a file, a folder for a folder)."
    ),
]
FOLDER_ID = "1c9a1f0b6d3e4a7f8b2c5d6e7f809112"


def _body(*examples: dict[str, Any]) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [*examples]})


class NewItem(BaseModel):
    """A folder to make. With `rename`, the first free of `name`, `name (2)`, `name (3)`, ... is taken."""

    model_config = _body({"kind": "folder", "name": "Reports", "parent_id": "root"})

    kind: Literal["folder"]
    name: Name
    parent_id: FolderRef = "root"
    on_conflict: Literal["fail", "rename"] = "fail"


class ItemChange(BaseModel):
    """Another name, another folder, or both as one change."""

    model_config = _body({"name": "Plan 2027.md"}, {"parent_id": FOLDER_ID, "on_conflict": "rename"})

    name: Name | None = None
    parent_id: FolderRef | None = None
    on_conflict: Conflict = "fail"


class ItemCopy(BaseModel):
    """The place of a copy; without a `name` it has that of the original."""

    model_config = _body({"parent_id": FOLDER_ID, "name": "Plan (draft).md"})

    parent_id: FolderRef
    name: Name | None = None
    on_conflict: Conflict = "fail"


class Restoration(BaseModel):
    """The place where an item comes back: without a `parent_id`, to where it was."""

    model_config = _body({}, {"parent_id": "root", "on_conflict": "rename"})

    parent_id: FolderRef | None = None
    on_conflict: Conflict = "fail"


@router.get("/{item_ref:path}/children", name=FileTools.list_folder.__name__, responses=problem_responses(403, 404))
async def list_children(
    item_ref: str,
    drive: DriveDep,
    caller: CallerDep,
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = 100,
    cursor: Annotated[str | None, Query(max_length=MAX_CURSOR_CHARACTERS)] = None,
    name_starts_with: Annotated[
        str,
        Query(
            max_length=MAX_NAME_CHARACTERS,
            description="Only what has a name that begins so, letter for letter; not for `trash` and `shared`.",
        ),
    ] = "",
) -> ItemPage:
    """List the items directly in a folder; the id `trash` lists the trash, `shared` the items of other people."""

    def page(connection: Connection, actor: Actor) -> ItemPage:
        found = drive.files.list_folder_sync(
            connection, actor, item_ref, limit=limit, cursor=cursor, start=name_starts_with
        )
        return page_of_sync(connection, actor, found)

    if not is_list(item_ref):
        return await caller.read(page)
    actor = await caller.actor()
    return await page_of(drive, actor, await list_place(drive, actor, item_ref, limit, cursor, name_starts_with))


@router.get("/{item_ref:path}", name=FileTools.get_file_info.__name__, responses=problem_responses(403, 404))
async def get_item(item_ref: str, drive: DriveDep, caller: CallerDep) -> ItemView:
    """Look up an item by its id, `root`, or its path with the slashes escaped (`%2FReports%2Fplan.md`)."""

    def view(connection: Connection, actor: Actor) -> ItemView:
        return views_of_sync(connection, actor, [drive.files.get_sync(connection, actor, item_ref)])[0]

    return await caller.read(view)


@router.post(
    "",
    name=FileTools.create_folder.__name__,
    status_code=status.HTTP_201_CREATED,
    responses=problem_responses(403, 404, 409),
)
async def create_item(new: NewItem, drive: DriveDep, actor: WriterDep, response: Response) -> ItemView:
    """Make a folder."""
    outcome = await drive.files.create_folder(actor, new.parent_id, new.name, on_conflict=new.on_conflict)
    return await reply_new(response, drive, actor, outcome)


@router.patch("/{item_ref:path}", name=FileTools.move_item.__name__, responses=problem_responses(403, 404, 409))
async def change_item(
    item_ref: str, change: ItemChange, drive: DriveDep, actor: WriterDep, if_match: IfMatchDep, response: Response
) -> ItemView:
    """Rename an item, or move it, or both as one change. The id stays; a move keeps to the drive of one owner."""
    if change.parent_id is not None:
        outcome = await drive.files.move(
            actor, item_ref, change.parent_id, name=change.name, if_match=if_match, on_conflict=change.on_conflict
        )
    elif change.name is not None:
        outcome = await drive.files.rename(
            actor, item_ref, change.name, if_match=if_match, on_conflict=change.on_conflict
        )
    else:
        raise InvalidInputError(Message.of("no_new_place"))
    return await reply_item(response, drive, actor, outcome)


@router.post(
    "/{item_ref:path}/copy",
    name=FileTools.copy_item.__name__,
    status_code=status.HTTP_201_CREATED,
    responses=problem_responses(403, 404, 409, 507),
)
async def copy_item(
    item_ref: str, copy: ItemCopy, drive: DriveDep, actor: WriterDep, if_match: IfMatchDep, response: Response
) -> ItemView:
    """Copy an item, with all that is in it, into a folder. The copy begins with the content of now as version 1."""
    outcome = await drive.files.copy(
        actor, item_ref, copy.parent_id, copy.name, if_match=if_match, on_conflict=copy.on_conflict
    )
    return await reply_new(response, drive, actor, outcome)


@router.post("/{item_ref:path}/trash", name=TrashTools.trash_item.__name__, responses=problem_responses(403, 404, 409))
async def trash_item(
    item_ref: str, drive: DriveDep, actor: WriterDep, if_match: IfMatchDep, response: Response
) -> ItemView:
    """Move an item, with all that is in it, to the trash. Needs the scope `delete`."""
    return await reply_item(response, drive, actor, await drive.files.trash(actor, item_ref, if_match=if_match))


@router.post(
    "/{item_ref:path}/restore", name=TrashTools.restore_item.__name__, responses=problem_responses(403, 404, 409)
)
async def restore_item(
    item_ref: str,
    drive: DriveDep,
    actor: WriterDep,
    if_match: IfMatchDep,
    response: Response,
    restoration: Restoration | None = None,
) -> ItemView:
    """Bring an item back from the trash, with all that went with it: to where it was, or to another folder."""
    wanted = restoration or Restoration()
    outcome = await drive.files.restore(
        actor, item_ref, to_parent=wanted.parent_id, if_match=if_match, on_conflict=wanted.on_conflict
    )
    return await reply_item(response, drive, actor, outcome)


@router.delete("/{item_ref:path}", name=TrashTools.delete_item.__name__, responses=problem_responses(403, 404, 409))
async def delete_item(
    item_ref: str, drive: DriveDep, actor: WriterDep, if_match: IfMatchDep, response: Response
) -> DeletedItems:
    """Delete an item that is in the trash for good, with all that is in it; nothing brings it back. For its owner."""
    return reply(response, await drive.files.delete_for_good(actor, item_ref, if_match=if_match))
