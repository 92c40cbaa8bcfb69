"""All that is in a folder, page by page."""

from collections.abc import Generator, Sequence
from typing import Final

from graph.offline.conversation import Item
from graph.offline.references import Ref
from graph.offline.replay import Request, call
from graph.offline.resolve import resolve_folder
from graph.offline.results import Result
from graph.offline.task import Task

PAGE: Final = 40
MOST_PAGES: Final = 3

Contents = Generator[Sequence[Request], Sequence[Result], tuple[list[Item], int]]


def contents_of(task: Task, ref: Ref) -> Contents:
    """Return the items that an "everything in ..." means, and how many more there are than could be listed."""
    folder = yield from resolve_folder(task, ref.inside)
    items: list[Item] = []
    cursor: str | None = None
    total = 0
    for _ in range(MOST_PAGES):
        page = yield from call("list_folder", folder_id=folder["id"], limit=PAGE, cursor=cursor)
        items += page.entries("items")
        total = max(total, page.number("total"), len(items))
        cursor = page.cursor or None
        if not cursor:
            break
    wanted = [item for item in items if _fits(item, ref.extension)]
    return wanted, total - len(items) if cursor else 0


def _fits(item: Item, extension: str) -> bool:
    if not extension:
        return True
    return item.get("kind") == "file" and str(item.get("name", "")).lower().endswith(extension)
