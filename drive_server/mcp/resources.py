"""Files and folders as MCP resources: `drive://files/{file_id}` and `drive://folders/{folder_id}`."""

from base64 import b64encode
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from mcp.types import Annotations, BlobResourceContents, Resource, ResourceTemplate, TextResourceContents
from pydantic import AnyUrl, BaseModel

from drive_server.kernel.access import Actor, Scope, require_person, require_scope
from drive_server.kernel.errors import InvalidInputError, NotFoundError, UnsupportedContentError
from drive_server.kernel.messages import Language
from drive_server.knowledge.media_types import is_plain_text
from drive_server.knowledge.text.omissions import omission_sentence
from drive_server.mcp.icons import DOCUMENT, FOLDER, SEARCH, icon_of_file
from drive_server.mcp.prompt_texts import TEXTS
from drive_server.mcp.results import ListResult
from drive_server.mcp.tools.index import IndexResult
from drive_server.mcp.tools.map_reduce.results import MAX_IN_RESOURCE, StoredBulkResult, result_sought
from drive_server.mcp.tools.map_reduce.results import TEMPLATE as RESULT_TEMPLATE
from drive_server.models.contents import TextRange
from drive_server.models.items import Item
from drive_server.registry import ServiceRegistry
from drive_server.services.text.addresses import FILES, SCHEME, Passage, PassageAddress, parse_passage
from drive_server.services.tree.names import display_name

FOLDERS: Final = "folders"
INDEX_URI: Final = f"{SCHEME}://index"
META_NOTE: Final = "drive-agent/note"
MAX_CHARACTERS = 200_000
AROUND_CHARACTERS = 1_000
MAX_QUOTED = 2_000
MAX_IMAGE_BYTES = 5_000_000
MAX_ITEMS = 1000
JSON_TYPE = "application/json"
NOTE_TYPE = "text/plain"

INDEX: Final = Resource(
    uri=AnyUrl(INDEX_URI),
    name="index",
    title="What can be searched",
    description="How many of the person's files can be searched by their text, and which can't, with the reason.",
    mimeType=JSON_TYPE,
    icons=[SEARCH],
)

Contents = TextResourceContents | BlobResourceContents

TEMPLATES: Final = [
    ResourceTemplate(
        name="file",
        title="A file",
        uriTemplate=f"{SCHEME}://{FILES}/{{file_id}}",
        description=f"The text of a file, up to {MAX_CHARACTERS:,} characters, by its id or path; small pictures as "
        "bytes; for other files how to get them.",
        icons=[DOCUMENT],
    ),
    ResourceTemplate(
        name="folder",
        title="A folder",
        uriTemplate=f"{SCHEME}://{FOLDERS}/{{folder_id}}",
        description=f"What is directly in a folder, up to {MAX_ITEMS:,} items, by its id or path; `root` is the "
        "person's own.",
        mimeType=JSON_TYPE,
        icons=[FOLDER],
    ),
    ResourceTemplate(
        name="passage",
        title="A passage of a file",
        uriTemplate=f"{SCHEME}://{FILES}/{{file_id}}{{?version,start,end}}",
        description="The text around a passage of one version of a file, by offsets in characters as hits and "
        "citations have them; or by a place in the fragment, such as #page=2.",
        mimeType=NOTE_TYPE,
        icons=[DOCUMENT],
    ),
    RESULT_TEMPLATE,
]


class FolderResource(BaseModel):
    """A folder and its items; with more than that, `list_folder` goes on from the listing's cursor."""

    folder: Item
    listing: ListResult


@dataclass(frozen=True, slots=True)
class Attachment:
    """The first part of a file's text, or all of it, as it is given to a model."""

    found: TextRange

    @property
    def item(self) -> Item:
        """The file."""
        return self.found.item

    @property
    def is_exact(self) -> bool:
        """Whether the text is the content of the file itself, and nothing was extracted."""
        return is_plain_text(self.item.media_type)

    def header(self, language: Language = "en") -> str:
        """Return the header: type and size of the file, how its text was got, and which part of it this is."""
        found = self.found
        read = TEXTS.say("exact" if self.is_exact else "extracted", language)
        read += TEXTS.say("recognized", language, pages=found.recognized) if found.recognized else ""
        part = "whole" if found.end == found.total_characters else "cut"
        shown = TEXTS.say(
            "header",
            language,
            type=self.item.media_type,
            size=self.item.size,
            read=read,
            part=TEXTS.say(part, language, end=found.end, total=found.total_characters),
        )
        return " ".join(one for one in (shown, omission_sentence(found.omissions, language)) if one)

    def note(self, language: Language = "en") -> str:
        """Return the note that names the text, and says that it need not be read again."""
        item, is_cut = self.item, self.found.end < self.found.total_characters
        said = TEXTS.say(
            "partly_attached" if is_cut else "attached",
            language,
            path=display_name(item.path),
            id=item.id,
            etag=item.etag,
            end=self.found.end,
            total=self.found.total_characters,
        )
        return f"{self.header(language)}\n{said}"

    def contents(self, uri: AnyUrl, language: Language = "en") -> TextResourceContents:
        """Return the text as the content of the resource, with the note in `_meta`.

        Extracted text begins with the header, for hosts that show a model only this. The text of a file that is text
        itself stays as it is: it may be copied back into a file.
        """
        text, media_type = self.found.text, self.item.media_type
        if not self.is_exact:
            text, media_type = f"[{self.header(language)}]\n\n{text}", NOTE_TYPE
        if self.found.end < self.found.total_characters:
            end, total = self.found.end, self.found.total_characters
            text += f"\n[Cut after {end:,} of {total:,} characters; read_file reads the rest.]"
        return TextResourceContents(uri=uri, text=text, mimeType=media_type, _meta={META_NOTE: self.note(language)})


class DriveResources:
    """Reads and lists resources. Raises the drive's errors; a URI of another form is not found like an unknown id."""

    def __init__(self, drive: ServiceRegistry) -> None:
        self._drive = drive

    @property
    def address(self) -> str:
        """The address of the service now, for the icons; empty if none is known of."""
        return self._drive.known_address

    async def item(self, actor: Actor, uri: str) -> Item:
        """Return the item behind the URI. Raises `InvalidInputError` if it is of the other kind."""
        place, ref = _parsed(uri)
        item = await self._drive.files.get(actor, ref)
        if (place == FILES) != (item.kind == "file"):
            raise InvalidInputError(f"This is a {item.kind}.", hint=f"Its address is {uri_of(item)}.")
        return item

    async def recent(self, actor: Actor, size: int, cursor: str | None) -> tuple[list[Resource], str | None]:
        """Return a page of the items that the caller changed, saw changed or read last, and the cursor of the next."""
        page = await self._drive.recents.page(actor, size, cursor)
        return [_resource(item) for item in page.items], page.cursor

    async def read(self, actor: Actor, uri: str) -> list[Contents]:
        """Return the contents of the file or folder; after a file's text a note for the model that it is attached."""
        if uri == INDEX_URI:
            return [await self._index(actor)]
        if named := result_sought(uri):
            return [await self._result(actor, *named, AnyUrl(uri))]
        if sought := parse_passage(uri):
            return await self._passage(actor, sought, AnyUrl(uri))
        place, ref = _parsed(uri)
        return await (self._file(actor, ref, AnyUrl(uri)) if place == FILES else self._folder(actor, ref, AnyUrl(uri)))

    async def _passage(self, actor: Actor, sought: PassageAddress, uri: AnyUrl) -> list[Contents]:
        """Return the text around a passage of one version, and after it a note where the passage is in it."""
        found = await self._drive.documents.read_text(
            actor, sought.ref, start=sought.start, end=sought.end, version=sought.version, place=sought.place
        )
        around = await self._drive.documents.read_text(
            actor,
            found.item.id,
            start=max(0, found.start - AROUND_CHARACTERS),
            end=found.end + AROUND_CHARACTERS,
            limit=MAX_CHARACTERS,
            version=found.version,
        )
        self._drive.recents.note_read(actor, found.item.id)
        passage = Passage(found.item.id, found.version, found.start, found.end, found.place)
        note = (
            f"{_named(found.item)}, version {found.version} (the newest is {found.item.version}), "
            f"{display_name(found.place) or 'without a named place'}: characters {around.start}-{around.end} of "
            f"{found.total_characters}. The passage is characters {found.start}-{found.end}:\n"
            f"{found.text[:MAX_QUOTED]}"
        )
        return [
            TextResourceContents(uri=uri, text=around.text, mimeType=NOTE_TYPE),
            TextResourceContents(uri=AnyUrl(f"{passage.uri}-note"), text=note, mimeType=NOTE_TYPE),
        ]

    async def attached(self, actor: Actor, ref: str) -> Attachment:
        """Return a file's text for a model. Raises `UnsupportedContentError` for a file without one."""
        found = await self._drive.documents.read_text(actor, ref, limit=MAX_CHARACTERS)
        self._drive.recents.note_read(actor, found.item.id)
        return Attachment(found)

    async def _folder(self, actor: Actor, ref: str, uri: AnyUrl) -> list[Contents]:
        folder = await self._drive.files.get(actor, ref)
        page = await self._drive.files.list_folder(actor, folder.id, limit=MAX_ITEMS)
        result = FolderResource(folder=folder, listing=ListResult.of(page))
        return [TextResourceContents(uri=uri, text=result.model_dump_json(), mimeType=JSON_TYPE)]

    async def _index(self, actor: Actor) -> Contents:
        require_person(actor.principal)
        require_scope(actor.principal, Scope.READ)
        result = IndexResult.of(await self._drive.ingester.status(actor.user_id))
        return TextResourceContents(uri=INDEX.uri, text=result.model_dump_json(), mimeType=JSON_TYPE)

    async def _result(self, actor: Actor, result_id: str, first: int, uri: AnyUrl) -> Contents:
        page = await self._drive.map_reduce_results.page(actor, result_id, first, MAX_IN_RESOURCE)
        return TextResourceContents(uri=uri, text=StoredBulkResult.of(page).model_dump_json(), mimeType=JSON_TYPE)

    async def _file(self, actor: Actor, ref: str, uri: AnyUrl) -> list[Contents]:
        try:
            attached = await self.attached(actor, ref)
        except UnsupportedContentError as error:
            return await self._without_text(actor, ref, uri, error)
        return [attached.contents(uri), _note(attached.item, attached.note())]

    async def _without_text(
        self, actor: Actor, ref: str, uri: AnyUrl, no_text: UnsupportedContentError
    ) -> list[Contents]:
        content = await self._drive.documents.open_content(actor, ref)
        item = content.item
        self._drive.recents.note_read(actor, item.id)
        what = f"{_named(item)} is {content.media_type}, {content.size:,} bytes"
        if content.media_type.startswith("image/") and content.size <= MAX_IMAGE_BYTES:
            data = b"".join([chunk async for chunk in content.stream()])
            picture = BlobResourceContents(uri=uri, blob=b64encode(data).decode(), mimeType=content.media_type)
            return [picture, _note(item, f"{what}; the picture is attached already.")]
        instead = f"{what}, and has no text that could be read here. {no_text.message} Don't read it again"
        if Scope.SHARE in actor.principal.scopes:
            instead += f": to give its bytes to a person or a program, call get_download_url with file_id={item.id}"
        instead += "."
        return [TextResourceContents(uri=uri, text=instead, mimeType=NOTE_TYPE)]


def uri_of(item: Item) -> str:
    """Return the address of the item as a resource."""
    return f"{SCHEME}://{FILES if item.kind == 'file' else FOLDERS}/{quote(item.id, safe='')}"


def _named(item: Item) -> str:
    return f"{display_name(item.path)} (id {item.id})"


def _note(item: Item, text: str) -> TextResourceContents:
    return TextResourceContents(uri=AnyUrl(f"{uri_of(item)}#note"), text=text, mimeType=NOTE_TYPE)


def _resource(item: Item) -> Resource:
    changed = item.modified_at.isoformat(timespec="seconds").replace("+00:00", "Z")
    return Resource(
        uri=AnyUrl(uri_of(item)),
        name=item.name,
        title=display_name(item.name),
        description=display_name(item.path),
        mimeType=item.media_type,
        size=item.size,
        icons=[icon_of_file(item.media_type)],
        annotations=Annotations.model_validate({"lastModified": changed}),
    )


def _parsed(uri: str) -> tuple[str, str]:
    parts = urlsplit(uri)
    ref = unquote(parts.path.removeprefix("/"))
    if parts.scheme != SCHEME or parts.netloc not in {FILES, FOLDERS} or not ref or parts.query or parts.fragment:
        raise NotFoundError("There is no such resource.", hint=f"Use {SCHEME}://{FILES}/ID or {SCHEME}://{FOLDERS}/ID.")
    return parts.netloc, ref
