"""All that is in a folder, page by page."""

from collections.abc import Generator, Sequence
from typing import Final

from graph.offline.reading.conversation import Item
from graph.offline.reading.results import Result
from graph.offline.replay import Request, call
from graph.offline.scripts.resolve import resolve_folder
from graph.offline.task import Task
from graph.offline.understanding.references import Ref

PAGE: Final = 30
MOST_PAGES: Final = 3
"""What is listed stays in the conversation until it is acted on, so it must not be too much."""

Contents = Generator[Sequence[Request], Sequence[Result], tuple[list[Item], int]]


def contents_of(task: Task, ref: Ref) -> Contents:
    """Return the items that an "everything in ..." means, and how many more there are than could be listed."""
    folder = yield from resolve_folder(task, ref.inside)
    pages = [page for page in _listed(task) if not page.left_out]
    if len(pages) == len(_listed(task)):
        pages = yield from _pages(str(folder["id"]))
    items = [item for page in pages for item in page.items]
    return [item for item in items if _fits(item, ref.extension)], _more(pages)


def _pages(folder_id: str) -> Generator[Sequence[Request], Sequence[Result], list[Result]]:
    pages: list[Result] = []
    cursor: str | None = None
    while len(pages) < MOST_PAGES and (cursor or not pages):
        page = yield from call("list_folder", folder_id=folder_id, limit=PAGE, cursor=cursor)
        pages.append(page)
        cursor = page.cursor or None
    return pages


def left_over(task: Task) -> int:
    """Return how many items the pages that this step listed did not hold."""
    return _more([page for page in _listed(task) if not page.left_out])


def _listed(task: Task) -> list[Result]:
    return [made.result for made in task.conversation.running if made.name == "list_folder" and made.result]


def _more(pages: Sequence[Result]) -> int:
    listed = sum(len(page.items) for page in pages)
    return max(0, max((page.number("total") for page in pages), default=0) - listed)


def _fits(item: Item, extension: str) -> bool:
    if not extension:
        return True
    return item.get("kind") == "file" and str(item.get("name", "")).lower().endswith(extension)
