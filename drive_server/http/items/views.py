"""Items as the routes answer with them: with the star that the caller has put on them."""

from collections.abc import Sequence
from typing import Any

from fastapi import Response
from pydantic import BaseModel
from sqlalchemy import Connection

from drive_server.drive import Drive
from drive_server.http.items.writes import reply
from drive_server.kernel.access import Actor
from drive_server.models.base import Page
from drive_server.models.changes import Outcome
from drive_server.models.items import Item
from drive_server.services.documents.thumbnails import may_have_thumbnail
from drive_server.services.files.stars import starred_sync


class ItemView(Item):
    """A file or folder as the caller sees it; `role` is the caller's, `owner` an email, `starred` the caller's mark.

    `has_thumbnail`: it is of a kind that has one, unless it is damaged.
    """

    starred: bool
    has_thumbnail: bool


class ItemPage(BaseModel):
    """A page of items. `cursor` is null at the end; `total` counts the whole list where that is known."""

    items: list[ItemView]
    cursor: str | None
    total: int | None


async def views_of(drive: Drive, actor: Actor, items: Sequence[Item]) -> list[ItemView]:
    """Return the items with the caller's stars, by one query for all."""
    return _views(items, await drive.stars.among(actor, [item.id for item in items]))


def views_of_sync(connection: Connection, actor: Actor, items: Sequence[Item]) -> list[ItemView]:
    """Return the items as `views_of` does, in a transaction that is under way."""
    return _views(items, starred_sync(connection, actor, [item.id for item in items]))


def _views(items: Sequence[Item], starred: frozenset[str]) -> list[ItemView]:
    return [ItemView(**fields) for fields in _fields(items, starred)]


def _fields(items: Sequence[Item], starred: frozenset[str]) -> list[dict[str, Any]]:
    return [
        # Not `dict(item)`, which takes longer than making the view does.
        {**item.__dict__, "starred": item.id in starred, "has_thumbnail": has_thumbnail(item)}
        for item in items
    ]


def has_thumbnail(item: Item) -> bool:
    """Return whether the item is a file of a kind that has thumbnails."""
    return item.kind == "file" and may_have_thumbnail(item.name, item.media_type, item.size)


async def view_of(drive: Drive, actor: Actor, item: Item) -> ItemView:
    """Return the item with the caller's star."""
    return (await views_of(drive, actor, [item]))[0]


async def page_of(drive: Drive, actor: Actor, page: Page[Item]) -> ItemPage:
    """Return the page as it is on the wire."""
    return _page(page, await drive.stars.among(actor, [item.id for item in page.items]))


def page_of_sync(connection: Connection, actor: Actor, page: Page[Item]) -> ItemPage:
    """Return the page as `page_of` does, in a transaction that is under way."""
    return _page(page, starred_sync(connection, actor, [item.id for item in page.items]))


def _page(page: Page[Item], starred: frozenset[str]) -> ItemPage:
    # Made at once: a hundred views made one by one take twice as long.
    return ItemPage.model_validate({"items": _fields(page.items, starred), "cursor": page.cursor, "total": page.total})


async def reply_item(response: Response, drive: Drive, actor: Actor, outcome: Outcome[Item]) -> ItemView:
    """Return the item that a change is of as the answer, whose headers name the change."""
    return await view_of(drive, actor, reply(response, outcome))


async def reply_new(response: Response, drive: Drive, actor: Actor, outcome: Outcome[Item]) -> ItemView:
    """Return an item that the change made, as `reply_item` does: nobody has put a star on it yet."""
    if outcome.replayed or outcome.change_id is None:
        return await reply_item(response, drive, actor, outcome)
    return _views([reply(response, outcome)], frozenset())[0]
