"""The answers of tools and HTTP routes on the wire. Times are ISO 8601 in UTC, sizes in bytes."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, Self

from pydantic import BaseModel

from drive_server.kernel.access import Principal
from drive_server.knowledge.text.omissions import missing_things, omission_sentence
from drive_server.models.access import Link, Share
from drive_server.models.base import Page
from drive_server.models.changes import Change, RedoResult, UndoResult
from drive_server.models.contents import TextRange, Version
from drive_server.models.items import Item
from drive_server.models.search import Hit
from drive_server.services.identity.profile import name_in
from drive_server.services.text.addresses import Passage
from drive_server.services.tree.grantees import is_group


class Result(BaseModel):
    """An answer on the wire."""

    @classmethod
    def copied(cls, source: object, **given: Any) -> Self:
        """Return the answer with the source's attributes of the same names, but for those that are given."""
        return cls(**{name: getattr(source, name) for name in cls.model_fields if name not in given}, **given)


class ListResult(BaseModel):
    """A page of items. `cursor` is null at the end; `total` counts the whole list where that is known."""

    items: list[Item]
    cursor: str | None
    total: int | None

    @classmethod
    def of(cls, page: Page[Item]) -> "ListResult":
        """Return the page as it is on the wire."""
        return cls(items=list(page.items), cursor=page.cursor, total=page.total)


class MissingResult(BaseModel):
    """The things in a file that could not be read, in a few words of each language, as in "2 pictures without text"."""

    en: str
    zh: str

    @classmethod
    def of(cls, omissions: Mapping[str, int]) -> "MissingResult | None":
        """Return the words for a reader's omissions, None if nothing of the file is lost."""
        en = missing_things(omissions)
        return cls(en=en, zh=missing_things(omissions, "zh")) if en else None


class TextResult(Result):
    """A part of the text of a `version`: characters from `start` to `end` (exclusive), lines counted from 1.

    `place` is where a person would look for it; `uri` and `address` lead there. `truncated` says that
    one answer does not hold the whole part. `note` names the unreadable parts of the file, or is empty;
    `missing` has the things that are lost with it for people, null if none is.
    """

    file: Item
    text: str
    start: int
    end: int
    total_characters: int
    first_line: int
    last_line: int
    total_lines: int
    version: int
    place: str
    uri: str
    address: str
    truncated: bool
    note: str
    missing: MissingResult | None = None

    @classmethod
    def of(cls, found: TextRange, site: str, *, truncated: bool) -> "TextResult":
        """Return the part as it is on the wire; `site` is the service's own address."""
        passage = Passage(found.item.id, found.version, found.start, found.end, found.place)
        return cls.copied(
            found,
            file=found.item,
            uri=passage.uri,
            address=passage.address(site),
            truncated=truncated,
            note=omission_sentence(found.omissions),
            missing=MissingResult.of(found.omissions),
        )


class HitResult(Result):
    """A passage, or a name, that fits a query. Scores order one page.

    A passage stands in `version`; `start` and `end` are offsets for `read_file`, `place` is where a person would look
    for it, as in `page=2-3`, `slide=3`, `sheet=Budget!A2:D15`, `part=4`, `line=10-20`. `uri` (a resource) and `address`
    (a page for people) open the file there. A name has none of these. `note` and `missing` name the unreadable parts of
    the file.
    """

    file: Item
    score: float
    text: str
    start: int
    end: int
    heading: str
    page: int | None
    version: int | None
    place: str
    uri: str
    address: str
    note: str = ""
    missing: MissingResult | None = None

    @classmethod
    def of(cls, hit: Hit, site: str) -> "HitResult":
        """Return the hit as it is on the wire; `site` is the service's own address."""
        passage = Passage(hit.item.id, hit.version, hit.start, hit.end, hit.place) if hit.version else None
        return cls.copied(
            hit,
            file=hit.item,
            version=hit.version or None,
            uri=passage.uri if passage else "",
            address=passage.address(site) if passage else "",
            note=omission_sentence(hit.omissions),
            missing=MissingResult.of(hit.omissions),
        )


class SearchResult(BaseModel):
    """Hits, best first. `note` names the files that could not be searched yet, or is empty."""

    hits: list[HitResult]
    cursor: str | None
    note: str

    @classmethod
    def of(cls, page: Page[Hit], site: str) -> "SearchResult":
        """Return the page as it is on the wire; `site` is the service's own address."""
        return cls(hits=[HitResult.of(hit, site) for hit in page.items], cursor=page.cursor, note=page.note)


class VersionsResult(BaseModel):
    """The contents that a file had, newest first."""

    versions: list[Version]
    cursor: str | None

    @classmethod
    def of(cls, page: Page[Version]) -> "VersionsResult":
        """Return the page as it is on the wire."""
        return cls(versions=list(page.items), cursor=page.cursor)


class ShareResult(Result):
    """A role of a person, or of anyone with a link, on an item; `inherited_from` is the folder above it comes from.

    People and groups have an `email`. `has_account` is said when a person is given a role: false if nobody has the
    email yet, so that nobody was told and the role waits. All after it is about links. `url` is a link's address, for
    the owner.
    """

    id: str
    kind: Literal["person", "group", "link"]
    item_id: str
    email: str | None
    role: str
    created_at: datetime
    created_by: str
    inherited_from: str | None
    has_account: bool | None
    url: str | None
    has_password: bool | None
    expires_at: datetime | None
    max_downloads: int | None
    downloads: int | None

    @classmethod
    def of(cls, entry: Share | Link) -> "ShareResult":
        """Return the share or link as it is on the wire."""
        if isinstance(entry, Link):
            return cls.copied(entry, kind="link", email=None, has_account=None)
        of_links = dict.fromkeys(("url", "has_password", "expires_at", "max_downloads", "downloads"))
        return cls.copied(entry, kind="group" if is_group(entry.email) else "person", **of_links)


class SharesResult(BaseModel):
    """All who have a role on an item besides its owner: people, then links. `cursor` is null at the end."""

    shares: list[ShareResult]
    cursor: str | None
    total: int | None

    @classmethod
    def of(cls, page: Page[Share | Link]) -> "SharesResult":
        """Return the page as it is on the wire."""
        return cls(shares=[ShareResult.of(entry) for entry in page.items], cursor=page.cursor, total=page.total)


class MessageResult(BaseModel):
    """A sentence as a code with its parameters, and in Chinese; the field that it belongs to has it in English."""

    code: str
    params: dict[str, Any]
    zh: str


class ChangeResult(Result):
    """A recorded call: who made it with which tool, who approved it, and whether it was undone.

    `method` and `key_name` say how the caller signed in, `approved_key` the key that approved; `tool_call_id`,
    `approval_id` and `grant_id` are the call of a model and the consent to it. All are null where that is not the
    reader's business.
    """

    id: int
    at: datetime
    user: str
    tool: str
    run_id: str | None
    action: str
    summary: str
    messages: dict[str, MessageResult] = {}
    item_id: str | None
    approved_by: str | None
    approved_key: str | None
    undoes: int | None
    undone_by: int | None
    method: str | None
    key_name: str | None
    tool_call_id: str | None
    approval_id: str | None
    grant_id: str | None

    @classmethod
    def of(cls, change: Change) -> "ChangeResult":
        """Return the change as it is on the wire: without the rows it touched."""
        return cls.copied(change, user=change.user_email)


class ChangesResult(BaseModel):
    """Recorded changes, newest first."""

    changes: list[ChangeResult]
    cursor: str | None

    @classmethod
    def of(cls, page: Page[Change]) -> "ChangesResult":
        """Return the page as it is on the wire."""
        return cls(changes=[ChangeResult.of(change) for change in page.items], cursor=page.cursor)


class UndoResultModel(Result):
    """The changes taken back, and those left with the reason (`change_id`, `item_id`, `summary`, `reason`)."""

    undone: list[ChangeResult]
    skipped: list[dict[str, Any]]
    change_id: int | None
    preview: bool

    @classmethod
    def of(cls, result: UndoResult) -> "UndoResultModel":
        """Return the result as it is on the wire."""
        return cls.copied(result, undone=[ChangeResult.of(change) for change in result.undone])


class RedoResultModel(Result):
    """The changes done again, and those left with the reason (`change_id`, `item_id`, `summary`, `reason`)."""

    redone: list[ChangeResult]
    skipped: list[dict[str, Any]]
    change_id: int | None
    preview: bool

    @classmethod
    def of(cls, result: RedoResult) -> "RedoResultModel":
        """Return the result as it is on the wire."""
        return cls.copied(result, redone=[ChangeResult.of(change) for change in result.redone])


class WhoamiResult(Result):
    """The caller, the scopes of the key in use, and the bytes in use; a quota of 0 is no limit.

    `name` is their own, or taken from their address, `today` and `time` are local to `time_zone` (an IANA name; empty:
    the server's), `languages` are those of the newest files' names. `authenticated_at` (ISO 8601, UTC): when they last
    proved who they are, which a key does with each call.

    `index` counts the person's files by how far they can be searched: pending, indexing, indexed, skipped, failed.
    """

    email: str
    scopes: list[Literal["read", "write", "share", "delete", "purge"]]
    name: str
    method: str
    key_name: str | None
    authenticated_at: str
    today: str
    time: str
    time_zone: str
    languages: list[str]
    used_bytes: int
    quota_bytes: int
    index: dict[str, int]

    @classmethod
    def of(cls, principal: Principal, now: datetime, time_zone: str, **others: Any) -> "WhoamiResult":
        """Return the principal as it is on the wire; `now` is their local time, `others` are further fields."""
        proved = (principal.proved_at or now).astimezone(UTC)
        local = {"today": f"{now:%Y-%m-%d (%A)}", "time": f"{now:%H:%M:%S%z}", "time_zone": time_zone}
        return cls.copied(
            principal,
            scopes=sorted(principal.scopes),
            name=principal.name or name_in(principal.email),
            authenticated_at=f"{proved:%Y-%m-%dT%H:%M:%SZ}",
            **local,
            **others,
        )
