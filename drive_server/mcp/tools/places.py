"""Lists that a person looks into like folders: a folder itself, the trash, and what others shared with them."""

from drive_server.access import Actor
from drive_server.drive_services import DriveServices
from drive_server.models import Item, Page

TRASH = "trash"
SHARED = "shared"


async def list_place(drive: DriveServices, actor: Actor, ref: str, limit: int, cursor: str | None) -> Page[Item]:
    """Return a page of what is in the folder that the ref names, of the trash, or of what others shared."""
    if ref == TRASH:
        return await drive.files.list_trash(actor, limit=limit, cursor=cursor)
    if ref == SHARED:
        return await drive.sharing.shared_with_me(actor, limit=limit, cursor=cursor)
    return await drive.files.list_folder(actor, ref, limit=limit, cursor=cursor)
