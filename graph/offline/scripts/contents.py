"""All that is in a folder, page by page."""

from collections.abc import Generator, Sequence
from typing import Final

from graph.offline.reading.conversation import Item
from graph.offline.reading.results import Result
from graph.offline.replay import Request, call
from graph.offline.scripts.resolve import resolve_folder
from graph.offline.task import Task
from graph.offline.understanding.references import Ref

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
        items += page.items
        total = max(total, page.number("total"), len(items))
        cursor = page.cursor or None
        if not cursor:
            break
    wanted = [item for item in items if _fits(item, ref.extension)]
    return wanted, total - len(items) if cursor else 0


def left_over(task: Task) -> int:
    """Return how many items the pages that this step listed did not hold."""
    pages = [made.result for made in task.conversation.running if made.name == "list_folder" and made.result]
    if not pages or not pages[-1].cursor:
        return 0
    return max(0, pages[-1].number("total") - sum(len(page.items) for page in pages))


def _fits(item: Item, extension: str) -> bool:
    if not extension:
        return True
    return item.get("kind") == "file" and str(item.get("name", "")).lower().endswith(extension)
