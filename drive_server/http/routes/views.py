"""Routes for lists across folders: the trash, recent files, items that others share, starred items; and the stars."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from drive_server.http.access import ActorDep, DriveDep, WriterDep
from drive_server.http.items.routes import ItemRoute
from drive_server.http.items.views import ItemPage, ItemView, page_of, view_of
from drive_server.http.items.writes import reply
from drive_server.kernel.http.problem import problem_responses
from drive_server.mcp.tools.sharing import SharingTools
from drive_server.mcp.tools.trash import TrashTools
from drive_server.models.items import DeletedItems
from drive_server.services.tree.items import MAX_CURSOR_CHARACTERS, MAX_LIMIT

router = APIRouter(tags=["drive"], route_class=ItemRoute)

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT)]
Cursor = Annotated[str | None, Query(max_length=MAX_CURSOR_CHARACTERS)]


@router.get("/trash", name=TrashTools.list_trash.__name__, responses=problem_responses(403))
async def list_trash(drive: DriveDep, actor: ActorDep, limit: Limit = 100, cursor: Cursor = None) -> ItemPage:
    """List the items that the caller can restore, the last trashed first."""
    return await page_of(drive, actor, await drive.files.list_trash(actor, limit=limit, cursor=cursor))


@router.delete("/trash", name=TrashTools.empty_trash.__name__, responses=problem_responses(403, 409))
async def empty_trash(drive: DriveDep, actor: WriterDep, response: Response) -> DeletedItems:
    """Delete all that is in the caller's own trash for good; nothing brings it back."""
    return reply(response, await drive.files.empty_trash(actor))


@router.get("/recent", name="list_recent", responses=problem_responses(403))
async def list_recent(drive: DriveDep, actor: ActorDep, limit: Limit = 100, cursor: Cursor = None) -> ItemPage:
    """List the files that the caller read, or that were changed, last: 1,000 at most.

    The order is that of the first page. Files that the caller can't see any more are left out, so that a page may be
    shorter than `limit`.
    """
    return await page_of(drive, actor, await drive.recents.page(actor, limit, cursor))


@router.get("/shared", name=SharingTools.list_shared_with_me.__name__, responses=problem_responses(403))
async def list_shared(drive: DriveDep, actor: ActorDep, limit: Limit = 100, cursor: Cursor = None) -> ItemPage:
    """List the items that other people shared with the caller."""
    return await page_of(drive, actor, await drive.sharing.shared_with_me(actor, limit=limit, cursor=cursor))


@router.get("/starred", name="list_starred", responses=problem_responses(403))
async def list_starred(drive: DriveDep, actor: ActorDep, limit: Limit = 100, cursor: Cursor = None) -> ItemPage:
    """List the items that the caller starred and still sees, the last starred first."""
    return await page_of(drive, actor, await drive.stars.page(actor, limit, cursor))


@router.put("/items/{item_ref:path}/star", name="star", responses=problem_responses(403, 404, 409))
async def star(item_ref: str, drive: DriveDep, actor: ActorDep) -> ItemView:
    """Star an item, for the caller alone. Starring it again changes nothing, and no journal records it."""
    return await view_of(drive, actor, await drive.stars.star(actor, item_ref))


@router.delete("/items/{item_ref:path}/star", name="unstar", responses=problem_responses(403, 404))
async def unstar(item_ref: str, drive: DriveDep, actor: ActorDep) -> ItemView:
    """Take the caller's star off an item."""
    return await view_of(drive, actor, await drive.stars.unstar(actor, item_ref))
