"""Results of the services: plain values, without database session or protocol. A `Model` is on the wire as it is."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from drive_server.messages import Message, translations

T = TypeVar("T")

Kind = Literal["file", "folder"]
OnConflict = Literal["fail", "rename", "replace"]
"""The action if the name is taken: refuse, take the next free name, or replace the item that is there."""
IndexState = Literal["pending", "indexing", "ready", "unsupported", "needs_password", "needs_ocr", "failed"]


class Model(BaseModel):
    """A value that tools and routes answer with. Times are ISO 8601 in UTC there, sizes in bytes."""

    model_config = ConfigDict(frozen=True)


class Item(Model):
    """A file or folder as the caller sees it; `role` is the caller's, `owner` an email."""

    # `path` starts with `/` at the root that the caller sees; `etag` changes with every change of the item itself;
    # `version` counts contents from 1. It and `size` are 0 for folders.

    id: str
    kind: Kind
    name: str
    path: str
    parent_id: str | None
    # The journal's earlier results have the other name.
    owner: Annotated[str, Field(validation_alias=AliasChoices("owner", "owner_email"))]
    role: str
    etag: str
    size: int
    media_type: str
    version: int
    created_at: datetime
    updated_at: datetime
    trashed_at: datetime | None
    child_count: int | None
    index_state: IndexState | None
    shared: bool


class TreeNode(Model):
    """An item with what is below it; `truncated` says that not all of its children are listed."""

    item: Item
    children: tuple["TreeNode", ...]
    truncated: bool


class MovedItems(Model):
    """The items of a move, as they are now; `unchanged` of them were in the folder already."""

    folder: Item
    items: tuple[Item, ...]
    unchanged: int


class RearrangedItem(Model):
    """An item that got another name or folder; `was` is its path before."""

    id: str
    name: str
    path: str
    was: str


class Rearranged(Model):
    """All items of a change of many, in their order; `changed` of them were not so before. `folders` are new ones."""

    items: tuple[RearrangedItem, ...]
    changed: int
    folders: tuple[str, ...] = ()
    preview: bool = False


class DeletedItems(Model):
    """The items that were deleted for good: how many in all, and the named or trashed ones as they were."""

    count: int
    items: tuple[Item, ...]


class RestoredItem(Model):
    """An item of an import: its id in the export, and its id and name here. `is_new`: this import made it."""

    source_id: str
    id: str
    name: str
    is_new: bool


class RestoredItems(Model):
    """The items of an import in their order, and what of them was not restored: `source_id`, `what`, `reason`.

    `what` is the email of a share, or `link`.
    """

    items: tuple[RestoredItem, ...]
    left: tuple[dict[str, Any], ...] = ()


class BulkEntry(Model):
    """The outcome for one item of many: the item as it is now, or was if it was deleted; or the `problem`.

    `ref` is how the request named it. The problem is an error's `code`, `status`, sentence and hint in both languages.
    """

    ref: str
    item: Item | None = None
    problem: dict[str, Any] | None = None


class BulkOutcome(Model):
    """The outcomes for many items, in the order in which they were named; `changed` of them have no problem."""

    results: tuple[BulkEntry, ...]
    changed: int


class Version(Model):
    """A content that a file had; `run_id` names the assistant's run that wrote it."""

    number: int
    size: int
    media_type: str
    created_at: datetime
    author: str
    run_id: str | None
    current: bool


@dataclass(frozen=True, slots=True)
class TextRange:
    """A part of the text of a version. Offsets count characters from 0, lines from 1; `end` is exclusive for offsets.

    `place` is where a person would look for it, as in `page=2-3`.
    """

    item: Item
    text: str
    start: int
    end: int
    total_characters: int
    first_line: int
    last_line: int
    total_lines: int
    version: int
    place: str


@dataclass(frozen=True, slots=True)
class Share:
    """A role given to a person on an item. `inherited_from` is the path of the folder above that carries it, if so."""

    id: str
    item_id: str
    email: str
    role: str
    created_at: datetime
    created_by: str
    inherited_from: str | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """Access to an item, with a role, for whoever has the link's address.

    `url` is that address; only the owner sees it, and it is never recorded. `downloads` counts up to `max_downloads`
    (None: no limit). `inherited_from` is the path of the folder above that the link leads to, if so.
    """

    id: str
    item_id: str
    role: str
    has_password: bool
    expires_at: datetime | None
    max_downloads: int | None
    downloads: int
    created_at: datetime
    created_by: str
    inherited_from: str | None = None
    url: str | None = None


class DownloadUrl(Model):
    """An address from which the bytes of one file can be fetched without a key, until `expires_at`."""

    file: Item
    version: int
    url: str
    expires_at: datetime


class VersionDiff(Model):
    """The unified diff between two versions of a file; `truncated` says that it is the beginning of a longer one."""

    file: Item
    from_version: int
    to_version: int
    diff: str
    truncated: bool


class ChangedPlace(Model):
    """A difference of two files, placed in each as a person finds it (`page=2`, `sheet=Budget!A2:D15`, `line=4`).

    Empty where that file has nothing of it.
    """

    place: str
    other_place: str


class FileDiff(Model):
    """The unified diff between the texts of two files; `truncated` says that it is the beginning of a longer one.

    `changes` counts those in `diff`, `places` has the first 50 of them.
    """

    file: Item
    version: int
    other: Item
    other_version: int
    diff: str
    truncated: bool
    places: tuple[ChangedPlace, ...]
    changes: int


class ApiKey(Model):
    """An API key without its secret."""

    id: str
    name: str
    prefix: str
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class User:
    """A person who has a drive here. Nobody acts as them since `disabled_at`; the rest is what they say themselves."""

    id: str
    email: str
    root_id: str
    is_admin: bool
    created_at: datetime
    disabled_at: datetime | None = None
    name: str = ""
    time_zone: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Touch:
    """An item that a call changes, and where it is: `inside` the folders of these ids afterwards, the nearest first.

    `was_inside` is the same before the call, None if it is new or was where the caller does not see. `was_named` is its
    name before the call, None if it is new or has the name that it had. `items` counts what is below it too. `mine`: it
    belongs to the caller. `others`: somebody else sees it where it is afterwards; `gains`: somebody may who did not
    before.
    """

    id: str
    name: str
    path: str
    items: int
    mine: bool
    inside: tuple[str, ...]
    was_inside: tuple[str, ...] | None
    others: bool
    gains: bool
    was_named: str | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a call, computed by doing it and rolling it back.

    `message` is one sentence; `items` name at most 100 of the `count` items that change; `diff` is a unified diff for
    text; `gains_access` / `loses_access` are emails, or messages for whoever has a link; `etag` is the item's before
    the call. `touches` says where all of the changed items are, for who has to judge that; None if that is unknown.
    `left` is what an undo would leave as it is (at most 20), with `summary` and `reason`.
    """

    message: Message | None = None
    count: int = 0
    items: tuple[dict[str, Any], ...] = ()
    diff: str | None = None
    gains_access: tuple[str | Message, ...] = ()
    loses_access: tuple[str | Message, ...] = ()
    reversible: bool = True
    etag: str | None = None
    touches: tuple[Touch, ...] | None = None
    left: tuple[dict[str, Any], ...] = ()

    @property
    def summary(self) -> str:
        """The sentence in English."""
        return self.message.en if self.message else ""

    @property
    def reaches_others(self) -> bool:
        """Say whether somebody besides the caller sees what changes, or comes to see it; also where that is unknown."""
        if self.touches is None or self.gains_access:
            return True
        return any(touch.others or touch.gains or not touch.mine for touch in self.touches)


@dataclass(frozen=True, slots=True)
class Change:
    """One recorded call. `entries` hold what each touched row was before and is after.

    `summary` is a sentence in English, `message` the same in every language; old changes have none.

    `tool_call_id` is the model's call in the run, `approval_id` or `grant_id` what allowed it: all for the caller only.
    `method` and `key_name` say how the caller proved who they are, `approved_key` with which key somebody agreed; only
    they and administrators see these.
    """

    id: int
    at: datetime
    user_email: str
    tool: str
    run_id: str | None
    action: str
    summary: str
    item_id: str | None
    entries: tuple[dict[str, Any], ...]
    approved_by: str | None
    undoes: int | None
    undone_by: int | None
    method: str | None = None
    key_name: str | None = None
    approved_key: str | None = None
    tool_call_id: str | None = None
    approval_id: str | None = None
    grant_id: str | None = None
    message: Message | None = None

    @property
    def messages(self) -> dict[str, Any]:
        """The summary in other languages than English, as `translations` has it."""
        return translations({"summary": self.message})


@dataclass(frozen=True, slots=True)
class UndoResult:
    """The changes that an undo took back, and the entries that it left, each with the reason."""

    undone: tuple[Change, ...]
    skipped: tuple[dict[str, Any], ...]
    change_id: int | None
    preview: bool


@dataclass(frozen=True, slots=True)
class RedoResult:
    """The changes that a redo did again, and the entries that it left, each with the reason."""

    redone: tuple[Change, ...]
    skipped: tuple[dict[str, Any], ...]
    change_id: int | None
    preview: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage (or a name) that matches a query. `score` is comparable within one answer only, higher is better.

    `start` and `end` are character offsets into the text of this `version` as `read_file` counts them; `place` is where
    a person would look for the passage, as in `slide=3`. A name has neither.
    """

    item: Item
    score: float
    text: str
    start: int = 0
    end: int = 0
    heading: str = ""
    page: int | None = None
    version: int = 0
    place: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """A quotation with the file that it is said to be from: a version of it, the newest if None, and maybe a place."""

    file: str
    quote: str
    version: int | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class CheckedCitation:
    """The check of a quotation in a version: whether it stands there, and its offsets, place and headings as in hits.

    `reason` is empty if it stands, `absent` if it does not, else the code of the error that kept it from being checked;
    then there is no `item`. `at_place` says whether it stands where it was said to; None if that was not said.
    """

    citation: Citation
    reason: str
    item: Item | None = None
    version: int = 0
    start: int = 0
    end: int = 0
    place: str = ""
    heading: str = ""
    at_place: bool | None = None

    @property
    def stands(self) -> bool:
        """Return whether the quotation stands in that version."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list. `cursor` is opaque and None at the end; `total` counts all where that is cheap.

    `note` is a sentence about what the list may lack, or empty.
    """

    items: tuple[T, ...]
    cursor: str | None = None
    total: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """The result of a change: the value, its id in the journal, and for a dry run the effect.

    `replayed` says that the idempotency key was known: nothing was done again, `value` is what was recorded.
    """

    value: T
    change_id: int | None = None
    effect: Effect | None = None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The state of the index: files by state, and those that could not be read with the reason.

    `awaiting_vectors` is the number of passages that can be found by their words, and by their meaning only later.
    """

    counts: dict[str, int] = field(default_factory=dict[str, int])
    problems: tuple[dict[str, str], ...] = ()
    awaiting_vectors: int = 0

    @property
    def summary(self) -> dict[str, int]:
        """Return how many files are pending, indexing, indexed, failed, or skipped, which is every other state."""
        names = {"pending": "pending", "indexing": "indexing", "ready": "indexed", "failed": "failed"}
        summary = dict.fromkeys((*names.values(), "skipped"), 0)
        for state, count in self.counts.items():
            summary[names.get(state, "skipped")] += count
        return summary

    @property
    def unfinished(self) -> int:
        """Return how many files wait to be read, or are being read."""
        return sum(self.counts.get(state, 0) for state in ("pending", "indexing"))
