"""`GET /api/drive/files/{id}/text`: the text of a file as search and citations read it."""

from drive_server.http.access import ActorDep, DriveDep
from drive_server.http.items.routers import DriveRouter
from drive_server.http.items.routes import ItemRoute
from drive_server.http.items.texts import TEXT_PROBLEMS, PartDep, TextResult, VersionQuery, text_of

router = DriveRouter(prefix="/files", tags=["drive"], route_class=ItemRoute)


@router.get("/{file_ref:path}/text", name="show_text", responses=TEXT_PROBLEMS)
async def show_text(
    file_ref: str, drive: DriveDep, actor: ActorDep, part: PartDep, version: VersionQuery = None
) -> TextResult:
    """Return the text of a file, extracted from documents, tables, slides and pictures, with a passage to mark.

    Offsets count characters as those of citations do. Without `offset` the text begins at the file's beginning, or, for
    a passage further down, before it. 415 for a file without text; earlier versions are for editors.
    """
    shown = await text_of(drive, actor, file_ref, part, version)
    drive.recents.note_read(actor, shown.file_id)
    return shown
