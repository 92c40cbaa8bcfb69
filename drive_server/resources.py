"""Files and folders as MCP resources: `drive://files/{file_id}` and `drive://folders/{folder_id}`."""

from typing import Final
from urllib.parse import unquote, urlsplit

from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.types import ResourceTemplate
from pydantic import BaseModel

from drive_server.access import Actor
from drive_server.drive import Drive
from drive_server.errors import NotFoundError, UnsupportedContentError
from drive_server.media import is_plain_text
from drive_server.tools.results import ItemResult, ListResult

SCHEME: Final = "drive"
FILES: Final = "files"
FOLDERS: Final = "folders"
MOST_CHARACTERS = 200_000
MOST_BLOB_BYTES = 1_000_000
MOST_ITEMS = 1000

TEMPLATES: Final = [
    ResourceTemplate(
        name="file",
        title="A file",
        uriTemplate=f"{SCHEME}://{FILES}/{{file_id}}",
        description=f"The text of a file, up to {MOST_CHARACTERS:,} characters; images and the like as bytes.",
    ),
    ResourceTemplate(
        name="folder",
        title="A folder",
        uriTemplate=f"{SCHEME}://{FOLDERS}/{{folder_id}}",
        description=f"What is directly in a folder, up to {MOST_ITEMS:,} items; `root` is the person's own.",
        mimeType="application/json",
    ),
]


class FolderResource(BaseModel):
    """A folder and what is in it; with more than that, `list_folder` goes on from the listing's cursor."""

    folder: ItemResult
    listing: ListResult


class DriveResources:
    """Reads resources. Raises the drive's errors; a URI of another form is not found like an unknown id."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive

    async def read(self, actor: Actor, uri: str) -> list[ReadResourceContents]:
        """Return the contents of the file or folder."""
        kind, ref = _parsed(uri)
        return await (self._file(actor, ref) if kind == FILES else self._folder(actor, ref))

    async def _folder(self, actor: Actor, ref: str) -> list[ReadResourceContents]:
        folder = await self._drive.files.get(actor, ref)
        page = await self._drive.files.list_folder(actor, folder.id, limit=MOST_ITEMS)
        result = FolderResource(folder=ItemResult.of(folder), listing=ListResult.of(page))
        return [ReadResourceContents(content=result.model_dump_json(), mime_type="application/json")]

    async def _file(self, actor: Actor, ref: str) -> list[ReadResourceContents]:
        try:
            found = await self._drive.documents.read_text(actor, ref, limit=MOST_CHARACTERS)
        except UnsupportedContentError as error:
            return [await self._bytes(actor, ref, error)]
        media_type = found.item.media_type
        text = found.text
        if found.end < found.total_characters:
            text += f"\n[Cut after {found.end:,} of {found.total_characters:,} characters; read_file reads the rest.]"
        return [ReadResourceContents(content=text, mime_type=media_type if is_plain_text(media_type) else "text/plain")]

    async def _bytes(self, actor: Actor, ref: str, no_text: UnsupportedContentError) -> ReadResourceContents:
        content = await self._drive.documents.open_content(actor, ref)
        if content.size > MOST_BLOB_BYTES:
            raise UnsupportedContentError(
                f"The file has no text to read, and its {content.size:,} bytes are too many to send as a resource.",
                hint=f"Download it: GET /api/drive/files/{content.item.id}/content.",
                details={"reason": no_text.message, "size": content.size, "limit": MOST_BLOB_BYTES},
            ) from no_text
        data = b"".join([chunk async for chunk in content.stream()])
        return ReadResourceContents(content=data, mime_type=content.media_type)


def _parsed(uri: str) -> tuple[str, str]:
    parts = urlsplit(uri)
    ref = unquote(parts.path.removeprefix("/"))
    if parts.scheme != SCHEME or parts.netloc not in {FILES, FOLDERS} or not ref or parts.query or parts.fragment:
        raise NotFoundError("There is no such resource.", hint=f"Use {SCHEME}://{FILES}/ID or {SCHEME}://{FOLDERS}/ID.")
    return parts.netloc, ref
