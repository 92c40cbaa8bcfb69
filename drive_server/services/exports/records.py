"""The items of an export, as they are given out and taken in again."""

from datetime import datetime
from typing import Annotated, Final

from pydantic import AwareDatetime, ConfigDict, Field

from drive_server.models.base import Model
from drive_server.models.items import Kind

MAX_VERSIONS: Final = 10_000
MAX_ACCESS: Final = 10_000
Id = Annotated[str, Field(min_length=1, max_length=64)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Size = Annotated[int, Field(ge=0, lt=1 << 62)]
Number = Annotated[int, Field(ge=1, lt=1 << 31)]
MediaType = Annotated[str, Field(max_length=255)]


class ExportedVersion(Model):
    """A content that a file had, by the SHA-256 of its bytes in hex; `author` is an email."""

    number: int
    sha256: str
    size: int
    media_type: str
    created_at: datetime
    modified_at: datetime
    author: str


class ExportedShare(Model):
    """A role on an item, of a person by email, or of a group by `group:` and its name."""

    email: Annotated[str, Field(max_length=320)]
    role: Annotated[str, Field(max_length=16)]
    created_at: AwareDatetime


class ExportedLink(Model):
    """The terms of a link. Neither its address nor its password is among them."""

    id: Id
    role: Annotated[str, Field(max_length=16)]
    has_password: bool
    expires_at: AwareDatetime | None
    max_downloads: Annotated[int | None, Field(ge=1, le=1_000_000)]
    downloads: Annotated[int, Field(ge=0, lt=1 << 31)]
    created_at: AwareDatetime


class ExportedItem(Model):
    """An item of the caller's own drive, live or in the trash.

    `parent_id` is null for an item directly in the root. `trash_id` is the item that was put into the trash when this
    one went there with it (itself for that item). Versions are the oldest first.
    """

    id: str
    parent_id: str | None
    kind: Kind
    name: str
    created_at: datetime
    updated_at: datetime
    modified_at: datetime
    trash_id: str | None
    trashed_at: datetime | None
    starred_at: datetime | None
    versions: tuple[ExportedVersion, ...]
    shares: tuple[ExportedShare, ...]
    links: tuple[ExportedLink, ...]


class _Given(Model):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ImportedVersion(_Given):
    """A content to restore. `receipt` is the answer to storing it; not needed for a content that the drive has already.

    Exports of earlier versions have no `modified_at`: the content then is of `created_at`.
    """

    number: Number
    sha256: Sha256
    size: Size
    media_type: MediaType
    created_at: AwareDatetime
    modified_at: AwareDatetime | None = None
    receipt: Annotated[str, Field(max_length=256)] = ""


class ImportedItem(_Given):
    """An item to restore. Its ids are those of the export; a folder comes before its items.

    A null `parent_id` stands for the folder of the import. With `trash_id` it comes to the trash, with that item. The
    `modified_at` of a file is that of its newest version.
    """

    id: Id
    parent_id: Annotated[str | None, Field(max_length=64)] = None
    kind: Kind
    name: Annotated[str, Field(max_length=1024)]
    created_at: AwareDatetime
    updated_at: AwareDatetime
    modified_at: AwareDatetime | None = None
    trash_id: Annotated[str | None, Field(max_length=64)] = None
    starred_at: AwareDatetime | None = None
    versions: Annotated[tuple[ImportedVersion, ...], Field(max_length=MAX_VERSIONS)] = ()
    shares: Annotated[tuple[ExportedShare, ...], Field(max_length=MAX_ACCESS)] = ()
    links: Annotated[tuple[ExportedLink, ...], Field(max_length=MAX_ACCESS)] = ()


class StoredContent(Model):
    """A content that was stored for an import, and the `receipt` that proves it for the next 45 minutes."""

    sha256: str
    size: int
    receipt: str
