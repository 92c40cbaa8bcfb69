"""Items of the tree, and the results of actions on them, one or many at once."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, ConfigDict, Field

from drive_server.models.base import Model

Kind = Literal["file", "folder"]
OnConflict = Literal["fail", "rename", "replace"]
"""The action if the name is taken: refuse, take the next free name, or replace the item that is there."""
IndexState = Literal["pending", "indexing", "ready", "unsupported", "needs_password", "needs_ocr", "failed"]


def _date_of_change(values: dict[str, Any]) -> datetime:
    return values["updated_at"]


def _require_all(schema: dict[str, Any]) -> None:
    """Mark all fields as required in the schema. Only items from old journal entries lack some of them."""
    schema["required"] = list(schema["properties"])


class Item(Model):
    """A file or folder as the caller sees it; `role` is the caller's, `owner` an email."""

    # `path` starts with `/` at the root that the caller sees; `etag` changes with every change of the item itself;
    # `version` counts contents from 1. It and `size` are 0 for folders. `updated_at` is when the drive last changed the
    # item; `modified_at` is the date of its content, as whoever sent it gave it, else when it came into the drive.

    model_config = ConfigDict(json_schema_extra=_require_all)

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
    # The journal's results of before own dates have none: it is that of the change.
    modified_at: Annotated[datetime, Field(default_factory=_date_of_change)]
    trashed_at: datetime | None
    child_count: int | None
    index_state: IndexState | None
    shared: bool


class TreeNode(Model):
    """An item with the items below it; `truncated` says that not all of its children are listed."""

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
    """The items of an import in their order, and the parts of them not restored: `source_id`, `what`, `reason`.

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
