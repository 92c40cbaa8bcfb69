"""The lists whose entries had a name of their own: they are `items` in every list of the API now.

The old name stays beside it for one more version, so these answers have their entries twice: 20 hits of a search are
some 15 kB more.
"""

from typing import Any, Final

from pydantic import BaseModel, Field

from drive_server.mcp.results import ChangeResult, HitResult, SearchResult, ShareResult, VersionsResult
from drive_server.models.access import Link, Share
from drive_server.models.base import Page
from drive_server.models.changes import Change
from drive_server.models.contents import Version
from drive_server.models.search import Hit

OLD_NAME: Final[Any] = Field(
    description="The same as `items`, by its name in earlier versions.", json_schema_extra={"deprecated": True}
)


class HitList(BaseModel):
    """Hits, best first. `note` names the files that could not be searched yet, or is empty."""

    items: list[HitResult]
    cursor: str | None
    note: str
    hits: list[HitResult] = OLD_NAME

    @classmethod
    def of(cls, page: Page[Hit], site: str) -> "HitList":
        """Return the page as it is on the wire; `site` is the service's own address."""
        found = SearchResult.of(page, site)
        return cls(items=found.hits, cursor=found.cursor, note=found.note, hits=found.hits)


class VersionList(BaseModel):
    """The contents that a file had, newest first."""

    items: list[Version]
    cursor: str | None
    versions: list[Version] = OLD_NAME

    @classmethod
    def of(cls, page: Page[Version]) -> "VersionList":
        """Return the page as it is on the wire."""
        found = VersionsResult.of(page)
        return cls(items=found.versions, cursor=found.cursor, versions=found.versions)


class DriveChangeList(BaseModel):
    """Recorded changes, newest first."""

    items: list[ChangeResult]
    cursor: str | None
    changes: list[ChangeResult] = OLD_NAME

    @classmethod
    def of(cls, page: Page[Change]) -> "DriveChangeList":
        """Return the page as it is on the wire."""
        found = [ChangeResult.of(change) for change in page.items]
        return cls(items=found, cursor=page.cursor, changes=found)


class ShareList(BaseModel):
    """All who have a role on an item besides its owner: people, then links. `cursor` is null at the end."""

    items: list[ShareResult]
    cursor: str | None
    total: int | None
    shares: list[ShareResult] = OLD_NAME

    @classmethod
    def of(cls, page: Page[Share | Link]) -> "ShareList":
        """Return the page as it is on the wire."""
        found = [ShareResult.of(entry) for entry in page.items]
        return cls(items=found, cursor=page.cursor, total=page.total, shares=found)
